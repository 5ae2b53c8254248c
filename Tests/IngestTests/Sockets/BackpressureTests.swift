#if Recorders
import EventLog
import Foundation
import NIOCore
import TestSupport
import Testing

@testable import Ingest

/// A disk that does not keep up slows the server, and memory holds no more than the queues do.
@Suite(.hangGuard) struct BackpressureTests {
    private static let pieceBytes = 1 << 20
    private static let pieces = 200

    @Test func aGatewayIsReadNoFasterThanTheLogIsWritten() async throws {
        let sent = Counter()
        let text = String(repeating: "x", count: Self.pieceBytes)
        let server = try await LoopbackServer.start { peer in
            for _ in 0..<Self.pieces {
                await peer.sendAndWait(text)
                guard peer.channel.isActive else { return }
                sent.add()
            }
            for await _ in peer.frames {}
        }
        // Time stands nearly still, so that the recorder does not give the connection up.
        let bench = try RecorderBench(speed: 0.001)
        let source = try GatewaySource(
            url: "ws://127.0.0.1:\(server.port)/gateway",
            token: TokenSource { "tok-1" },
            name: bench.source,
            follows: true
        )
        let lock = try HeldLock(bench.log.path)
        try await bench.record(source) {
            try await sent.waitUntilStill(from: (16 << 20) / Self.pieceBytes)
            // A batch that is being appended, the queue behind it, what the driver holds, and the sockets' buffers.
            #expect(sent.count < Self.pieces / 2)
            let before = sent.count
            lock.release()
            try await bench.wait { events in events.count { $0.kind == "gateway.frame/1" } >= before / 2 }
        }
        await server.stop()
    }

    @Test func anAnswerThatIsNotReadStopsItsServer() async throws {
        let sent = Counter()
        let piece = [UInt8](repeating: 0x78, count: Self.pieceBytes)
        let server = try await ScriptedServer.start { _ in
            let pieces = AsyncStream<[UInt8]> {
                sent.add()
                return sent.count > Self.pieces ? nil : piece
            }
            return .stream(["Content-Type": "text/event-stream"], pieces)
        }
        let http = try HTTPAccess()
        let stream = try await http.open(.init(url: server.url))
        try await sent.waitUntilStill()
        #expect(sent.count < Self.pieces / 2)
        withExtendedLifetime(stream) {}
        try await http.shutdown()
        await server.stop()
    }
}
#endif
