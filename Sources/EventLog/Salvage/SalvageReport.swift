/// What a salvage found and lost.
public struct SalvageReport: Hashable, Sendable {
    /// The sequences of events that nothing right is left of, as ranges in order.
    public var lost: [ClosedRange<SequenceNumber>] = []
    /// How many events are held in the new log.
    public var held: UInt64 = 0
    /// How many were dropped already, by acts.
    public var dropped: UInt64 = 0
    /// The last sequence that anything was found of; whatever came after it is gone without a trace.
    public var head = SequenceNumber.zero
    /// The root of the new log.
    public var root = MerkleTree.emptyRoot
    /// Whether the new log is the old one: same identity and, where nothing was lost, same root. A log of which a leaf hash
    /// is lost is another one, for no old proof holds for it.
    public var keepsIdentity = false

    /// How many events are lost.
    public var lostCount: UInt64 {
        lost.reduce(0) { $0 + $1.upperBound.rawValue - $1.lowerBound.rawValue + 1 }
    }
}
