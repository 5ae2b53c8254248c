#if Recorders
import EventLog
import Foundation
import TestSupport
import Testing

/// `proxy` and `observe` between programs that nobody here wrote.
@Suite(
    .hangGuard,
    .enabled(if: PythonPeer.isInstalled("websockets.legacy"), "it needs python3-websockets")
)
struct ProxyCommandTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    /// The log holds each message byte for byte, without its compression and its secrets.
    @Test func whatPassesIsRecorded() async throws {
        let peer = try PythonPeer("proxy_peer.py", ["serve"])
        defer { peer.stop() }
        let proxy = try await start(["proxy", "L", "--to", "http://127.0.0.1:\(peer.port)", "--listen", "127.0.0.1:0"])
        try run("talk", String(proxy.port), folder.path("sent"))
        let summary = proxy.tool.end(SIGTERM)
        #expect(summary.exitCode == 143, "\(summary.errors)")
        let sent = try String(contentsOfFile: folder.path("sent"), encoding: .utf8).split(separator: "\n").map {
            try #require(Data(base64Encoded: String($0)))
        }
        var (out, back): ([Data], [Data]) = ([], [])
        try forEachFrame { direction, payload in
            if direction == "out" { out.append(payload) } else { back.append(payload) }
        }
        let last = Data("[redacted] comes back".utf8)
        #expect(out == sent + [last])
        #expect(back == sent + [last])
        let links = try ToolRun.run(["events", "L", "--kind", "recorder.link"], in: folder).output
        #expect(links.contains("code=1000") && links.contains("path=/live?token=[redacted]"))
    }

    /// A message that expands without end costs little, and passes.
    @Test func aMessageThatExpandsIsNotHeld() async throws {
        let peer = try PythonPeer("proxy_peer.py", ["serve"])
        defer { peer.stop() }
        let proxy = try await start(["proxy", "L", "--to", "http://127.0.0.1:\(peer.port)", "--listen", "127.0.0.1:0"])
        try run("bomb", String(proxy.port))
        // Without the limit the log's own queue would hold the message, and its copies.
        if let peak = proxy.tool.peakMemory { #expect(peak < 160 << 20, "\(peak) bytes") }
        #expect(proxy.tool.end(SIGINT).exitCode == 130)
        let events = try ToolRun.run(["events", "L", "--kind", "recorder.oversize", "--payload"], in: folder).output
        #expect(events.contains("of=ws.frame/1"), "\(events)")
    }

    @Test func observationsAreTakenBesideTheRecorder() async throws {
        let tool = try await start(["observe", "L", "--listen", "127.0.0.1:0"])
        try run("observe", String(tool.port))
        let summary = tool.tool.end(SIGINT)
        #expect(summary.exitCode == 130, "\(summary.errors)")
        let events = try ToolRun.run(["events", "L", "--kind", "client.observed", "--jsonl", "--payload"], in: folder)
            .output
        #expect(events.split(separator: "\n").count == 2)
        #expect(events.contains("r1") && events.contains("r2"))
    }

    @Test(arguments: [
        (["--to", "https://app.example", "--listen", "0.0.0.0:1"], "--allow-remote"),
        (["--to", "https://app.example/api"], "has a path"), (["--to", "app.example"], "URL"),
        (["--to", "https://app.example", "--drop", "0"], "counted from 1"),
        (["--to", "https://app.example", "--half-open"], "--cut-after"),
    ])
    func whatCannotBeServedIsSaid(arguments: [String], reason: String) throws {
        let run = try ToolRun.run(["proxy", "L"] + arguments, in: folder)
        #expect(run.exitCode == 2, "\(run.errors)")
        #expect(run.errors.contains(reason), "\(run.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.path("L")))
    }

    private func start(_ arguments: [String]) async throws -> (tool: ToolProcess, port: Int) {
        try await ProxyTool.start(arguments, in: folder)
    }

    private func run(_ arguments: String...) throws {
        try ProxyTool.run("proxy_peer.py", arguments)
    }

    private func forEachFrame(_ body: (String?, Data) -> Void) throws {
        let store = try EventStore.open(at: folder.path("L"))
        try store.read { session in
            try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                guard event.kind.rawValue == "ws.frame/1" else { return true }
                body(event.attributes["dir"], event.withPayload { Data($0) })
                return true
            }
        }
    }
}
#endif
