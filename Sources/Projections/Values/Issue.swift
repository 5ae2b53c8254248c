public import EventLog

/// Something in the log that could not be decoded: kept as data, so that a replay never stops half-way (I11).
public struct Issue: Codable, Hashable, Sendable {
    /// The event with the issue.
    public let sequence: SequenceNumber
    /// What is wrong, in lower case, without the event's own text or a secret.
    public let reason: String
    /// The number of issues with this reason that this one counts: more than one only after a compaction, which merges
    /// all but the first.
    public let count: Int

    /// Makes an issue.
    public init(sequence: SequenceNumber, reason: String, count: Int = 1) {
        self.sequence = sequence
        self.reason = reason
        self.count = count
    }
}
