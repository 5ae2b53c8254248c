/// The roots of the complete subtrees at the right edge of a growing tree: O(log n) hashes, enough to extend it. They
/// are the binary digits of the number of leaves, and an append carries like an addition of 1.
package struct MerkleFrontier: Sendable {
    /// By level: the root of a subtree of 2^level leaves. Valid only if bit `level` of `held` is set.
    private var subtrees: [Hash256] = []
    /// The number of leaves so far; its bits say which levels have a subtree.
    private var held: UInt64 = 0

    /// Begins a tree without leaves.
    package init() {}

    /// Appends the next leaf, or the root of the next complete subtree of 2^level leaves. The number of leaves so far
    /// must be a multiple of 2^level.
    package mutating func append(_ hash: Hash256, level: Int = 0) {
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

    /// Appends the subtrees of another frontier. The number of leaves so far must be a multiple of that frontier's
    /// greatest subtree.
    mutating func append(_ other: MerkleFrontier) {
        // The greatest first, which is the leftmost.
        for level in other.levels.reversed() { append(other.subtrees[level], level: level) }
    }

    /// The root over all leaves so far.
    package var root: Hash256 {
        guard let lowest = levels.first else { return MerkleTree.emptyRoot }
        // RFC 6962 pairs the smallest subtrees first; each greater one lies to the left.
        return levels.dropFirst().reduce(subtrees[lowest]) { MerkleTree.parent(subtrees[$1], $0) }
    }

    /// The levels that have a subtree, lowest first.
    private var levels: [Int] { subtrees.indices.filter { held & 1 << $0 != 0 } }
}
