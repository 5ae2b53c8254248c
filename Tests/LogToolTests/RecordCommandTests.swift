#if Recorders
import CoreMetrics
import EventLog
import Foundation
import Ingest
import TestSupport
import Testing

@testable import logtool

@Suite struct RecordCommandTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    private func write(_ name: String, _ text: String) throws {
        let url = URL(fileURLWithPath: folder.path(name))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    private func read(_ text: String) throws -> RecordConfiguration {
        try RecordConfiguration(text: text, path: "c.yaml", folder: folder.url)
    }

    private func status(_ directory: String) -> String {
        "{kind: status, address: \(directory), as: \(directory), poll: true, interval: 20ms}"
    }

    @Test func aSourceMayDeclareWhatIsSecret() throws {
        try write("d/x", "")
        let source = { (rules: String) in "logs: [{path: L, sources: [{kind: status, address: d, redact: \(rules)}]}]" }
        let rules = try read(source("[email, /user/phone]")).entries.map(\.settings.redaction)
        #expect(rules == [try RedactionRules(["/user/phone", "E-Mail"])])
        #expect(try read(source("email")).entries.map(\.settings.redaction) == [RedactionRules(["email"])])
        #expect(throws: Failure.self) { try read(source("[/a~]")) }
    }

    @Test func aSourceMayHaveNoRESTRoutes() throws {
        let configuration = try read(
            """
            logs:
              - path: chat.eventlog
                sources:
                  - {kind: gateway, address: "wss://chat.example.org/gateway", token-env: T, rest: none}
                  - {kind: realtime, address: "https://x.example.org", tables: notes, rest: none}
                  - {kind: gateway, address: "wss://chat.example.org/gateway", as: b, token-env: T}
            """
        )
        #expect(configuration.entries.map(\.settings.rest) == ["", "", nil])
    }

