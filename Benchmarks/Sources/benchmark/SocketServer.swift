#if Recorders
import Foundation
import NIOCore
import NIOPosix

/// A WebSocket server that does what the path asks: `/flood/N` sends N frames as fast as the socket takes them, `/echo` sends each
/// frame back, anything else stays silent.
final class SocketServer: Sendable {
    /// The bytes of each frame's text, about those of a chat message.
    static let textBytes = 300

    private let channel: any Channel
    let port: Int

    private init(_ channel: any Channel) {
        self.channel = channel
        port = channel.localAddress?.port ?? 0
    }

    static func start() async throws -> SocketServer {
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.backlog, value: 1_024)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 256 << 10, high: 1 << 20))
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(SocketServerHandler())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return SocketServer(channel)
    }

    func stop() async throws {
        try await channel.close()
    }

    /// A text frame that is not masked. `textBytes` is more than 125, so its header has four bytes.
    static func frame(_ text: [UInt8]) -> [UInt8] {
        [0x81, 126, UInt8(text.count >> 8), UInt8(text.count & 0xFF)] + text
    }

    /// A chat message of `textBytes`.
    static func text(_ number: Int) -> [UInt8] {
        let start =
            #"{"op":"message","channel":"general","id":"\#(153_833_649_995_911_168 + number)","author":"nell","#
            + #""createdAt":"2026-03-01T12:00:00.25Z","content":""#
        let rest = textBytes - start.utf8.count - 2
        let words = Array(String(repeating: "tea at 4 ", count: rest / 9 + 1).utf8)
        return Array(start.utf8) + words.prefix(rest) + Array(#""}"#.utf8)
    }
}

private final class SocketServerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Frames that are written at once.
    private static let chunkFrames = 200
    private static let chunk = ByteBuffer(
        bytes: (0..<chunkFrames).flatMap { SocketServer.frame(SocketServer.text($0)) }
    )

    private var request: [UInt8]? = []
    private var left = 0
    private var isSending = false
    private var echoes = false
    private var unread = ByteBuffer()

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var buffer = Self.unwrapInboundIn(data)
        guard var request else {
            if echoes { echo(&buffer, context) }
            return
        }
        request += buffer.readableBytesView
        self.request = request
        guard request.suffix(4) == [13, 10, 13, 10] else { return }
        self.request = nil
        let lines = String(decoding: request, as: UTF8.self).components(separatedBy: "\r\n")
        let key = lines.first { $0.lowercased().hasPrefix("sec-websocket-key:") }?.dropFirst(18)
        context.writeAndFlush(Self.wrapOutboundOut(Handshake.answer(to: String(key ?? ""))), promise: nil)
        let path = (lines.first ?? "").split(separator: " ").dropFirst().first ?? ""
        echoes = path == "/echo"
        if path.hasPrefix("/flood/") { left = Int(path.dropFirst(7)) ?? 0 }
        send(context)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        send(context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func send(_ context: ChannelHandlerContext) {
        guard !isSending else { return }
        isSending = true
        defer { isSending = false }
        while left > 0, context.channel.isWritable {
            let count = min(left, Self.chunkFrames)
            left -= count
            let bytes = count * (SocketServer.textBytes + 4)
            guard let chunk = Self.chunk.getSlice(at: Self.chunk.readerIndex, length: bytes) else { return }
            context.writeAndFlush(Self.wrapOutboundOut(chunk), promise: nil)
        }
    }

    /// Sends frames of `textBytes` back that are masked by zeros.
    private func echo(_ buffer: inout ByteBuffer, _ context: ChannelHandlerContext) {
        unread.writeBuffer(&buffer)
        while unread.readableBytes >= SocketServer.textBytes + 8 {
            unread.moveReaderIndex(forwardBy: 8)
            let text = unread.readBytes(length: SocketServer.textBytes) ?? []
            context.write(Self.wrapOutboundOut(ByteBuffer(bytes: SocketServer.frame(text))), promise: nil)
        }
        unread.discardReadBytes()
        context.flush()
    }
}
#endif
