#if NATS
import EventLog
public import Shipping

/// A stream of NATS JetStream as a courier, through the C library `libnats`. For one thread.
///
/// The stream of a log has the subjects `eventlog.IDENTITY.event.SOURCE`. Questions go to `eventlog.IDENTITY.ask`, and a sender tells of
/// new messages on `eventlog.IDENTITY.news`. See `docs/ship.md`.
public final class JetStreamCourier: Courier {
    /// What it is called in messages.
    public let name: String
    private let connection: NATSConnection
    private let stream: String
    private let replicas: Int
    private var log: [UInt8]?
    private var isDirect = false
    private var acknowledgements: NATSSubscription?
    private var (questions, news): (NATSSubscription?, NATSSubscription?)
    /// Messages that were published and not acknowledged, and acknowledgements that were not counted.
    private var (outstanding, outstandingBytes, counted) = (0, 0, 0)

    /// What may be on its way.
    private static let outstandingMax = 256
    private static let outstandingBytesMax = 32 << 20
    private static let limit = Duration.seconds(10)

    /// Connects to a server, and finds the stream.
    ///
    /// - Throws: `EventLogError`: `io` if no server can be reached or it refuses; `notFound` if a receiver finds no stream;
    ///   `invalidArgument` if it would have to choose among several.
    public init(at address: NATSAddress, _ security: NATSSecurity = .init(), as end: CourierEnd) throws {
        name = address.text
        connection = try NATSConnection(to: address, security)
        switch end {
        case .sender(let identity, let replicas):
            (log, self.replicas) = (identity, replicas)
            stream = address.stream ?? "eventlog-\(identity.hexDigits)"
        case .receiver(let identity):
            replicas = 1
            stream = try address.stream ?? identity.map { "eventlog-\($0.hexDigits)" } ?? connection.onlyStream()
            try identify()
            if let log { news = try connection.subscribe(to: "eventlog.\(log.hexDigits).news") }
        }
    }

    deinit {
        acknowledgements?.end()
        questions?.end()
        news?.end()
        connection.end()
    }

    // MARK: - The stream

    /// The identity of the log that the stream is of; `nil` if there is no stream.
    public func identity() throws -> [UInt8]? {
        if log == nil { try identify() }
        return log
    }

    private func identify() throws {
        guard let info = try connection.information(of: stream) else { return }
        isDirect = info.isDirect
        let prefix = "eventlog."
        guard let subject = info.subjects.first, info.subjects.count == 1, subject.hasPrefix(prefix),
            subject.hasSuffix(Self.suffix + ">"),
            let identity = Self.identity(String(subject.dropFirst(prefix.count).dropLast(Self.suffix.count + 1)))
        else {
            throw refused(
                "the stream \"\(stream)\" is not that of a log: its subjects are not eventlog.IDENTITY.event.>"
            )
        }
        log = identity
    }

    private static let suffix = ".event."

