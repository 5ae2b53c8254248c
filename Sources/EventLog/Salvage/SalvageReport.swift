/// The result of a salvage: what it found, and what is lost.
public struct SalvageReport: Hashable, Sendable {
    /// The sequences of lost events: ranges, ascending.
    public var lost: [ClosedRange<SequenceNumber>] = []
    /// How many events are held in the new log.
    public var held: UInt64 = 0
    /// How many events rewrites had dropped before.
    public var dropped: UInt64 = 0
    /// The last sequence that left a trace in the file. Nothing shows whether there were later ones.
    public var head = SequenceNumber.zero
    /// The root of the new log.
    public var root = MerkleTree.emptyRoot
    /// Whether the new log has the identity of the old one and, if nothing was lost, its root. If a leaf hash is lost,
    /// the log gets a new identity, because old proofs no longer hold for it.
    public var keepsIdentity = false

    /// How many events are lost.
    public var lostCount: UInt64 {
        lost.reduce(0) { $0 + $1.upperBound.rawValue - $1.lowerBound.rawValue + 1 }
    }
}
