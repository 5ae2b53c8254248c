#if Recorders
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The metrics of a running `logtool record`, asked for as Prometheus does.
@Suite(.hangGuard) struct MetricsEndpointTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: folder.path("files"), withIntermediateDirectories: false)
        try Data("{}".utf8).write(to: URL(filePath: folder.path("files/vibestatus-a.json")))
    }

    @Test func aRunningRecorderGivesItsMetricsAsPrometheusReadsThem() async throws {
        let text = """
            metrics: 127.0.0.1:0
            logs: [{path: L, sources: [{kind: status, address: files, patterns: ["vibestatus-*.json"], as: vs}]}]
            """
        try Data(text.utf8).write(to: URL(filePath: folder.path("c.yaml")))
        let errors = Pipe()
        let process = try start(errors)
        defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
        let port = try #require(readPort(errors.fileHandleForReading))
        var metrics = try await get("/metrics", port)
        while process.isRunning, !metrics.text.contains(#"eventlog_recorded_events_total{source="vs"}"#) {
            metrics = try await get("/metrics", port)
        }
        #expect(metrics.status == 200)
        #expect(metrics.type == "text/plain; version=0.0.4; charset=utf-8")
        let lines = metrics.text.split(separator: "\n")
        #expect(lines.contains("# TYPE eventlog_recorded_events_total counter"))
        #expect(lines.contains("# TYPE eventlog_append_seconds summary"))
        #expect(lines.contains { $0.hasPrefix(#"eventlog_append_seconds_count{source="vs"} "#) })
        for line in lines where !line.hasPrefix("#") {
            #expect(line.split(separator: " ").last.flatMap { Double($0) } != nil, "\(line)")
        }
        #expect(try await get("/", port).status == 404)
        #expect(try await get("/metrics?x=1", port).status == 200)
        kill(process.processIdentifier, SIGTERM)
        process.waitUntilExit()
        #expect(process.terminationStatus == 143)
        await #expect(throws: (any Error).self) { _ = try await get("/metrics", port) }
    }

    private func start(_ errors: Pipe) throws -> Process {
        let process = Process()
        process.executableURL = try ToolRun.executable
        process.arguments = ["record", "--config", "c.yaml"]
        process.currentDirectoryURL = folder.url
        process.environment = ["PATH": "/usr/bin:/bin"]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = errors
        try process.run()
        return process
    }

    /// The port that the system chose, read as soon as the program says so; `nil` where it ends without.
    private func readPort(_ errors: FileHandle) -> Int? {
        var text = ""
        while case let piece = errors.availableData, !piece.isEmpty {
            text += String(decoding: piece, as: UTF8.self)
            for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
                guard line.contains("giving metrics"), let place = line.range(of: "port=") else { continue }
                return Int(line[place.upperBound...].prefix { $0.isNumber })
            }
        }
        return nil
    }

    private func get(_ path: String, _ port: Int) async throws -> (status: Int, type: String?, text: String) {
        let url = try #require(URL(string: "http://127.0.0.1:\(port)\(path)"))
        let (data, response) = try await URLSession.shared.data(from: url)
        let answer = try #require(response as? HTTPURLResponse)
        return (
            answer.statusCode, answer.value(forHTTPHeaderField: "Content-Type"), String(decoding: data, as: UTF8.self)
        )
    }
}
#endif
