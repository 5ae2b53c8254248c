public import EventLog

/// A point in a log, as people name it. Means a sequence only in one log, by `resolve`.
public enum Point: Hashable, Sendable {
    /// The state after this event.
    case sequence(SequenceNumber)
    /// The state this many events before the head.
    case belowHead(UInt64)
    /// The longest prefix whose clock, the greatest `recordedAt` so far, is at or before the instant.
    case time(Timestamp)
    /// The longest prefix whose remote clock, the greatest time the remotes stated so far, is at or before the instant.
    case remoteTime(Timestamp)

    /// Reads `4711`, `head`, `head~10` (or `-10`), a time or `remote:` and a time; `nil` for other text.
    ///
    /// A time is `2026-01-19T08:30:00Z`, `2026-01-19 08:30:00`, `2026-01-19 08:30` or `2026-01-19`: UTC where no zone
    /// is given, midnight where no hour is.
    public init?(_ text: String) {
        if text == "head" {
            self = .belowHead(0)
        } else if text.hasPrefix("head~"), let count = Self.number(text.dropFirst(5)) {
            self = .belowHead(count)
        } else if text.hasPrefix("-"), let count = Self.number(text.dropFirst()) {
            self = .belowHead(count)
        } else if text.hasPrefix("remote:"), let time = Timestamp(written: text.dropFirst(7)) {
            self = .remoteTime(time)
        } else if let number = Self.number(text[...]) {
            self = .sequence(SequenceNumber(number))
        } else if let time = Timestamp(written: text) {
            self = .time(time)
        } else {
            return nil
        }
    }

    /// The sequence that the point names in a log; zero for a time before the first event.
    ///
    /// Cost: O(log n) clock look-ups for a time, one replay for a remote time, else O(1).
    /// - Throws: `ProjectionError.notFound` if it lies beyond the head or before the first event.
    public func resolve(in session: borrowing ReadSession) throws -> SequenceNumber {
        let head = session.head
        switch self {
        case .sequence(let sequence):
            guard sequence <= head else { throw Self.beyond("sequence \(sequence)", head: head) }
            return sequence
        case .belowHead(let count):
            guard count <= head.rawValue else { throw Self.beyond("head~\(count)", head: head) }
            return SequenceNumber(head.rawValue - count)
        case .time(let time): return try session.lastSequence(clockAtMost: time)
        case .remoteTime(let time): return try Self.lastSequence(withRemoteClockAtMost: time, session: session)
        }
    }

    private static func number(_ digits: Substring) -> UInt64? {
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return UInt64(digits)
    }

    private static func beyond(_ point: String, head: SequenceNumber) -> ProjectionError {
        ProjectionError(.notFound, "find the point \(point): the log's head is \(head)")
    }

    /// Folds the log until the remote clock passes a time. Stored clocks do not help: the remote's times are in the
    /// payloads, which only decoders read.
    ///
    /// Before the last compaction only the clock of the events that are left is known.
    private static func lastSequence(
        withRemoteClockAtMost time: Timestamp,
        session: borrowing ReadSession
    ) throws -> SequenceNumber {
        var last = SequenceNumber.zero
        var options = ReplayOptions()
        options.retained = true
        let decidedAt = session.decidedAt
        _ = try Replay.logState(of: session, options: options) { envelope, logState in
            let clock = envelope.sequence < decidedAt ? logState.seenRemoteClock : logState.remoteClock
            guard clock.map({ $0 <= time }) ?? true else { return false }
            last = envelope.sequence
            return true
        }
        return last
    }
}

extension Timestamp {
    /// Reads a time as people write one: RFC 3339, or without zone (UTC), seconds or hour, with a space in place of
    /// `T`.
    public init?(written text: some StringProtocol) {
        var text = String(text)
        if let space = text.firstIndex(of: " "), text.utf8.distance(from: text.startIndex, to: space) == 10 {
            text.replaceSubrange(space...space, with: "T")
        }
        // As written, without a zone, without seconds, without an hour. At most one of these is RFC 3339.
        let forms = [text, text + "Z", text + ":00Z", text + "T00:00:00Z"]
        guard let time = forms.lazy.compactMap({ Timestamp(rfc3339: $0) }).first else { return nil }
        self = time
    }
}

extension LogState {
    /// The greatest time that any remote has stated for a change so far; `nil` if none has stated one.
    public var remoteClock: Timestamp? {
        sources.compactMap(\.remoteClock).max()
    }

    /// The same of the events that were applied, without what a compaction knows of those that it dropped.
    fileprivate var seenRemoteClock: Timestamp? { sources.compactMap(\.seenRemoteClock).max() }
}
