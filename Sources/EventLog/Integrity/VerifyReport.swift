/// What a check of a log found.
public struct VerifyReport: Hashable, Sendable {
    /// The first place that is not as it was written.
    public struct Damage: Hashable, Sendable, CustomStringConvertible {
        /// The event it concerns, where it concerns one.
        public let sequence: SequenceNumber?
        /// What is wrong.
        public let reason: String

        init(sequence: SequenceNumber?, reason: String) {
            self.sequence = sequence
            self.reason = reason
        }

        init(_ damage: PageCheck.Damage) {
            self.init(sequence: nil, reason: "page \(damage.page) of the data file: \(damage.reason)")
        }

        /// The text that people and scripts read.
        public var description: String {
            sequence.map { "sequence \($0): \(reason)" } ?? reason
        }
    }

    /// The first damaged place; `nil` where everything is as it was written.
    public var damage: Damage?
    /// The last sequence ever assigned.
    public var head = SequenceNumber.zero
    /// Events whose original payload is held.
    public var whole: UInt64 = 0
    /// Events whose payload is a substitute.
    public var redacted: UInt64 = 0
    /// Events of which only the leaf hash is held.
    public var dropped: UInt64 = 0
    /// Events that a part of a log lacks.
    public var missing: UInt64 = 0
    /// The root over all events; of nothing, where something is damaged before it is known.
    public var root = MerkleTree.emptyRoot
    /// The number of the generation that was checked.
    public var generation: UInt32 = 0

    /// What was wrong with the data derived from the log, where something was. It has been removed and is computed anew when
    /// it is needed; the log itself is none the worse for it (I17).
    public var derivedDamage: String?

    /// Whether acts name by hash what compactions left beside the events (facts, keys of dropped events, runs, clocks); false
    /// where the last one is of a version that did not, so that only sums cover it.
    public var provesRemains = true

    /// Whether the damage may be a commit that came between the reading of the two meta pages.
    var isDamageOfMetaPages = false

    /// Whether nothing is damaged.
    public var isIntact: Bool { damage == nil }

    init() {}
}
