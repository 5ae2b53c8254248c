#if Recorders
import EventLog
import NIOCore
import NIOWebSocket

/// Joins the fragments of messages (RFC 6455, section 5.4). Keeps only the length and hash of a message that is too
/// large, so memory is bounded by one message and one frame.
struct WebSocketAssembler {
    /// One whole message.
    enum Message: Equatable {
        case whole([UInt8])
        case oversize(length: Int, hash: Hash256)
    }

    /// A violation of the rules of fragmentation.
    enum Fault: Error, Equatable {
        case continuationWithoutStart, startWithinMessage
    }

    /// The largest message, in bytes, that is kept whole (I3).
    static let messageBytesMax = EnvelopeLimits.payloadBytesMax

    /// A message whose last fragment has not come.
    private struct Partial {
        /// Empty once `hasher` is set.
        var bytes: [UInt8] = []
        /// The length of all fragments so far, in bytes.
        var length = 0
        /// Set once the message is too large to keep.
        var hasher: Hasher256?
    }

    private let messageBytesMax: Int
    private var partial: Partial?

    init(messageBytesMax: Int = Self.messageBytesMax) {
        self.messageBytesMax = messageBytesMax
    }

    /// True if a data frame is a message by itself and small enough to keep. Nearly all are, and need no copy here.
    func isWhole(_ frame: WebSocketFrame) -> Bool {
        frame.fin && frame.opcode != .continuation && partial == nil && frame.length <= messageBytesMax
    }

    /// Takes a data frame; returns the message that it completes, if any. After a fault the connection must be failed:
    /// the rest of the stream has no meaning.
    mutating func push(_ frame: WebSocketFrame) throws(Fault) -> Message? {
        var current = try begin(frame.opcode)
        append(frame.unmaskedData, to: &current)
        guard frame.fin else {
            partial = current
            return nil
        }
        partial = nil
        guard let hasher = current.hasher else { return .whole(current.bytes) }
        return .oversize(length: current.length, hash: hasher.finalize())
    }

    private func begin(_ opcode: WebSocketOpcode) throws(Fault) -> Partial {
        if opcode == .continuation {
            guard let partial else { throw .continuationWithoutStart }
            return partial
        }
        guard partial == nil else { throw .startWithinMessage }
        return Partial()
    }

    private func append(_ data: ByteBuffer, to current: inout Partial) {
        current.length += data.readableBytes
        // Too large from here on: hashes what was kept, and frees it.
        if current.hasher == nil, current.length > messageBytesMax {
            var hasher = Hasher256()
            hasher.update(current.bytes)
            current.hasher = hasher
            current.bytes = []
        }
        data.withUnsafeReadableBytes { bytes in
            if current.hasher != nil {
                current.hasher?.update(bytes)
            } else {
                current.bytes.append(contentsOf: bytes)
            }
        }
        assert(current.hasher != nil || current.bytes.count == current.length, "a message to keep is kept whole")
    }
}
#endif
