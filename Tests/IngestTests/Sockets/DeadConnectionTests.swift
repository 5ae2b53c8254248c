#if Recorders
import EventLog
import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import Testing

@testable import Ingest

/// Connections that are gone though their sockets do not say so, and those that a server ends for a frame's size.
@Suite(.hangGuard) struct DeadConnectionTests {
    private static let ready = #"{"op":0,"d":{"session_id":"s","user_id":"7","guilds":[]},"s":1,"t":"READY"}"#

    private func source(_ port: Int, _ bench: RecorderBench) throws -> GatewaySource {
        try GatewaySource(
            url: "ws://127.0.0.1:\(port)/gateway",
            token: TokenSource { "tok-1" },
            name: bench.source,
            follows: true
        )
    }

    /// A gateway without REST routes: HELLO, READY, and then what a closure does.
    private func gateway(
        interval: Int = 3_600_000,
        _ body: @escaping @Sendable (LoopbackPeer) async -> Void
    ) async throws -> LoopbackServer {
        try await LoopbackServer.start { peer in
            peer.send(#"{"op":10,"d":{"heartbeat_interval":\#(interval)}}"#)
            var frames = peer.frames.makeAsyncIterator()
            guard await peer.nextMessage(&frames) != nil else { return }
            peer.send(Self.ready)
            await body(peer)
        }
    }

    @Test func aServerThatFallsSilentIsLeftAndMissedFromItsLastFrameOn() async throws {
        let server = try await gateway(interval: 20_000) { peer in
            // The connection stays open, and nobody reads from it.
            for await _ in peer.frames {}
        }
        let bench = try RecorderBench()
        try await bench.record(source(server.port, bench)) {
            try await bench.wait { $0.contains { $0.key == "c2/open" } }
        }
        let events = try bench.events()
        let gap = try #require(events.first { $0.text.contains(#""reason":"disconnected""#) })
        let last = try #require(events.last { $0.attribute("connection") == "c1" && $0.attribute("dir") == "in" })
        #expect(gap.text.contains(#""from":"\#(last.envelope.recordedAt)""#))
        #expect(events.contains { $0.key == "c1/close" })
        await server.stop()
    }

    @Test func closeCode1009IsRecordedAndAGap() async throws {
        let fake = try await FakeRetrocast.start()
        let bench = try RecorderBench()
        try await bench.record(source(fake.port, bench)) {
            try await bench.wait { $0.contains { $0.key.hasSuffix("/closed") } }
            let id = fake.post("before")
            try await bench.wait { $0.contains { $0.text.contains("\(id)") } }
            fake.state.withLock { state in
                for connection in state.connections.values { connection.peer.close(1009) }
            }
            try await bench.wait { $0.count { $0.key.hasSuffix("/closed") } == 2 }
        }
        let events = try bench.events()
        #expect(events.contains { $0.key == "c1/close" && $0.attribute("code") == "1009" })
        #expect(events.contains { $0.key == "c2/open" })
        #expect(events.contains { $0.attribute("gap") == "open" && $0.text.contains(#""reason":"disconnected""#) })
        await fake.stop()
    }

    @Test func aFrameThatIsTooLargeToReadEndsTheConnectionWith1009AndTheGapStaysOpen() async throws {
        let server = try await RawServer.start { accept in
            var bytes = ByteBuffer(
                string: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    + "Sec-WebSocket-Accept: \(accept)\r\n\r\n"
            )
            // A text frame of 2^40 bytes, of which only the head comes.
            bytes.writeBytes([0x81, 127, 0, 0, 1, 0, 0, 0, 0, 0])
            return bytes
        }
        let bench = try RecorderBench()
        try await bench.record(source(server.port, bench)) {
            try await bench.wait { $0.contains { $0.key == "c2/open" } }
        }
        let events = try bench.events()
        let close = try #require(events.first { $0.key == "c1/close" })
        #expect(close.attribute("code") == "1009" && close.attribute("reason") == "frame too large")
        #expect(events.hasOpenGap)
        await server.stop()
    }

    @Test func anAnswerThatNeverComesIsGivenUp() async throws {
        let held = Gate()
        let server = try await LoopbackServer.start(
            http: { _ in
                // The connection stays open.
                await held.pass()
                return .init()
            },
            webSocket: { _ in }
        )
        let http = try HTTPAccess(readTimeout: .milliseconds(50))
        let error = await #expect(throws: HTTPTrouble.self) {
            _ = try await http.ask(.init(url: "http://127.0.0.1:\(server.port)/"))
        }
        #expect(error?.description == "the answer did not come in time")
        held.open()
        try await http.shutdown()
        await server.stop()
    }

    /// An idle event stream is silent, so only the system can find that its other end is gone: within a minute.
    @Test func deadSocketsAreLookedForWithinAMinute() async throws {
        let server = try await LoopbackServer.start { _ in }
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { KeepAlive.set(on: $0) }
            .connect(host: "127.0.0.1", port: server.port).get()
        for (option, value) in KeepAlive.options {
            // Only the low half of the value is the system's.
            #expect(try await channel.getOption(option).get() & 0xFFFF_FFFF == value)
        }
        let seconds = KeepAlive.options.dropFirst().map(\.value)
        #expect(seconds[0] + seconds[1] * seconds[2] <= 60)
        try await channel.close()
        await server.stop()
    }
}
#endif
