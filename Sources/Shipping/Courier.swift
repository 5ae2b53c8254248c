import EventLog

/// What carries batches of events between machines, and may lose, double, reorder and forget them: a stream of messages that has numbered
/// positions, and questions from receivers to a sender.
///
/// Nothing that a courier says is believed. A sender looks at what the stream holds, not at acknowledgements; a receiver knows from its own
/// log where it stands, and proves each batch. Each method has a deadline of its own, and throws `EventLogError` with code `io` when the
/// courier cannot be reached. For one thread.
public protocol Courier: AnyObject {
    /// What it is called in messages, without secrets.
    var name: String { get }

    /// The positions that the stream holds; `nil` if there is no stream. An empty stream has none.
    func extent() throws -> CourierExtent?

    /// The identity of the log that the stream is of; `nil` if there is no stream.
    func identity() throws -> [UInt8]?

    /// Makes the stream if it is missing.
    func makeStream() throws

    /// Hands over a message, in order. May return before it is acknowledged; waits while many are not.
    func publish(_ message: CourierMessage) throws

    /// Waits for what was published, so long at most. Returns how many messages were acknowledged since the last call.
    func acknowledged(within limit: Duration) throws -> Int

    /// Passes position and id of the messages in a range of positions, in order. The text comes from anybody.
    func forEachID(in range: ClosedRange<UInt64>, _ body: (_ position: UInt64, _ id: String) -> Void) throws

    /// The message at a position; `nil` if there is none.
    func message(at position: UInt64) throws -> CourierMessage?

    /// Removes messages, and their bytes where the courier can.
    func remove(at positions: [UInt64]) throws

    /// Asks a sender, and waits so long for its answer; `nil` if none answers.
    func ask(_ question: [UInt8], within limit: Duration) throws -> [UInt8]?

    /// Answers the questions that wait, and then those that come within a time. Returns how many were answered.
    func answer(within limit: Duration, _ body: (_ question: [UInt8]) throws -> [UInt8]) throws -> Int

    /// Tells receivers that the stream has more.
    func announce() throws

    /// Waits until a sender announces something, at most so long.
    func awaitNews(within limit: Duration) throws
}

/// The positions that a stream holds; some between them may be empty.
public struct CourierExtent: Hashable, Sendable {
    /// The first position; one more than the last in an empty stream.
    public let first: UInt64
    /// The last position.
    public let last: UInt64

    /// An extent.
    public init(first: UInt64, last: UInt64) {
        (self.first, self.last) = (first, last)
    }
}

/// A message of a stream.
public struct CourierMessage: Hashable, Sendable {
    /// Whose events it has, as the last token of a subject (`subjectToken`).
    public let subject: String
    /// What identifies it: two messages with one id have the same bytes.
    public let id: String
    /// What it holds.
    public let bytes: [UInt8]

    /// The most bytes of a message; NATS takes 1 MiB without being told otherwise.
    public static let bytesMax = 960 << 10

    /// A message.
    public init(subject: String, id: String, bytes: [UInt8]) {
        (self.subject, self.id, self.bytes) = (subject, id, bytes)
    }

    /// A source's name as one token of a subject: letters, digits, `-` and `_` stay, each other byte is `=` and two hex digits.
    static func subjectToken(_ source: SourceName) -> String {
        source.rawValue.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                String(UnicodeScalar(byte))
            default: "=" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }.joined()
    }
}

/// What a courier brought that is not so.
enum CourierFault: Error {
    /// A position no longer holds what it held: the stream lost something, or was made anew.
    case stale
    /// A batch is not what its id says, or does not fit its checkpoint.
    case untrue(BatchName, String)
    /// A batch that is proved is of another log than the one here: they have other events before a sequence.
    case fork(BatchName, before: UInt64)
}
