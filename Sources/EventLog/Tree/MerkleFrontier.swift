/// The complete subtrees at the right edge of a growing tree: O(log n) hashes that are all one needs to extend it.
public struct MerkleFrontier: Sendable {
    /// The root of the subtree of 2^level leaves at each level, where `held` has that bit.
    private var subtrees: [Hash256] = []
    private var held: UInt64 = 0

    /// Begins a tree without leaves.
    public init() {}

    /// Adds the next leaf, or the next complete subtree of 2^level leaves, which must lie on a multiple of its size.
    public mutating func append(_ hash: Hash256, level: Int = 0) {
        var hash = hash
        var level = level
        while held & 1 << level != 0 {
            held &= ~(1 << level)
            hash = MerkleTree.parent(subtrees[level], hash)
            level += 1
        }
        while subtrees.count <= level { subtrees.append(.zero) }
        subtrees[level] = hash
        held |= 1 << level
    }

    /// Adds the subtrees of another frontier, whose first leaf must lie on a multiple of its greatest subtree.
    mutating func append(_ other: MerkleFrontier) {
        for level in other.levels.reversed() { append(other.subtrees[level], level: level) }
    }

    /// The root over all leaves so far.
    public var root: Hash256 {
        guard let lowest = levels.first else { return MerkleTree.emptyRoot }
        return levels.dropFirst().reduce(subtrees[lowest]) { MerkleTree.parent(subtrees[$1], $0) }
    }

    /// The levels that have a subtree, lowest first.
    private var levels: [Int] { subtrees.indices.filter { held & 1 << $0 != 0 } }
}
