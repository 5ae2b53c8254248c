/// The result of a salvage: what it found, and what is lost.
public struct SalvageReport: Hashable, Sendable {
    /// The sequences of lost events: ranges, ascending.
    public var lost: [ClosedRange<SequenceNumber>] = []
    /// How many events are held in the new log.
    public var held: UInt64 = 0
    /// How many events rewrites had dropped before.
    public var dropped: UInt64 = 0
    /// How many events the log never had, because it is a part.
    public var missing: UInt64 = 0
    /// Why more may be missing than `lost` lists, in words: what the files tell of that was not found. Empty if they tell
    /// of nothing more.
    public var doubts: [String] = []
    /// The last sequence that the entries of the file tell of. Nothing in them shows whether there were later ones.
    public var head = SequenceNumber.zero
    /// The root of the new log.
    public var root = MerkleTree.emptyRoot
    /// Whether the new log has the identity of the old one and, if nothing was lost, its root. If a leaf hash is lost, or
    /// may be, the log gets a new identity, because old proofs do not hold for it.
    public var keepsIdentity = false

    /// Whether everything was found that the files tell of.
    public var isComplete: Bool { lost.isEmpty && doubts.isEmpty }

    /// How many events are lost.
    public var lostCount: UInt64 {
        lost.reduce(0) { $0 + $1.upperBound.rawValue - $1.lowerBound.rawValue + 1 }
    }
}
