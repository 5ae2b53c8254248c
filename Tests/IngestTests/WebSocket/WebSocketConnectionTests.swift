#if Recorders
import EventLog
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import NIOWebSocket
import TestSupport
import Testing

@testable import Ingest

@Suite(.hangGuard) struct WebSocketConnectionTests {
    @Test func aFirstFrameInOnePieceWithTheAnswerIsNotLost() async throws {
        let server = try await LoopbackServer.start { peer in
            for await _ in peer.frames {}
        }
        // A server of the test's own: the answer and the first frame in one write.
        let raw = try await RawServer.start { accept in
            var bytes = ByteBuffer(
                string: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    + "Sec-WebSocket-Accept: \(accept)\r\n\r\n"
            )
            bytes.writeBytes([0x81, 0x02] + Array("hi".utf8))
            return bytes
        }
        let connection = try await open("ws://127.0.0.1:\(raw.port)/")
        #expect(try await texts(connection, 1) == ["hi"])
        await connection.socket.abort()
        await raw.stop()
        await server.stop()
    }

    @Test func messagesComeWholeInOrderAndFragmentsAreJoined() async throws {
        let server = try await LoopbackServer.start { peer in
            peer.send("one")
            peer.write(.text, ByteBuffer(string: "tw"), fin: false)
            peer.write(.ping, ByteBuffer(string: "x"))
            peer.write(.continuation, ByteBuffer(), fin: false)
            peer.write(.continuation, ByteBuffer(string: "o"))
            peer.send("")
            for await frame in peer.frames where frame == .pong { peer.send("ponged") }
        }
        let connection = try await open("ws://127.0.0.1:\(server.port)/x?y=1")
        #expect(try await texts(connection, 4) == ["one", "two", "", "ponged"])
        await connection.socket.abort()
        await server.stop()
    }

    @Test(arguments: [1000, 4004, 3999] as [UInt16]) func theCodeOfAClosingIsTold(code: UInt16) async throws {
        let server = try await LoopbackServer.start { peer in
            peer.send("a")
            peer.close(code)
        }
        let connection = try await open("ws://127.0.0.1:\(server.port)/")
        #expect(try await closure(connection).code == code)
        await server.stop()
    }

    /// Answer, messages, close frame and end arrive in one piece.
    @Test func whatComesWithTheAnswerIsNotLostWhereTheServerClosesAtOnce() async throws {
        let server = try await RawServer.start(
            { accept in
                var bytes = ByteBuffer(
                    string: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        + "Sec-WebSocket-Accept: \(accept)\r\n\r\n"
                )
                bytes.writeBytes([0x81, 1, 0x61, 0x81, 1, 0x62, 0x88, 2, 0x0F, 0xA9])
                return bytes
            },
            after: { $0.close(promise: nil) }
        )
        for _ in 0..<20 {
            let connection = try await open("ws://127.0.0.1:\(server.port)/")
            var events: [WebSocketEvent] = []
            while let taken = await connection.inbox.take() {
                events += taken
                if case .closed = events.last { break }
            }
            #expect(events.flatMap(\.texts) == ["a", "b"])
            guard case .closed(WebSocketClosure(code: 4009, reason: "closed by the peer"), _) = events.last else {
                Issue.record("the last event is \(String(describing: events.last))")
                return
            }
        }
        await server.stop()
    }

    /// No extension was asked for: compressed (RSV1), otherwise reserved, or masked by a server.
    @Test(arguments: [
        [0xC1, 2, 0x68, 0x69], [0xA1, 2, 0x68, 0x69], [0x91, 2, 0x68, 0x69], [0x81, 0x82, 0, 0, 0, 0, 1, 2],
    ])
    func aFrameThatNobodyAskedForFailsTheConnection(_ frame: [UInt8]) async throws {
        let server = try await RawServer.start { accept in
            var bytes = ByteBuffer(
                string: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    + "Sec-WebSocket-Accept: \(accept)\r\n\r\n"
            )
            bytes.writeBytes([0x81, 1, 0x61] + frame + [0x81, 1, 0x62])
            return bytes
        }
        let connection = try await open("ws://127.0.0.1:\(server.port)/")
        var events: [WebSocketEvent] = []
        while let taken = await connection.inbox.take() {
            events += taken
            if case .closed = events.last { break }
        }
        #expect(events.flatMap(\.texts) == ["a"])
        guard case .closed(WebSocketClosure(code: 1002, reason: "protocol error"), _) = events.last else {
            Issue.record("the last event is \(String(describing: events.last))")
            return
        }
        await connection.socket.abort()
        await server.stop()
    }

