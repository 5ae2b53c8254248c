#if Recorders
#if canImport(CryptoKit)
import CryptoKit
#else
import CLibCrypto
#endif
import Foundation
import NIOCore
import NIOPosix
import NIOWebSocket

/// A server that answers every upgrade with the same frames, in one write.
final class FrameServer: Sendable {
    private let channel: any Channel
    let port: Int

    private init(_ channel: any Channel) {
        self.channel = channel
        port = channel.localAddress?.port ?? 0
    }

    static func start(_ messages: [String]) async throws -> FrameServer {
        let frames = encoded(messages)
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(UpgradeHandler(frames))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return FrameServer(channel)
    }

    func stop() async throws {
        try await channel.close()
    }

    private static func encoded(_ messages: [String]) -> ByteBuffer {
        var buffer = ByteBuffer()
        for message in messages {
            let count = message.utf8.count
            buffer.writeInteger(UInt8(0x81))
            if count < 126 {
                buffer.writeInteger(UInt8(count))
            } else {
                buffer.writeInteger(UInt8(126))
                buffer.writeInteger(UInt16(count))
            }
            buffer.writeString(message)
        }
        return buffer
    }
}

private final class UpgradeHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let frames: ByteBuffer
    private var request = ""

    init(_ frames: ByteBuffer) {
        self.frames = frames
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !request.hasSuffix("\r\n\r\n") else { return }
        request += String(buffer: Self.unwrapInboundIn(data))
        guard request.hasSuffix("\r\n\r\n") else { return }
        let field = request.components(separatedBy: "\r\n").first {
            $0.lowercased().hasPrefix("sec-websocket-key:")
        }
        context.channel.write(Handshake.answer(to: String((field ?? "").dropFirst(18))), promise: nil)
        context.channel.writeAndFlush(frames, promise: nil)
    }
}

/// A client that reads frames and drops them.
enum FrameReader {
    /// Returns when so many frames have come.
    ///
    /// - Parameter first: what is sent behind the upgrade.
    static func discard(_ count: Int, port: Int, saying first: [UInt8] = []) async throws {
        let (ended, continuation) = AsyncStream<Void>.makeStream()
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(HeadDropper())
                    try pipeline.addHandler(ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: 16 << 20)))
                    try pipeline.addHandler(FrameCounter(count) { continuation.finish() })
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        let request =
            "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        try await channel.writeAndFlush(ByteBuffer(bytes: Array(request.utf8) + first))
        for await _ in ended {}
        try await channel.close()
    }
}

/// Drops the answer to the upgrade.
private final class HeadDropper: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private var head: [UInt8]? = []

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard var seen = head else { return context.fireChannelRead(data) }
        var buffer = Self.unwrapInboundIn(data)
        while let byte: UInt8 = buffer.readInteger() {
            seen.append(byte)
            guard seen.suffix(4) == [13, 10, 13, 10] else { continue }
            head = nil
            return context.fireChannelRead(Self.wrapInboundOut(buffer))
        }
        head = seen
    }
}

private final class FrameCounter: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame

    private var left: Int
    private let onEnd: @Sendable () -> Void

    init(_ count: Int, onEnd: @escaping @Sendable () -> Void) {
        left = count
        self.onEnd = onEnd
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        left -= 1
        if left == 0 { onEnd() }
    }
}

/// The WebSocket handshake of a server (RFC 6455, section 4.2.2).
enum Handshake {
    /// The answer to a request with this key, white space around it included.
    static func answer(to key: String) -> ByteBuffer {
        let key = key.trimmingCharacters(in: .whitespaces)
        let hash = sha1(Array("\(key)258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8))
        return ByteBuffer(
            string: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Accept: \(Data(hash).base64EncodedString())\r\n\r\n"
        )
    }
}

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
