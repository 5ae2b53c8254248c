#if Recorders
import EventLog
import Foundation
import TestSupport
import Testing

/// `proxy` between uvicorn and a client of Python's own library.
@Suite(.hangGuard, .enabled(if: PythonPeer.isInstalled("uvicorn"), "it needs the package uvicorn of Python"))
struct ProxyStreamTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    @Test func aStreamOfUvicornIsRecorded() async throws {
        try await record("plain", ending: "\n\n")
    }

    @Test(.enabled(if: PythonPeer.isInstalled("sse_starlette"), "it needs the package sse-starlette of Python"))
    func aStreamOfStarletteIsRecorded() async throws {
        try await record("sse-starlette", ending: "\r\n\r\n")
    }

    /// The client gets the bytes that the server sends without a proxy, and the log holds each event of them. A client that
    /// goes has the server's stream ended, and no gap in the log.
    private func record(_ how: String, ending: String) async throws {
        let peer = try PythonPeer("stream_peer.py", ["serve", how])
        defer { peer.stop() }
        let proxy = try await ProxyTool.start(
            ["proxy", "L", "--to", "http://127.0.0.1:\(peer.port)", "--listen", "127.0.0.1:0"],
            in: folder
        )
        try ProxyTool.run("stream_peer.py", ["take", String(peer.port), folder.path("sent")])
        try ProxyTool.run("stream_peer.py", ["take", String(proxy.port), folder.path("passed")])
        try ProxyTool.run("stream_peer.py", ["leave", String(proxy.port)])
        let summary = proxy.tool.end(SIGTERM)
        #expect(summary.exitCode == 143, "\(summary.errors)")
        let sent = try Data(contentsOf: URL(filePath: folder.path("sent")))
        #expect(try Data(contentsOf: URL(filePath: folder.path("passed"))) == sent)
        let events = try self.events()
        let whole = events.filter { $0.path == "/events" }.map(\.payload)
        #expect(whole.count == 53)
        #expect(whole.allSatisfy { $0.suffix(ending.utf8.count) == Data(ending.utf8) })
        #expect(Data(whole.joined()) == sent)
        let endless = events.filter { $0.path == "/endless" }.map(\.payload)
        #expect(endless.count >= 3 && endless[..<3].elementsEqual(whole[..<3]))
        let links = try ToolRun.run(["events", "L", "--kind", "recorder.link"], in: folder).output
        #expect(links.contains("closed by the server") && links.contains("closed by the client"), "\(links)")
    }

    private func events() throws -> [(path: String?, payload: Data)] {
        let store = try EventStore.open(at: folder.path("L"))
        var events: [(path: String?, payload: Data)] = []
        try store.read { session in
            try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                guard event.kind.rawValue == "sse.event/1" else { return true }
                events.append((event.attributes["path"], event.withPayload { Data($0) }))
                return true
            }
        }
        return events
    }
}
#endif
