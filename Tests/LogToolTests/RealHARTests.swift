import Foundation
import TestSupport
import Testing

@testable import logtool

/// HARs of programs that nobody here wrote: kept ones, and fresh ones where the programs are installed.
@Suite struct RealHARTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    /// What the peer's server sends and gets on its WebSocket, in `Fixtures/peers/har_peer.py`.
    private static let frameCount = 9

    @Test(arguments: ["chromium", "mitmproxy"])
    func keptExportsBecomeFramesAnswersAndEvents(name: String) throws {
        try FileManager.default.copyItem(
            at: PackageRoot.url.appending(path: "Fixtures/har/\(name).har"),
            to: folder.url.appending(path: "real.har")
        )
        try check(name)
    }

    @Test(
        .enabled(if: program("mitmdump", variable: "EVENTLOG_MITMDUMP") != nil, "EVENTLOG_MITMDUMP names the program"),
        .enabled(if: hasPeer, "it needs python3-websockets")
    )
    func mitmproxyWritesWhatTheServerSent() throws {
        let mitmdump = try #require(Self.program("mitmdump", variable: "EVENTLOG_MITMDUMP"))
        try makeHAR("mitmproxy", with: mitmdump)
        try check("mitmproxy")
        try compareWithServer()
    }

    @Test(
        .enabled(if: program("chromium", variable: "EVENTLOG_CHROMIUM") != nil, "EVENTLOG_CHROMIUM names the program"),
        .enabled(if: hasPeer, "it needs python3-websockets")
    )
    func chromiumsDeveloperToolsWriteWhatTheServerSent() throws {
        let chromium = try #require(Self.program("chromium", variable: "EVENTLOG_CHROMIUM"))
        try makeHAR("chromium", with: chromium)
        try check("chromium")
        try compareWithServer()
    }

    /// A chat that nobody has described, served by Python's `websockets` to a page in Chromium: the HAR alone gives threads.
    @Test(
        .enabled(if: program("chromium", variable: "EVENTLOG_CHROMIUM") != nil, "EVENTLOG_CHROMIUM names the program"),
        .enabled(if: hasPeer, "it needs python3-websockets")
    )
    func aChatInChromiumBecomesThreads() throws {
        let chromium = try #require(Self.program("chromium", variable: "EVENTLOG_CHROMIUM"))
        try makeHAR("chat", with: chromium)
        try checkChat()
        try compareWithServer(kind: "ws")
    }

    @Test func aKeptExportOfAChatBecomesThreads() throws {
        try FileManager.default.copyItem(
            at: PackageRoot.url.appending(path: "Fixtures/har/chat.har"),
            to: folder.url.appending(path: "real.har")
        )
        try checkChat()
    }

    private func checkChat() throws {
        #expect(try ToolRun.run(["ingest", "G", "har", "real.har", "--as", "chat"], in: folder).exitCode == 0)
        #expect(count("ws.frame/1", in: try events("G")) == 9)
        let infer = ["decoder", "infer", "real.har", "--site", "127.0.0.1", "-o", "chat.decoder.yaml"]
        let proposed = try ToolRun.run(infer, in: folder)
        #expect(proposed.exitCode == 0, "\(proposed.errors)")
        let set = try ToolRun.run(["decoder", "G", "set", "chat", "chat.decoder.yaml"], in: folder)
        #expect(set.exitCode == 0, "\(set.errors)")
        let shown = try ToolRun.run(["replay", "G", "--tail", "9"], in: folder).output
        #expect(shown.contains("└─ ada: Thanks, on my way."))
        #expect(shown.contains("   └─ bo: They are in your drawer now."))
        #expect(shown.contains("cy: Lunch at one?"))
        #expect(shown.contains("× bo: I do, until noon.  (deleted)"))
        #expect(!shown.contains("issues"))
        let all = try ToolRun.run(["export", "G"], in: folder).output
        for secret in ["query-secret-2", "frame-secret-3"] { #expect(!all.contains(secret)) }
    }

    private static func program(_ name: String, variable: String) -> String? {
        let environment = ProcessInfo.processInfo.environment
        let folders = (environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }
        return ([environment[variable] ?? ""] + folders).first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    private static let hasPeer = PythonPeer.isInstalled("websockets.legacy")

    /// Runs the peer.
    private func makeHAR(_ how: String, with program: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        let script = PackageRoot.url.appending(path: "Fixtures/peers/har_peer.py").path
        process.arguments = [script, how, program, folder.path("real.har"), folder.path("real.ndjson")]
        try Data().write(to: URL(filePath: folder.path("errors")))
        let errors = try FileHandle(forWritingTo: URL(filePath: folder.path("errors")))
        (process.standardOutput, process.standardError) = (errors, errors)
        try process.run()
        process.waitUntilExit()
        let told = String(decoding: try Data(contentsOf: URL(filePath: folder.path("errors"))), as: UTF8.self)
        try #require(process.terminationStatus == 0, "\(told.suffix(600))")
    }

    private func events(_ log: String) throws -> [[String: Any]] {
        let run = try ToolRun.run(["events", log, "--jsonl", "--payload"], in: folder)
        return try run.output.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    private func count(_ kind: String, in events: [[String: Any]]) -> Int {
        events.count { $0["kind"] as? String == kind }
    }

    private func check(_ name: String) throws {
        let gateway = try ToolRun.run(
            ["ingest", "G", "har", "real.har", "--kind", "gateway", "--as", "chat"],
            in: folder
        )
        #expect(gateway.exitCode == 0, "\(gateway.errors)")
        let frames = try events("G")
        #expect(count("gateway.frame/1", in: frames) == Self.frameCount)
        #expect(count("gateway.rest/1", in: frames) == 2)
        let state = try ToolRun.run(["replay", "G", "--json"], in: folder).output
        #expect(state.contains("grün 🌿"))
        #expect(state.contains(#""content":"two\nlines""#))
        #expect(state.contains(#""issues":[]"#))
        let stream = try ToolRun.run(["ingest", "S", "har", "real.har", "--kind", "sse", "--as", "work"], in: folder)
        #expect(stream.exitCode == 0, "\(stream.errors)")
        // A browser does not tell of an event without data.
        #expect(count("sse.event/1", in: try events("S")) == (name == "chromium" ? 2 : 3))
        let items = try ToolRun.run(["replay", "S", "--json"], in: folder).output
        #expect(items.contains("Grüße kaufen"))
        #expect(items.contains(#""done":true"#))
        let all = try ["G", "S"].map { try ToolRun.run(["export", $0], in: folder).output }.joined()
        for secret in ["header-secret-1", "query-secret-2", "frame-secret-3"] { #expect(!all.contains(secret)) }
        #expect(
            try ToolRun.run(["ingest", "G", "har", "real.har", "--kind", "gateway", "--as", "chat"], in: folder).output
                .hasPrefix("appended 0 events")
        )
    }

    /// The frames of the HAR are those of the server's own list, byte for byte and in order.
    private func compareWithServer(kind: String = "gateway") throws {
        let run = try ToolRun.run(["ingest", "C", "capture", "real.ndjson", "--kind", kind], in: folder)
        #expect(run.exitCode == 0, "\(run.errors)")
        let lists = try ["C", "G"].map { log in
            try events(log).filter { $0["kind"] as? String == "\(kind).frame/1" }.map { event in
                let direction = (event["attributes"] as? [String: Any])?["dir"] as? String
                return "\(direction ?? "") \(event["payload"] ?? event["payloadBase64"] ?? "")"
            }
        }
        #expect(lists[0].count == Self.frameCount)
        #expect(lists[0] == lists[1])
    }
}
