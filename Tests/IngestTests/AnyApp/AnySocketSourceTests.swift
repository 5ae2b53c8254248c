#if Recorders
import EventLog
import Foundation
import NIOCore
import NIOWebSocket
import Synchronization
import TestSupport
import Testing

@testable import Ingest

/// Recording the WebSocket of any app.
@Suite(.hangGuard) struct AnySocketSourceTests {
    private func source(
        _ server: LoopbackServer,
        _ bench: RecorderBench,
        path: String = "/live?room=1&token=query-secret-2",
        greetings: [String] = [],
        subprotocol: String? = nil,
        token: TokenSource? = nil,
        follows: Bool = true
    ) throws -> AnySocketSource {
        try AnySocketSource(
            url: "ws://127.0.0.1:\(server.port)\(path)",
            greetings: greetings,
            subprotocol: subprotocol,
            token: token,
            name: bench.source,
            follows: follows
        )
    }

    /// Text, binary and fragments are events of their bytes, in both directions; a run without `follows` ends with the
    /// connection.
    @Test func everyMessageIsRecordedAsItCame() async throws {
        let binary: [UInt8] = [0, 1, 0xFF, 0xFE]
        let server = try await LoopbackServer.start { peer in
            var frames = peer.frames.makeAsyncIterator()
            _ = await peer.nextMessage(&frames)
            _ = await peer.nextMessage(&frames)
            peer.send(#"{"say":"grün 🌱"}"#)
            peer.write(.binary, ByteBuffer(bytes: binary))
            peer.write(.text, ByteBuffer(string: "one "), fin: false)
            peer.write(.continuation, ByteBuffer(string: "two"))
            peer.send("no JSON")
            peer.close(1012)
        }
        let bench = try RecorderBench()
        let greetings = [#"{"join":"r1"}"#, "second"]
        let summary = try await bench.start(source(server, bench, greetings: greetings, follows: false)).value
        let events = try bench.events().filter { $0.kind == "ws.frame/1" }
        #expect(
            events.map(\.payload) == [
                Array(greetings[0].utf8), Array("second".utf8), Array(#"{"say":"grün 🌱"}"#.utf8), binary,
                Array("one two".utf8), Array("no JSON".utf8),
            ]
        )
        #expect(events.map { $0.attribute("dir") } == ["out", "out", "in", "in", "in", "in"])
        #expect(Set(events.map { $0.attribute("path") }) == ["/live?room=1&token=[redacted]"])
        #expect(Set(events.map { $0.attribute("connection") }) == ["c1"])
        #expect(try bench.events().contains { $0.key == "c1/close" && $0.attribute("code") == "1012" })
        #expect(summary.appended == UInt64(try bench.events().count))
        #expect(try !bench.logHolds("query-secret-2"))
        await server.stop()
    }

    /// Nobody knows what a server of any app repeats: each interruption is a gap that nothing closes but the next connection.
    @Test func anInterruptionIsAGapThatNothingFills() async throws {
        let count = Mutex(0)
        let server = try await LoopbackServer.start { peer in
            let number = count.withLock { count in
                count += 1
                return count
            }
            peer.send("connection \(number)")
            if number < 3 { peer.close(1001) }
            var frames = peer.frames.makeAsyncIterator()
            while await peer.nextMessage(&frames) != nil {}
        }
        let bench = try RecorderBench()
        try await bench.record(source(server, bench)) {
            try await bench.wait { $0.contains { $0.text == "connection 3" } && !$0.hasOpenGap }
        }
        let gaps = try bench.events().filter { $0.kind == "recorder.gap/1" }
        #expect(gaps.map { $0.attribute("gap") } == ["open", "close", "open", "close", "open"])
        #expect(gaps.allSatisfy { $0.text.contains(#""closes":"nothing""#) })
        #expect(gaps.map { $0.text.contains("disconnected") } == [true, true, true, true, false])
        // The next run closes what the end of this one opened.
        try await bench.record(source(server, bench)) {
            try await bench.wait { $0.contains { $0.text == "connection 4" } && !$0.hasOpenGap }
        }
        await server.stop()
    }

    @Test func aTokenIsAHeaderOrWhereATextHasIt() async throws {
        let seen = Mutex<[(header: String?, protocols: String?, text: String)]>([])
        let server = try await LoopbackServer.start { peer in
            var frames = peer.frames.makeAsyncIterator()
            let text = await peer.nextMessage(&frames) ?? ""
            let headers = peer.request.headers
            seen.withLock { $0.append((headers["authorization"], headers["sec-websocket-protocol"], text)) }
            // A server that says the token again.
            peer.send(#"{"welcome":"\#("live-token-1")"}"#)
            peer.close(1000)
        }
        let bench = try RecorderBench()
        let token = TokenSource { "live-token-1" }
        for greeting in ["hello", #"{"auth":"{token}"}"#] {
            _ = try await bench.start(
                source(server, bench, greetings: [greeting], subprotocol: "chat.v1", token: token, follows: false)
            ).value
        }
        let told = seen.withLock { $0 }
        #expect(told.map(\.header) == ["Bearer live-token-1", nil])
        #expect(told.map(\.text) == ["hello", #"{"auth":"live-token-1"}"#])
        #expect(told.map(\.protocols) == ["chat.v1", "chat.v1"])
        #expect(try !bench.logHolds("live-token-1"))
        #expect(try bench.events().contains { $0.text == #"{"welcome":"[redacted]"}"# })
        await server.stop()
    }

    @Test func aServerThatRefusesIsWaitedForAndTold() async throws {
        let count = Mutex(0)
        let server = try await LoopbackServer.start(
            refuse: { _ in
                count.withLock { count in
                    count += 1
                    return count < 3 ? LoopbackServer.Answer(status: 503, headers: [("Retry-After", "2")]) : nil
                }
            }
        ) { peer in
            peer.send("here")
            var frames = peer.frames.makeAsyncIterator()
            while await peer.nextMessage(&frames) != nil {}
        }
        let bench = try RecorderBench()
        try await bench.record(source(server, bench)) {
            try await bench.wait { $0.contains { $0.text == "here" } && !$0.hasOpenGap }
        }
        let events = try bench.events()
        #expect(events.count { $0.kind == "recorder.http/1" } == 1)
        #expect(events.contains { $0.text.contains("unreachable") })
        // A run that does not follow gives up at once.
        count.withLock { $0 = 0 }
        await #expect(throws: IngestError.self) {
            _ = try await bench.start(source(server, bench, follows: false)).value
        }
        await server.stop()
    }

    @Test(arguments: ["a b", "", "é", "x\r\ny"]) func aSubprotocolThatIsNoTokenIsRefused(name: String) throws {
        #expect(throws: IngestError.self) {
            try AnySocketSource(url: "ws://h/", subprotocol: name, name: SourceName("s"), follows: true)
        }
    }
}
#endif
