#if Recorders
import EventLog
import NIOCore
import NIOWebSocket

/// Joins the fragments of messages (RFC 6455, section 5.4). Keeps only the length and hash of a message that is too
/// large, so memory is bounded by one message and one frame.
struct WebSocketAssembler {
    /// A violation of the rules of fragmentation.
    enum Fault: Error, Equatable {
        case continuationWithoutStart, startWithinMessage
    }

    /// The largest message, in bytes, that is kept whole (I3).
    static let messageBytesMax = EnvelopeLimits.payloadBytesMax

    private let messageBytesMax: Int
    /// A message whose last fragment has not come.
    private var partial: KeptContent?

    init(messageBytesMax: Int = Self.messageBytesMax) {
        self.messageBytesMax = messageBytesMax
    }

    /// True if a data frame is a message by itself and small enough to keep. Nearly all are, and need no copy here.
    func isWhole(_ frame: WebSocketFrame) -> Bool {
        frame.fin && frame.opcode != .continuation && partial == nil && frame.length <= messageBytesMax
    }

    /// Takes a data frame; returns the message that it completes, if any. After a fault the connection must be failed:
    /// the rest of the stream has no meaning.
    mutating func push(_ frame: WebSocketFrame) throws(Fault) -> KeptContent.Result? {
        var current = try begin(frame.opcode)
        frame.unmaskedData.withUnsafeReadableBytes { current.append($0) }
        guard frame.fin else {
            partial = current
            return nil
        }
        partial = nil
        return current.result
    }

    private func begin(_ opcode: WebSocketOpcode) throws(Fault) -> KeptContent {
        if opcode == .continuation {
            guard let partial else { throw .continuationWithoutStart }
            return partial
        }
        guard partial == nil else { throw .startWithinMessage }
        return KeptContent(bytesMax: messageBytesMax)
    }
}
#endif
