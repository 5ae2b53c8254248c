#if Recorders
import EventLog

/// Something that came in on a WebSocket.
enum WebSocketEvent: Sendable {
    /// Whole messages that were read together.
    case messages(MessageRun, receivedAt: Timestamp)
    /// A message over 16 MiB; only its length in bytes and the SHA-256 of its content are kept.
    case oversize(length: Int, hash: Hash256, receivedAt: Timestamp)
    /// A Pong frame.
    case pong(receivedAt: Timestamp)
    /// The end; no event follows it.
    case closed(WebSocketClosure, receivedAt: Timestamp)
}

/// Whole messages in one array, text or binary, each as it was sent, with fragments joined. One array for all of them,
/// because thousands of small messages a second would cost as many allocations.
struct MessageRun: Sendable {
    /// The messages, one behind the other.
    private var bytes: [UInt8] = []
    /// The end of each message in `bytes`, ascending.
    private var ends: [Int] = []

    var count: Int { ends.count }

    var isEmpty: Bool { ends.isEmpty }

    /// Adds a message. Cost: a copy of its bytes.
    mutating func append(_ message: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: message)
        ends.append(bytes.count)
    }

    /// Lends each message in order, until `body` returns false. The slices share one array, so their indices do not
    /// begin at 0.
    func forEach(_ body: (ArraySlice<UInt8>) throws -> Bool) rethrows {
        var start = 0
        for end in ends {
            guard try body(bytes[start..<end]) else { return }
            start = end
        }
    }
}

/// How a connection ended.
struct WebSocketClosure: Equatable, Sendable {
    /// The code of the peer's close frame; 1005 if the frame had none, 1006 if there was no close frame (RFC 6455,
    /// section 7.4.1).
    var code: UInt16
    /// A few fixed words of our own, never remote text.
    var reason: String

    /// The connection was lost without a close frame.
    static let lost = WebSocketClosure(code: 1006, reason: "connection lost")
}

/// Why a WebSocket could not be opened.
enum WebSocketRefusal: Error, Equatable, Sendable {
    /// The server answered the upgrade with another status, and perhaps demands a wait.
    case status(Int, retryAfterSeconds: Int?)
    /// No connection, no TLS, or no answer that can be read; in a few fixed words.
    case unreachable(String)
}
#endif
