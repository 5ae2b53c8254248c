/// The result of a check of a log. If it stopped at damage, the counts are those up to there.
public struct VerifyReport: Hashable, Sendable {
    /// The first place where the log is not as it was written.
    public struct Damage: Hashable, Sendable, CustomStringConvertible {
        /// The event that is damaged; `nil` if the damage is elsewhere.
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

    /// The first damaged place; `nil` if everything is as it was written.
    public var damage: Damage?
    /// The last sequence ever assigned.
    public var head = SequenceNumber.zero
    /// Events whose original payload is held.
    public var whole: UInt64 = 0
    /// Events whose payload is a substitute.
    public var redacted: UInt64 = 0
    /// Events among both that lie in compressed blocks.
    public var sealed: UInt64 = 0
    /// Events that rewrites have dropped: the log holds only their leaf hashes.
    public var dropped: UInt64 = 0
    /// Events that a part of a log lacks.
    public var missing: UInt64 = 0
    /// The root over all events; the root of an empty tree if the check stopped before it was known.
    public var root = MerkleTree.emptyRoot
    /// The number of the generation that was checked.
    public var generation: UInt32 = 0

    /// The damage to the derived data, in words; `nil` without any. The damaged data has been removed and is computed
    /// again when needed; the log itself is unharmed (I17).
    public var derivedDamage: String?

    /// Whether the last rewrite's act names by hash what compactions left beside the events: facts, keys of dropped
    /// events, runs, clocks (I25). False if an earlier program version wrote that act: then only checksums cover them.
    public var provesRemains = true

    /// Whether the damage is in a meta page: then a commit between the reads of the two may be the reason.
    var isDamageOfMetaPages = false

    /// Whether nothing is damaged.
    public var isIntact: Bool { damage == nil }

    init() {}
}
