#if Recorders
#if canImport(CryptoKit)
import CryptoKit
#else
import CLibCrypto
#endif
import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// A server that answers an upgrade with bytes of a test's choice, in one write.
final class RawServer: Sendable {
    private let channel: any Channel
    private let requests: AsyncStream<Void>
    let port: Int

    private init(channel: any Channel, requests: AsyncStream<Void>) {
        self.channel = channel
        self.requests = requests
        port = channel.localAddress?.port ?? 0
    }

    /// - Parameter answer: makes the bytes, given the right `Sec-WebSocket-Accept`.
    static func start(
        _ answer: @escaping @Sendable (String) -> ByteBuffer,
        after: @escaping @Sendable (any Channel) -> Void = { _ in }
    ) async throws -> RawServer {
        let (requests, continuation) = AsyncStream<Void>.makeStream()
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = RawHandler(answer: answer, after: after, seen: { continuation.yield() })
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return RawServer(channel: channel, requests: requests)
    }

    func waitForRequest() async {
        for await _ in requests { return }
    }

    func stop() async {
        try? await channel.close()
    }
}

private final class RawHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let answer: @Sendable (String) -> ByteBuffer
    private let after: @Sendable (any Channel) -> Void
    private let seen: @Sendable () -> Void
    private var request = ""

    init(
        answer: @escaping @Sendable (String) -> ByteBuffer,
        after: @escaping @Sendable (any Channel) -> Void,
        seen: @escaping @Sendable () -> Void
    ) {
        self.answer = answer
        self.after = after
        self.seen = seen
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        request += String(buffer: Self.unwrapInboundIn(data))
        guard request.contains("\r\n\r\n") else { return }
        let key = request.components(separatedBy: "\r\n").first { $0.lowercased().hasPrefix("sec-websocket-key:") }
        let text =
            (key?.dropFirst(18).trimmingCharacters(in: .whitespaces) ?? "") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        let accept = Data(sha1(Array(text.utf8))).base64EncodedString()
        seen()
        let channel = context.channel
        let after = after
        channel.writeAndFlush(answer(accept)).whenComplete { _ in after(channel) }
    }
}

/// Counts across tasks.
final class Counter: Sendable {
    private let value = Mutex(0)

    var count: Int { value.withLock { $0 } }

    func add() {
        value.withLock { $0 += 1 }
    }

    /// Returns once the count, having come so far, has not changed for a while: for what should stop by itself.
    func waitUntilStill(from least: Int = 0) async throws {
        var last = -1
        while last != count || count < least {
            last = count
            try await Task.sleep(for: .milliseconds(200))
        }
    }
}

/// The hash that the WebSocket handshake asks for (RFC 6455, section 4.2.2).
private func sha1(_ bytes: [UInt8]) -> [UInt8] {
    #if canImport(CryptoKit)
    Array(Insecure.SHA1.hash(data: bytes))
    #else
    [UInt8](unsafeUninitializedCapacity: Int(SHA_DIGEST_LENGTH)) { digest, count in
        SHA1(bytes, bytes.count, digest.baseAddress)
        count = Int(SHA_DIGEST_LENGTH)
    }
    #endif
}
#endif
