public import EventLog

/// Something in the log that could not be made sense of: kept as data, so that replay never stops half-way (I11).
public struct Issue: Codable, Hashable, Sendable {
    /// The event that it lies in.
    public let sequence: SequenceNumber
    /// What is wrong, in lower case, without the event's own text or a secret.
    public let reason: String
    /// How many issues with this reason it stands for: after a compaction those from the second one up to this event.
    public let count: Int

    /// Makes an issue.
    public init(sequence: SequenceNumber, reason: String, count: Int = 1) {
        self.sequence = sequence
        self.reason = reason
        self.count = count
    }
}