    private static func identity(_ digits: String) -> [UInt8]? {
        guard digits.utf8.count == 32 else { return nil }
        let values = digits.compactMap(\.hexDigitValue)
        guard values.count == 32 else { return nil }
        return stride(from: 0, to: 32, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }

    private func refused(_ reason: String) -> EventLogError {
        EventLogError(.invalidArgument, operation: "use stream of", object: name, reason: reason)
    }

    /// The start of all subjects.
    private func prefix() throws -> String {
        guard let log = try identity() else {
            throw EventLogError(
                .notFound,
                operation: "use stream of",
                object: name,
                reason: "there is no stream \"\(stream)\""
            )
        }
        return "eventlog.\(log.hexDigits)"
    }

    /// The positions that the stream holds.
    public func extent() throws -> CourierExtent? {
        guard let info = try connection.information(of: stream) else { return nil }
        isDirect = info.isDirect
        return CourierExtent(first: info.count == 0 ? info.last + 1 : info.first, last: info.last)
    }

    /// Makes the stream: in files, without limits, each message once.
    public func makeStream() throws {
        let subject = try prefix() + Self.suffix + ">"
        guard let info = try connection.information(of: stream) else {
            try connection.makeStream(stream, subject: subject, replicas: replicas)
            isDirect = true
            return
        }
        isDirect = info.isDirect
        guard info.subjects == [subject] else {
            throw refused("the stream \"\(stream)\" has other subjects than \(subject)")
        }
    }

    // MARK: - Messages

    /// Publishes a message; waits while 256 messages or 32 MiB are not acknowledged.
    public func publish(_ message: CourierMessage) throws {
        let inbox: NATSSubscription
        if let acknowledgements {
            inbox = acknowledgements
        } else {
            inbox = try connection.subscribeToInbox()
            acknowledgements = inbox
        }
        while outstanding >= Self.outstandingMax || outstandingBytes >= Self.outstandingBytesMax {
            guard try takeAcknowledgement(inbox, within: Self.limit) else {
                // Nothing of what is on its way can be expected any more: the next look at the stream tells what arrived.
                (outstanding, outstandingBytes) = (0, 0)
                break
            }
        }
        try connection.publish(
            message.bytes,
            to: try prefix() + Self.suffix + message.subject,
            id: message.id,
            reply: inbox.subject
        )
        outstanding += 1
        outstandingBytes += message.bytes.count
    }

    /// Takes one acknowledgement. Returns false if none comes.
    private func takeAcknowledgement(_ inbox: NATSSubscription, within limit: Duration) throws -> Bool {
        guard let reply = try inbox.next(within: limit) else { return false }
        outstandingBytes -= outstandingBytes / max(outstanding, 1)
        outstanding = max(outstanding - 1, 0)
        let text = String(decoding: reply.bytes, as: UTF8.self)
        // An error counts as an answer, too; what is missing is published again.
        if reply.isWithoutResponders || text.contains("\"error\"") {
            lastError = reply.isWithoutResponders ? "no stream takes the message" : String(text.prefix(300))
        } else {
            counted += 1
        }
        return true
    }

    private var lastError: String?

    /// Waits for acknowledgements.
    ///
    /// - Throws: `EventLogError` with code `io` if the server took nothing and said why.
    public func acknowledged(within limit: Duration) throws -> Int {
        let end = ContinuousClock.now + limit
        while outstanding > 0, let inbox = acknowledgements {
            let rest = ContinuousClock.now.duration(to: end)
            guard rest > .zero, try takeAcknowledgement(inbox, within: rest) else { break }
        }
        (outstanding, outstandingBytes) = (0, 0)
        defer { (counted, lastError) = (0, nil) }
        if counted == 0 { try connection.checkDenial("publish to") }
        if counted == 0, let lastError { throw connection.error("publish to", lastError) }
        return counted
    }

    /// Passes the ids of messages, read without their bytes.
    public func forEachID(in range: ClosedRange<UInt64>, _ body: (UInt64, String) -> Void) throws {
        if range.count == 1 {
            if let message = try message(at: range.lowerBound) { body(range.lowerBound, message.id) }
            return
        }
        try connection.forEachID(
            of: stream,
            subject: try prefix() + Self.suffix + ">",
            in: range,
            within: Self.limit,
            body
        )
    }

    /// The message at a position; `nil` if there is none.
    public func message(at position: UInt64) throws -> CourierMessage? {
        guard let message = try connection.message(of: stream, at: position, isDirect: isDirect) else { return nil }
        let subject = message.subject.split(separator: ".").last.map(String.init) ?? ""
        return CourierMessage(subject: subject, id: message.id, bytes: message.bytes)
    }

    /// Removes messages; the server overwrites their bytes.
    public func remove(at positions: [UInt64]) throws {
        for position in positions { try connection.erase(position, of: stream) }
    }

    // MARK: - Questions

    /// Asks a sender; `nil` at once if nobody listens.
    public func ask(_ question: [UInt8], within limit: Duration) throws -> [UInt8]? {
        guard try identity() != nil else { return nil }
        return try connection.request(question, of: prefix() + ".ask", within: limit)
    }

    /// Answers questions.
    public func answer(within limit: Duration, _ body: ([UInt8]) throws -> [UInt8]) throws -> Int {
        let subscription = try questions ?? connection.subscribe(to: prefix() + ".ask")
        questions = subscription
        var (count, wait) = (0, limit)
        while let question = try subscription.next(within: wait) {
            if let reply = question.reply { try connection.publish(try body(question.bytes), to: reply) }
            (count, wait) = (count + 1, .zero)
        }
        return count
    }

    /// Tells receivers of new messages.
    public func announce() throws { try connection.publish([], to: prefix() + ".news") }

    /// Waits for a sender to tell of new messages.
    public func awaitNews(within limit: Duration) throws {
        if news == nil, try identity() != nil { news = try connection.subscribe(to: prefix() + ".news") }
        guard let news else {
            // Without a stream there is nothing to listen to.
            return try connection.wait(limit)
        }
        guard try news.next(within: limit) != nil else { return }
        while try news.next(within: .zero) != nil {}
    }
}
#endif
