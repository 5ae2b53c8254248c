#if Recorders
import EventLog

/// What comes in on a WebSocket.
enum WebSocketEvent: Sendable {
    /// Whole messages that came in together.
    case messages(MessageRun, receivedAt: Timestamp)
    /// A message over 16 MiB.
    case oversize(length: Int, hash: Hash256, receivedAt: Timestamp)
    /// A Pong frame.
    case pong(receivedAt: Timestamp)
    /// The end: nothing comes after it.
    case closed(WebSocketClosure, receivedAt: Timestamp)
}

/// Whole messages one behind the other, text or binary, each as sent; fragments are joined.
struct MessageRun: Sendable {
    /// One message behind the other.
    private var bytes: [UInt8] = []
    private var ends: [Int] = []

    var count: Int { ends.count }

    var isEmpty: Bool { ends.isEmpty }

    /// Adds a message. Cost: a copy of its bytes.
    mutating func append(_ message: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: message)
        ends.append(bytes.count)
    }

    /// Lends each message in order until one is not wanted.
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
    /// The code of the peer's close frame; 1005 where it gave none, 1006 where there was no close frame (RFC 6455,
    /// section 7.4.1).
    var code: UInt16
    /// A few fixed words of ours, never remote text.
    var reason: String

    /// The connection went away without a close frame.
    static let lost = WebSocketClosure(code: 1006, reason: "connection lost")
}

/// Why a WebSocket could not be opened.
enum WebSocketRefusal: Error, Equatable, Sendable {
    /// The server answered the upgrade with another status; the wait it asks for, in seconds.
    case status(Int, retryAfterSeconds: Int?)
    /// No connection, no TLS, no or a broken answer; in a few fixed words.
    case unreachable(String)
}
#endif
