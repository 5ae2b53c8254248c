public import EventLog

/// A point in a log, as people name it.
public enum Point: Hashable, Sendable {
    /// The state after this event.
    case sequence(SequenceNumber)
    /// The state so many events below the head.
    case belowHead(UInt64)
    /// The longest prefix whose clock, the greatest `recordedAt` so far, is at or before the instant.
    case time(Timestamp)
    /// The longest prefix whose remote clock, the greatest time the remotes stated so far, is at or before the instant.
    case remoteTime(Timestamp)

    /// Reads `4711`, `head`, `head~10`, `2026-01-19T08:30:00Z` or `remote:2026-01-19T08:30:00Z`; `nil` for other text.
    public init?(_ text: String) {
        if text == "head" {
            self = .belowHead(0)
        } else if text.hasPrefix("head~"), let count = Self.number(text.dropFirst(5)) {
            self = .belowHead(count)
        } else if text.hasPrefix("remote:"), let time = Timestamp(rfc3339: text.dropFirst(7)) {
            self = .remoteTime(time)
        } else if let number = Self.number(text[...]) {
            self = .sequence(SequenceNumber(number))
        } else if let time = Timestamp(rfc3339: text) {
            self = .time(time)
        } else {
            return nil
        }
    }

    /// The sequence that the point names in a log.
    ///
    /// Cost: O(log n) clock look-ups for a time, one replay for a remote time, else O(1).
    /// - Throws: `ProjectionError.notFound` where it lies beyond the head or below the first event.
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

    private static func lastSequence(
        withRemoteClockAtMost time: Timestamp,
        session: borrowing ReadSession
    ) throws -> SequenceNumber {
        var last = SequenceNumber.zero
        var options = ReplayOptions()
        options.retained = true
        _ = try Replay.workspace(of: session, options: options) { envelope, workspace in
            guard workspace.remoteClock.map({ $0 <= time }) ?? true else { return false }
            last = envelope.sequence
            return true
        }
        return last
    }
}

extension Workspace {
    /// The greatest time that any remote has stated of a change so far.
    public var remoteClock: Timestamp? {
        sources.compactMap(\.remoteClock).max()
    }
}
