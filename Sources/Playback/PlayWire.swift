#if Recorders
import NIOCore
import NIOHTTP1
import NIOWebSocket

/// One client's connection: a WebSocket, or the response that is an event stream.
///
/// Safe to use from any thread; NIO runs the writes on the channel's event loop. A message that the system has not
/// taken when the client leaves is lost.
final class PlayWire: Sendable {
    /// Unique among the wires of one server, so that late events of a replaced wire are recognized.
    let number: Int
    /// Path and query of the request, as the client wrote them.
    let target: String
    /// `Last-Event-ID` of the request; `nil` for WebSockets and for a client that names none.
    let lastEventID: String?
    private let channel: any Channel
    /// The pipeline context of NIO's frame encoder, behind which encoded frames are written as bytes; `nil` for an
    /// event stream. Bound to the event loop, because a context may be used only there.
    private let frames: NIOLoopBound<ChannelHandlerContext>?

    init(
        number: Int,
        target: String,
        channel: any Channel,
        frames: ChannelHandlerContext?,
        lastEventID: String? = nil
    ) {
        self.number = number
        self.target = target
        self.channel = channel
        self.lastEventID = lastEventID
        self.frames = frames.map { NIOLoopBound($0, eventLoop: channel.eventLoop) }
    }

    /// How long the client has to close its side before the channel is closed.
    private static let patience = TimeAmount.seconds(1)

    /// Appends a message in the wire's encoding: a WebSocket frame, or the bytes themselves. Many messages so become
    /// one write.
    func encode(_ message: [UInt8], into buffer: inout ByteBuffer) {
        if frames != nil { Self.writeHead(isText: Self.isText(message), count: message.count, into: &buffer) }
        buffer.writeBytes(message)
    }

    /// Sends what `encode` made. The future succeeds when the system has taken it, which is not when the client has it,
    /// and fails if the client has left.
    func write(_ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        guard let frames else { return channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(buffer))) }
        return channel.eventLoop.flatSubmit { frames.value.writeAndFlush(NIOAny(buffer)) }
    }

    /// Ends the connection as the remote did.
    ///
    /// - Parameters:
    ///   - code: the close code of a WebSocket. Codes that RFC 6455, section 7.4, does not allow in a close frame cut
    ///     the connection.
    ///   - isOrderly: whether an event stream ends by its last chunk instead of being cut.
    func close(code: UInt16, isOrderly: Bool) {
        switch (frames, code) {
        case (.some, 1000...1004), (.some, 1007...1014), (.some, 3000...4999):
            // A final frame (FIN) with opcode 8 and a payload of two bytes, the code (RFC 6455, section 5.5.1).
            var buffer = ByteBuffer(bytes: [0x88, 0x02])
            buffer.writeInteger(code)
            _ = write(buffer)
            leaveLater()
        case (nil, _) where isOrderly:
            channel.writeAndFlush(HTTPServerResponsePart.end(nil)).whenComplete { _ in self.end() }
        default: end()
        }
    }

    /// Closes the output side after pending writes, and the channel a moment later: closing both at once would discard
    /// what the client has not read.
    private func end() {
        channel.close(mode: .output, promise: nil)
        leaveLater()
    }

    private func leaveLater() {
        channel.eventLoop.scheduleTask(in: Self.patience) { [channel] in channel.close(promise: nil) }
    }

    /// Closes the channel at once.
    func drop() {
        channel.close(promise: nil)
    }
}

extension PlayWire {
    /// Writes the head of one unfragmented, unmasked frame (RFC 6455, section 5.2).
    private static func writeHead(isText: Bool, count: Int, into buffer: inout ByteBuffer) {
        // FIN with opcode 1 (text) or 2 (binary); a server's frames have no mask. Lengths over 125 follow in 16 or 64
        // bits.
        buffer.writeInteger(isText ? 0x81 : 0x82 as UInt8)
        switch count {
        case ..<126: buffer.writeInteger(UInt8(count))
        case ..<65_536:
            buffer.writeInteger(126 as UInt8)
            buffer.writeInteger(UInt16(count))
        default:
            buffer.writeInteger(127 as UInt8)
            buffer.writeInteger(UInt64(count))
        }
    }

    /// Returns true if the bytes are UTF-8. Most frames are ASCII, which has no byte with the top bit set, so eight
    /// bytes are tested at a time first. `loadUnaligned` stays inside: `words` is the count rounded down to eight.
    private static func isText(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { bytes in
            let words = bytes.count & ~7
            var sum: UInt64 = 0
            for place in stride(from: 0, to: words, by: 8) {
                sum |= bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            }
            for place in words..<bytes.count { sum |= UInt64(bytes[place]) }
            return sum & 0x8080_8080_8080_8080 == 0 || String(validating: bytes, as: UTF8.self) != nil
        }
    }
}

/// Hands a client's messages to the inbox; answers pings and close frames. Fragments are joined before. It runs on its
/// channel's event loop alone.
final class PlayFrameHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private let wire: PlayWire
    private let inbox: PlayInbox
    private var isClosing = false

    init(wire: PlayWire, inbox: PlayInbox) {
        self.wire = wire
        self.inbox = inbox
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var frame = Self.unwrapInboundIn(data)
        switch frame.opcode {
        case .text, .binary:
            let bytes = Array(frame.unmaskedData.readableBytesView)
            // The inbox is full: the client sends faster than the playback takes.
            if !inbox.push(.message(wire: wire.number, bytes)) { context.close(promise: nil) }
        case .ping:
            let pong = WebSocketFrame(fin: true, opcode: .pong, data: frame.unmaskedData)
            context.writeAndFlush(Self.wrapOutboundOut(pong), promise: nil)
        case .connectionClose:
            // RFC 6455, section 5.5.1: a close frame is answered by one with the same code, once.
            guard !isClosing else { return }
            isClosing = true
            let data = frame.unmaskedData
            frame = WebSocketFrame(fin: true, opcode: .connectionClose, data: data)
            let channel = context.channel
            context.writeAndFlush(Self.wrapOutboundOut(frame)).whenComplete { _ in channel.close(promise: nil) }
        default: break
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        inbox.push(.closed(wire: wire.number))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
#endif