    @Test func anEndWithoutAClosingIs1006() async throws {
        let server = try await LoopbackServer.start { $0.drop() }
        let connection = try await open("ws://127.0.0.1:\(server.port)/")
        #expect(try await closure(connection) == .lost)
        await server.stop()
    }

    @Test func halfAFrameIsNoMessage() async throws {
        let raw = try await RawServer.start { accept in
            var bytes = ByteBuffer(
                string: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    + "Sec-WebSocket-Accept: \(accept)\r\n\r\n"
            )
            bytes.writeBytes([0x81, 0x05] + Array("hal".utf8))
            return bytes
        } after: {
            $0.close(promise: nil)
        }
        let connection = try await open("ws://127.0.0.1:\(raw.port)/")
        #expect(try await closure(connection) == .lost)
        await raw.stop()
    }

    @Test func ourClosingIsAnsweredAndTold() async throws {
        let server = try await LoopbackServer.start { peer in
            for await _ in peer.frames {}
        }
        let connection = try await open("ws://127.0.0.1:\(server.port)/")
        connection.socket.close(4_000)
        let end = try await closure(connection)
        #expect(end == WebSocketClosure(code: 4_000, reason: "closed by us"))
        await server.stop()
    }

    /// Whatever stands behind the head, and though the end comes with it.
    @Test(arguments: [
        "Content-Length: 0\r\n\r\n", "Content-Length: 4\r\n\r\nbusy", "\r\nbusy", "Content-Length: 400\r\n\r\nbu",
        "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbu",
    ])
    func aRefusalIsToldWhereTheServerClosesAtOnce(rest: String) async throws {
        let server = try await RawServer.start(
            { _ in ByteBuffer(string: "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\n\(rest)") },
            after: { $0.close(promise: nil) }
        )
        for _ in 0..<10 {
            await #expect(throws: WebSocketRefusal.status(429, retryAfterSeconds: 7)) {
                _ = try await open("ws://127.0.0.1:\(server.port)/")
            }
        }
        await server.stop()
    }

    @Test(arguments: [("7", 7), ("9223372036854775807", 3_600), ("-1", nil)] as [(String, Int?)])
    func aRefusalTellsStatusAndWait(stated: String, wait: Int?) async throws {
        let server = try await RawServer.start { _ in
            ByteBuffer(string: "HTTP/1.1 429 Too Many\r\nRetry-After: \(stated)\r\nContent-Length: 0\r\n\r\n")
        }
        await #expect(throws: WebSocketRefusal.status(429, retryAfterSeconds: wait)) {
            _ = try await open("ws://127.0.0.1:\(server.port)/")
        }
        await server.stop()
    }

    @Test func aClosedPortIsNoConnection() async throws {
        let server = try await LoopbackServer.start { _ in }
        await server.stop()
        await #expect(throws: WebSocketRefusal.unreachable("no connection")) {
            _ = try await open("ws://127.0.0.1:\(server.port)/")
        }
    }

    @Test func aServerThatNeverAnswersCanBeCancelled() async throws {
        let raw = try await RawServer.start { _ in ByteBuffer() }
        let opening = Task { _ = try await open("ws://127.0.0.1:\(raw.port)/") }
        await raw.waitForRequest()
        opening.cancel()
        await #expect(throws: CancellationError.self) { try await opening.value }
        await raw.stop()
    }

    @Test(.enabled(if: LoopbackCertificate.isAvailable, "it needs the program openssl"))
    func tlsIsCheckedAgainstTheGivenAuthority() async throws {
        let directory = try TemporaryDirectory()
        let certificate = try LoopbackCertificate(in: directory.url.path)
        let server = try await LoopbackServer.start(tls: try certificate.serverContext) { peer in
            peer.send("secret")
            for await _ in peer.frames {}
        }
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .file(certificate.certificatePath)
        let trust = try NIOSSLContext(configuration: configuration)
        for host in ["127.0.0.1", "localhost"] {
            let connection = try await open("wss://\(host):\(server.port)/", trust: trust)
            #expect(try await texts(connection, 1) == ["secret"])
            await connection.socket.abort()
        }
        await #expect(throws: WebSocketRefusal.unreachable("TLS failed")) {
            _ = try await open("wss://127.0.0.1:\(server.port)/")
        }
        await server.stop()
    }

    @Test func whileNothingIsTakenNothingMoreIsRead() async throws {
        let text = String(repeating: "x", count: 256 << 10)
        let sent = Counter()
        let server = try await LoopbackServer.start { peer in
            for _ in 0..<400 {
                await peer.sendAndWait(text)
                guard peer.channel.isActive else { return }
                sent.add()
            }
            for await _ in peer.frames {}
        }
        let connection = try await open("ws://127.0.0.1:\(server.port)/")
        // 100 MiB are on their way; the inbox and the sockets' buffers hold far less.
        try await sent.waitUntilStill()
        #expect(sent.count < 200)
        var received = 0
        while received < 400, let events = await connection.inbox.take() { received += events.flatMap(\.texts).count }
        #expect(received == 400)
        await connection.socket.abort()
        await server.stop()
    }

    @Test func aMessageOver16MiBIsMeasuredAndHashed() async throws {
        let piece = [UInt8](repeating: 0x61, count: 6 << 20)
        let server = try await LoopbackServer.start { peer in
            peer.write(.text, ByteBuffer(bytes: piece), fin: false)
            peer.write(.continuation, ByteBuffer(bytes: piece), fin: false)
            peer.write(.continuation, ByteBuffer(bytes: piece))
            peer.send("after")
            for await _ in peer.frames {}
        }
        let connection = try await open("ws://127.0.0.1:\(server.port)/")
        var events: [WebSocketEvent] = []
        while events.count < 2, let taken = await connection.inbox.take() { events += taken }
        guard case .oversize(let length, let hash, _) = events.first else {
            Issue.record("the first event is no oversize")
            return
        }
        #expect(length == 18 << 20)
        #expect(hash == Hasher256.hash(piece + piece + piece))
        await connection.socket.abort()
        await server.stop()
    }
}

extension WebSocketConnectionTests {
    private struct Opened: Sendable {
        let socket: WebSocketConnection
        let inbox: Inbox<WebSocketEvent>
    }

    private func open(_ url: String, trust: NIOSSLContext? = nil) async throws -> Opened {
        let connector = WebSocketConnector(
            group: .singletonMultiThreadedEventLoopGroup,
            trust: trust,
            now: { Timestamp(seconds: 1) }
        )
        let inbox = Inbox<WebSocketEvent>(weightMax: WebSocketConnection.waitingBytesMax)
        let endpoint = try WebSocketEndpoint(url, operation: "test")
        let socket = try await connector.open(endpoint) { inbox.push($0, weight: $1) }
        inbox.whenDrained { socket.resume() }
        return Opened(socket: socket, inbox: inbox)
    }

    private func texts(_ connection: Opened, _ count: Int) async throws -> [String] {
        var texts: [String] = []
        while texts.count < count {
            texts += try #require(await connection.inbox.take()).flatMap(\.texts)
        }
        return texts
    }

    private func closure(_ connection: Opened) async throws -> WebSocketClosure {
        while let events = await connection.inbox.take() {
            if case .closed(let closure, _) = events.last { return closure }
        }
        throw CancellationError()
    }
}
#endif
