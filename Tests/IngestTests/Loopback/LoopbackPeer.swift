#if Recorders
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// The server's end of one WebSocket.
final class LoopbackPeer: Sendable {
    enum Frame: Equatable, Sendable {
        case message(String)
        case ping, pong
        case close(UInt16?)
    }

    let request: LoopbackServer.Request
    /// What the client sends, in order; ends with the connection.
    let frames: AsyncStream<Frame>
    fileprivate let continuation: AsyncStream<Frame>.Continuation
    let channel: any Channel
    fileprivate let activity: Activity?

    init(channel: any Channel, request: LoopbackServer.Request, activity: Activity? = nil) {
        self.channel = channel
        self.request = request
        self.activity = activity
        (frames, continuation) = AsyncStream.makeStream()
    }

    func send(_ text: String) {
        write(.text, ByteBuffer(string: text))
    }

    /// Sends a message and returns when the socket has taken it, or is gone.
    func sendAndWait(_ text: String) async {
        let frame = WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(string: text))
        try? await channel.writeAndFlush(frame)
    }

    func write(_ opcode: WebSocketOpcode, _ data: ByteBuffer = ByteBuffer(), fin: Bool = true) {
        if opcode == .text { activity?.note(sent: Array(data.readableBytesView)) }
        channel.writeAndFlush(WebSocketFrame(fin: fin, opcode: opcode, data: data), promise: nil)
    }

    func close(_ code: UInt16) {
        write(.connectionClose, ByteBuffer(integer: code))
        channel.close(promise: nil)
    }

    /// Ends the connection without a close frame.
    func drop() {
        channel.close(promise: nil)
    }

    /// The next message of the client, passing over control frames; `nil` at the end.
    func nextMessage(_ iterator: inout AsyncStream<Frame>.Iterator) async -> String? {
        while let frame = await iterator.next() {
            if case .message(let text) = frame { return text }
        }
        return nil
    }
}

/// Hands the frames of a client to its peer, and answers nothing by itself.
final class LoopbackFrameHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame

    private let peer: LoopbackPeer

    init(peer: LoopbackPeer) {
        self.peer = peer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = Self.unwrapInboundIn(data)
        var payload = frame.unmaskedData
        switch frame.opcode {
        case .text, .binary:
            // What is held is never answered: the server has gone silent.
            if peer.activity?.happened() == nil { peer.continuation.yield(.message(String(buffer: payload))) }
        case .ping: peer.continuation.yield(.ping)
        case .pong: peer.continuation.yield(.pong)
        case .connectionClose:
            peer.continuation.yield(.close(payload.readInteger(as: UInt16.self)))
            let echo = WebSocketFrame(fin: true, opcode: .connectionClose, data: frame.unmaskedData)
            context.channel.writeAndFlush(echo).whenComplete { [channel = context.channel] _ in
                channel.close(promise: nil)
            }
        default: break
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        peer.continuation.finish()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
#endif
