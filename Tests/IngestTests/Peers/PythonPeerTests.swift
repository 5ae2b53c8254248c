#if Recorders
import EventLog
import TestSupport
import Testing

@testable import Ingest

/// Recorders against WebSocket servers that other people wrote.
@Suite(.hangGuard) struct PythonPeerTests {
    @Test(.enabled(if: PythonPeer.hasWebSockets, "it needs python3-websockets 14"))
    func aGatewayOfAnotherProgramIsRecordedAndResumed() async throws {
        let peer = try PythonPeer("gateway_peer.py", ["200"])
        let bench = try RecorderBench()
        let source = try GatewaySource(
            url: "ws://127.0.0.1:\(peer.port)/?v=10&encoding=json",
            intents: 513,
            token: TokenSource { "tok-1" },
            name: bench.source,
            follows: true
        )
        try await bench.record(source) {
            try await bench.wait { $0.contains { $0.text.contains("RESUMED") } }
            try await bench.wait { $0.contains { $0.text.contains("disconnected") && $0.key.hasSuffix("/closed") } }
        }
        let events = try bench.events()
        for place in 0..<200 {
            #expect(events.contains { $0.text.contains(#""content": "grün \#(place)""#) }, "message \(place)")
        }
        #expect(events.contains { $0.key == "c1/close" && $0.attribute("code") == "4000" })
        #expect(events.contains { $0.text.contains(#""reason":"disconnected","#) && $0.text.contains("replay") })
        #expect(events.contains { $0.text.contains(#""intents":513,"properties""#) && !$0.text.contains("tok-1") })
        peer.stop()
    }

    @Test(.enabled(if: PythonPeer.hasWebSockets, "it needs python3-websockets 14"))
    func aPhoenixServerOfAnotherProgramIsRecordedAndJoinedAgain() async throws {
        let peer = try PythonPeer("realtime_peer.py", ["100"])
        let bench = try RecorderBench()
        let source = try RealtimeSource(
            url: "ws://127.0.0.1:\(peer.port)/realtime/v1/websocket?vsn=2.0.0",
            restBase: "",
            tables: ["notes"],
            token: TokenSource { "tok-1" },
            name: bench.source,
            follows: true
        )
        try await bench.record(source) {
            try await bench.wait { $0.contains { $0.text.contains("2-99") } }
        }
        let events = try bench.events()
        for place in 0..<100 {
            #expect(events.contains { $0.text.contains("\"1-\(place)\"") }, "row \(place) of the first connection")
            #expect(events.contains { $0.text.contains("\"2-\(place)\"") }, "row \(place) of the second connection")
        }
        #expect(events.hasOpenGap)
        #expect(events.contains { $0.text.contains(#""reason":"disconnected""#) && $0.text.contains("nothing") })
        peer.stop()
    }
}
#endif