    @Test func aFileNamesLogsAndSources() throws {
        try write("d/x", "")
        let configuration = try read(
            """
            metrics: 9464
            logs:
              - path: chat.eventlog
                sources:
                  - {kind: github, address: ada/chat, as: vibe, branch: b, token-env: GH}
                  - {kind: status, address: d, patterns: [a, b], interval: 2s}
              - path: /tmp/other.eventlog
                sources:
                  - {kind: sse, address: "https://h/x?token=1"}
                  - {kind: ws, address: "wss://h/live", as: live, send: ['{"join":"{token}"}'], subprotocol: v1}
                  - {kind: http, address: "https://h/posts", interval: 30s, token-env: GH}
            """
        )
        #expect(configuration.metrics == "9464")
        #expect(configuration.entries.map(\.name) == ["vibe", "status-d", "sse-x", "live", "http-posts"])
        #expect(
            configuration.entries.map(\.log) == [
                folder.path("chat.eventlog"), folder.path("chat.eventlog"), "/tmp/other.eventlog",
                "/tmp/other.eventlog", "/tmp/other.eventlog",
            ]
        )
        #expect(configuration.entries[0].settings.tokenEnvironment == "GH")
        #expect(configuration.entries[1].settings.patterns == ["a", "b"])
        #expect(configuration.entries[3].settings.greetings == [#"{"join":"{token}"}"#])
    }

    @Test(arguments: [
        "", "[]", "a: [", "logs: []", "logs: 1", "logs: [{path: x}]", "logs: [{sources: []}]",
        "logs: [{path: x, sources: [{kind: svn, address: y}]}]", "logs: [{path: x, sources: [{kind: sse}]}]",
        "logs: [{path: x, sources: [{kind: sse, address: nonsense}]}]",
        "logs: [{path: x, sources: [{kind: sse, address: 'http://h', token: abc}]}]",
        "logs: [{path: x, sources: [{kind: sse, address: 'http://h', tokne-env: abc}]}]",
        "logs: [{path: x, sources: [{kind: sse, address: 'http://h/a'}, {kind: sse, address: 'http://g/a'}]}]",
        "logs: [{path: x, sources: [{kind: sse, address: 'http://h', as: logtool}]}]",
        "logs: [{path: x, sources: [{kind: sse, address: 'http://h', interval: soon}]}]",
        "logs: [{path: x, sources: [{kind: ws, address: 'ws://h', decoder: none.yaml}]}]",
        "logs: [{path: x, sources: [{kind: status, address: d, decoder: c.yaml}]}]",
        "logs: [{path: x, sources: [{kind: ws, address: 'ws://h', subprotocol: 'a b'}]}]",
        "logs: [{path: x, compact: weekly, sources: [{kind: sse, address: 'http://h'}]}]",
        "logs: [{path: x, compact: 5s, sources: [{kind: sse, address: 'http://h'}]}]",
    ])
    func aFileThatCannotBeUsedIsRefused(_ text: String) throws {
        try write("c.yaml", text)
        let run = try ToolRun.run(["record", "--config", "c.yaml", "--check"], in: folder)
        #expect(run.exitCode == 2)
        #expect(run.errors.hasPrefix("logtool: "))
        #expect(!run.errors.contains("abc"))
    }

    @Test(arguments: zip([SIGINT, SIGTERM], [Int32(130), 143]))
    func aSignalEndsItWithEverythingDurable(_ signal: Int32, code: Int32) async throws {
        for name in ["one", "two", "three"] { try write("\(name)/vibestatus-a.json", name) }
        try write("c.yaml", "logs: [{path: L, sources: [\(status("one")), \(status("two"))]}]")
        let process = Process()
        process.executableURL = try ToolRun.executable
        process.arguments = ["record", "--config", "c.yaml"]
        process.currentDirectoryURL = folder.url
        process.standardOutput = FileHandle.nullDevice
        try Data().write(to: URL(fileURLWithPath: folder.path("err")))
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.path("err")))
        try process.run()
        try await wait { $0.contains("one") && $0.contains("two") }
        try write("c.yaml", "logs: [{path: L, sources: [\(status("two")), \(status("three"))]}]")
        kill(process.processIdentifier, SIGHUP)
        try await wait { $0.contains("three") }
        try write("c.yaml", "broken: [")
        kill(process.processIdentifier, SIGHUP)
        try write("two/vibestatus-a.json", "two again")
        try await wait { $0.contains("two again") }
        kill(process.processIdentifier, signal)
        while process.isRunning { try await Task.sleep(for: .milliseconds(10)) }
        #expect(process.terminationStatus == code)
        let errors = try String(contentsOfFile: folder.path("err"), encoding: .utf8)
        #expect(errors.contains("kept the old configuration"))
        // The source that stood in both files went on in one connection.
        let links = try events().filter {
            $0.envelope.kind.rawValue == "recorder.link/1" && $0.envelope.source.rawValue == "two"
        }
        #expect(links.map { $0.envelope.key?.rawValue } == ["c1/open", "c1/close"])
        let report = try ToolRun.run(["status", "L", "--json"], in: folder)
        #expect(report.exitCode == 0)
        #expect(report.output.contains(#""connected":false"#))
    }

    @Test func aLogMayBeCompactedAgainAndAgain() throws {
        let source = "sources: [{kind: sse, address: 'http://h/a'}]"
        let upkeeps = try read(
            "logs: [{path: L, compact: daily, \(source)}, {path: M, compact: 90m, seal: 30d, \(source)}]"
        ).upkeeps
        #expect(upkeeps.map(\.work) == [.compact(sealing: nil), .compact(sealing: .seconds(30 * 86_400))])
        for wrong in ["seal: 30d", "compact: daily, seal: old"] {
            #expect(throws: Failure.self) { try read("logs: [{path: L, \(wrong), \(source)}]") }
        }
        #expect(upkeeps.map(\.log) == [folder.path("L"), folder.path("M")])
        #expect(upkeeps.map(\.interval) == [.seconds(86_400), .seconds(5_400)])
        #expect(try read("logs: [{path: L, \(source)}]").upkeeps.isEmpty)
    }

    @Test func aLogMayBeShippedAgainAndAgain() throws {
        let source = "sources: [{kind: sse, address: 'http://h/a'}]"
        let upkeep = try read("logs: [{path: L, ship: {to: T, every: 5s, key: k.pem, origin: a/b}, \(source)}]").upkeeps
        #expect(upkeep.map(\.interval) == [.seconds(5)] && upkeep.first?.shipping?.target == .tree(folder.path("T")))
        for wrong in [
            "{}", "tree", "{to: T, every: 10ms}", "{to: T, keys: x}", "{to: T, replicas: '2'}", "{to: 'nats://'}",
        ] {
            #expect(throws: Failure.self) { try read("logs: [{path: L, ship: \(wrong), \(source)}]") }
        }
        #expect(throws: Failure.self) {
            try read("logs: [{path: L, ship: {to: T}, \(source)}, {path: M, ship: {to: T}, \(source)}]")
        }
    }

    /// Without NATS a stream is refused by name, as soon as the file is read.
    @Test func aLogMayBeShippedToAStream() throws {
        let source = "sources: [{kind: sse, address: 'http://h/a'}]"
        func read(_ ship: String) throws -> [RecordConfiguration.Upkeep] {
            try self.read("logs: [{path: L, ship: {\(ship)}, \(source)}, {path: M, ship: {to: 'nats://h'}, \(source)}]")
                .upkeeps
        }
        let full =
            "to: 'tls://h:4222/s', every: 9s, key: k.pem, origin: a/b, replicas: '3', credentials: c, ca-file: a.pem"
        #if NATS
        let upkeep = try read(full)[0]
        guard case .stream(let access, replicas: 3) = upkeep.shipping?.target else {
            Issue.record("\(upkeep)")
            return
        }
        #expect(access.place == "tls://h:4222/s" && access.credentials == folder.path("c"))
        #expect(access.trustFile == folder.path("a.pem") && upkeep.interval == .seconds(9))
        #expect(upkeep.shipping?.key == folder.path("k.pem") && upkeep.shipping?.origin == "a/b")
        // One server has a stream for each log.
        #expect(try read("to: 'nats://h'").map(\.interval) == [.seconds(5), .seconds(5)])
        for wrong in [
            "to: 'nats://me:s3cret@h'", "to: 'nats://h', replicas: '9'", "to: 'nats://h', token-env: A, credentials: c",
        ] {
            let error = #expect(throws: Failure.self) { try read(wrong) }
            #expect(error.map { "\($0)".contains("s3cret") } == false)
        }
        #else
        let error = #expect(throws: Failure.self) { try read(full) }
        #expect(error.map { "\($0)".contains("logs[0].ship: this program was built without NATS") } == true)
        #endif
    }

    /// What is recorded comes into the tree, and a log that follows the tree has it.
    @Test func aLogIsShippedWhileItIsRecorded() async throws {
        try write("one/vibestatus-a.json", "one")
        try write("c.yaml", "logs: [{path: L, ship: {to: T, every: 1s}, sources: [\(status("one"))]}]")
        let process = Process()
        process.executableURL = try ToolRun.executable
        process.arguments = ["record", "--config", "c.yaml"]
        process.currentDirectoryURL = folder.url
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        try await wait { $0.contains("one") }
        try write("one/vibestatus-a.json", "one again")
        try await wait { $0.contains("one again") }
        func head() throws -> String {
            try EventStore.open(at: folder.path("L")).read {
                "\($0.head) events, root \(try $0.root(size: $0.head.rawValue))"
            }
        }
        while try !ToolRun.run(["pull", "C", "--from", "T"], in: folder).output.contains(head()) {
            try await Task.sleep(for: .milliseconds(50))
        }
        kill(process.processIdentifier, SIGTERM)
        while process.isRunning { try await Task.sleep(for: .milliseconds(10)) }
        #expect(process.terminationStatus == 143)
        #expect(try ToolRun.run(["events", "C", "--payload"], in: folder).output.contains("one again"))
    }

    /// A log that was never compacted is compacted at once, by its own policy, while its sources are recorded.
    @Test func aLogIsCompactedWhileItIsRecorded() async throws {
        try folder.makeLog(messages: 40, isLarge: true)
        #expect(try ToolRun.run(["policy", "L", "set", "--keep", "3"], in: folder).exitCode == 0)
        try write("one/vibestatus-a.json", "one")
        try write("c.yaml", "logs: [{path: L, compact: daily, seal: 1h, sources: [\(status("one"))]}]")
        let process = Process()
        process.executableURL = try ToolRun.executable
        process.arguments = ["record", "--config", "c.yaml"]
        process.currentDirectoryURL = folder.url
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        try await wait { $0.contains("one") && $0.contains { $0.contains("droppedHash") } }
        try write("one/vibestatus-a.json", "one again")
        try await wait { $0.contains("one again") }
        kill(process.processIdentifier, SIGTERM)
        while process.isRunning { try await Task.sleep(for: .milliseconds(10)) }
        #expect(process.terminationStatus == 143)
        let acts = try events().filter { $0.envelope.kind.rawValue == "logtool.compact/1" }
        #expect(acts.count == 1)
        let text = try ToolRun.run(["replay", "L", "--json"], in: folder).output
        let state = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        #expect((state?["messages"] as? [Any])?.count == 3)
        let verified = try ToolRun.run(["verify", "L"], in: folder)
        #expect(verified.exitCode == 0 && verified.output.contains(" sealed"))
    }

    private func events() throws -> [RecordedEvent] {
        guard let store = try? EventStore.open(at: folder.path("L")) else { return [] }
        return try store.read { session in
            var events: [RecordedEvent] = []
            guard session.head > .zero else { return [] }
            try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                events.append(event.copied())
                return true
            }
            return events
        }
    }

    /// Waits for contents of status files.
    private func wait(_ condition: ([String]) -> Bool) async throws {
        for _ in 0..<2_000 {
            let texts = try events().map { String(decoding: $0.payload, as: UTF8.self) }
            if condition(texts) { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("the events did not come")
    }

    @Test func metricsAreWrittenAsPrometheusReadsThem() {
        let registry = MetricsRegistry()
        registry.makeCounter(label: "a_total", dimensions: [("source", "x\"\r\ny")]).increment(by: 3)
        registry.makeTimer(label: "b.seconds", dimensions: []).recordNanoseconds(500_000_000)
        registry.makeRecorder(label: "c", dimensions: [], aggregate: false).record(Int64(2))
        #expect(
            registry.text == """
                # TYPE a_total counter
                a_total{source="x\\"\r\\ny"} 3.0
                # TYPE b_seconds summary
                b_seconds_sum 0.5
                b_seconds_count 1
                # TYPE c gauge
                c 2.0

                """
        )
    }
}
#endif
