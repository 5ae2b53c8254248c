#if Recorders
import EventLog
import NIOCore
import NIOWebSocket

/// The last handler of a WebSocket's pipeline: turns frames into events, answers pings and closes, and stops reading
/// while the consumer is behind. Used on its event loop only.
///
/// Events are handed over once per read. `closed` is the last one, and comes exactly once, also if the handler is
/// removed without an end.
final class WebSocketHandler: ChannelDuplexHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private let deliver: WebSocketConnection.Delivery
    private let now: @Sendable () -> Timestamp
    private var assembler = WebSocketAssembler()
    /// The events of the current read, in order; `messages` follow them.
    private var events: [WebSocketEvent] = []
    /// The messages that came after the last of `events`.
    private var messages = MessageRun()
    /// The size of `events` and `messages`, as the consumer counts it.
    private var eventBytes = 0
    /// When the current read arrived; all its frames share this time.
    private var readTime: Timestamp?
    /// True from a delivery that returned false until `resume`.
    private var isPaused = false
    /// True if NIO wanted to read while paused; `resume` makes up for it.
    private var wantsRead = false
    /// Why the connection ends, set by the first side to end it; nothing overwrites it.
    private var closure: WebSocketClosure?
    /// True once `closed` was delivered; frames that still come are dropped.
    private var hasEnded = false

    init(deliver: @escaping WebSocketConnection.Delivery, now: @escaping @Sendable () -> Timestamp) {
        self.deliver = deliver
        self.now = now
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasEnded else { return }
        let frame = Self.unwrapInboundIn(data)
        // Without a negotiated extension the reserved bits must be zero, and a server must not mask (RFC 6455, sections
        // 5.1 and 5.2).
        guard !frame.rsv1, !frame.rsv2, !frame.rsv3, frame.maskKey == nil else {
            return fail(context: context, .protocolError, "protocol error")
        }
        switch frame.opcode {
        case .text, .binary, .continuation: takeData(frame, context: context)
        case .ping: reply(.pong, frame.unmaskedData, context: context)
        case .pong: add(.pong(receivedAt: receivedAt()))
        case .connectionClose: takeClose(frame.unmaskedData, context: context)
        default: fail(context: context, .protocolError, "protocol error")
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        handOver()
        readTime = nil
        context.fireChannelReadComplete()
    }

    /// Holds the read back while the consumer is behind: without a read no more bytes come in.
    func read(context: ChannelHandlerContext) {
        if isPaused {
            wantsRead = true
        } else {
            context.read()
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end()
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // NIO's decoder reports a frame above `maxFrameSize` by this error.
        if case NIOWebSocketError.invalidFrameLength = error {
            fail(context: context, .messageTooLarge, "frame too large")
        } else if error is NIOWebSocketError {
            fail(context: context, .protocolError, "protocol error")
        } else {
            closure = closure ?? .lost
            context.close(promise: nil)
        }
    }
}

extension WebSocketHandler {
    /// Continues to read once the consumer has taken what waited. Call it on the event loop.
    func resume(context: ChannelHandlerContext) {
        isPaused = false
        guard wantsRead else { return }
        wantsRead = false
        context.read()
    }

    /// Sends a close frame and waits for the peer's, at most `closeTimeout`.
    func close(_ code: UInt16, context: ChannelHandlerContext) {
        guard closure == nil, context.channel.isActive else {
            context.close(promise: nil)
            return
        }
        closure = WebSocketClosure(code: code, reason: "closed by us")
        var data = context.channel.allocator.buffer(capacity: 2)
        data.writeInteger(code)
        reply(.connectionClose, data, context: context)
        closeSoon(context: context)
    }

    /// Takes a data frame. A whole message, the usual case, is copied once, from the channel's buffer into `messages`.
    private func takeData(_ frame: WebSocketFrame, context: ChannelHandlerContext) {
        if assembler.isWhole(frame) { return frame.unmaskedData.withUnsafeReadableBytes { add($0) } }
        do throws(WebSocketAssembler.Fault) {
            switch try assembler.push(frame) {
            case .whole(let bytes): bytes.withUnsafeBytes { add($0) }
            case .oversize(let length, let hash): add(.oversize(length: length, hash: hash, receivedAt: receivedAt()))
            case nil: break
            }
        } catch {
            fail(context: context, .protocolError, "protocol error")
        }
    }

    /// Answers with the same code (RFC 6455, section 5.5.1), and closes the socket if the server does not within
    /// `closeTimeout`.
    private func takeClose(_ data: ByteBuffer, context: ChannelHandlerContext) {
        var rest = data
        let code = rest.readInteger(as: UInt16.self)
        if closure == nil {
            closure = WebSocketClosure(code: code ?? 1005, reason: "closed by the peer")
            var echo = context.channel.allocator.buffer(capacity: 2)
            if let code { echo.writeInteger(code) }
            reply(.connectionClose, echo, context: context)
            closeSoon(context: context)
        } else {
            context.close(promise: nil)
        }
        end()
    }

    /// Ends the connection with a close frame of our own. Nothing that the server sends afterwards counts.
    private func fail(context: ChannelHandlerContext, _ code: WebSocketErrorCode, _ reason: String) {
        guard closure == nil else { return }
        var data = context.channel.allocator.buffer(capacity: 2)
        data.write(webSocketErrorCode: code)
        closure = WebSocketClosure(code: UInt16(webSocketErrorCode: code), reason: reason)
        reply(.connectionClose, data, context: context)
        end()
        closeSoon(context: context)
    }

    /// Closes the socket after `closeTimeout`; does no harm if it is closed by then. It keeps the channel, not the
    /// context, which may be gone.
    private func closeSoon(context: ChannelHandlerContext) {
        let channel = context.channel
        context.eventLoop.scheduleTask(in: Self.closeTimeout) { channel.close(promise: nil) }
    }

    /// Sends a control frame. Called on the event loop.
    private func reply(_ opcode: WebSocketOpcode, _ data: ByteBuffer, context: ChannelHandlerContext) {
        let frame = WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data)
        context.writeAndFlush(Self.wrapOutboundOut(frame), promise: nil)
    }

    private func add(_ message: UnsafeRawBufferPointer) {
        assert(!hasEnded, "no message follows the end")
        messages.append(message)
        eventBytes += message.count + Self.eventBytes
    }

    private func add(_ event: WebSocketEvent) {
        addMessages()
        events.append(event)
        eventBytes += Self.eventBytes
    }

    private func addMessages() {
        guard !messages.isEmpty else { return }
        events.append(.messages(messages, receivedAt: receivedAt()))
        messages = MessageRun()
    }

    /// The time of the current read. The clock is read once per read, not once per frame.
    private func receivedAt() -> Timestamp {
        let time = readTime ?? now()
        readTime = time
        return time
    }

    /// Delivers everything that was read, and pauses if the consumer is behind.
    private func handOver() {
        addMessages()
        guard !events.isEmpty else { return }
        if !deliver(events, eventBytes) { isPaused = true }
        events = []
        eventBytes = 0
    }

    /// Delivers `closed`, once, behind everything that came before it.
    private func end() {
        guard !hasEnded else { return }
        hasEnded = true
        add(.closed(closure ?? .lost, receivedAt: now()))
        handOver()
    }

    /// The longest wait for the peer's part of the closing handshake.
    private static let closeTimeout = TimeAmount.seconds(3)
    /// The weight of an event beside its bytes, so that many empty messages and pongs fill the inbox, too.
    private static let eventBytes = 64
}
#endif
