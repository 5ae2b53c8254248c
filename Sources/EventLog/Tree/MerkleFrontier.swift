/// The complete subtrees at the right edge of a growing tree: O(log n) hashes that are all one needs to extend it.
public struct MerkleFrontier: Sendable {
    private var subtrees: [(level: Int, hash: Hash256)] = []

    /// Begins a tree without leaves.
    public init() {}

    /// Adds the next leaf, or the next complete subtree of 2^level leaves, which must lie on a multiple of its size.
    public mutating func append(_ hash: Hash256, level: Int = 0) {
        var hash = hash
        var level = level
        while let last = subtrees.last, last.level == level {
            subtrees.removeLast()
            hash = MerkleTree.parent(last.hash, hash)
            level += 1
        }
        subtrees.append((level, hash))
    }

    /// Adds the subtrees of another frontier, whose first leaf must lie on a multiple of its greatest subtree.
    mutating func append(_ other: MerkleFrontier) {
        for subtree in other.subtrees { append(subtree.hash, level: subtree.level) }
    }

    /// The root over all leaves so far.
    public var root: Hash256 {
        guard let last = subtrees.last else { return MerkleTree.emptyRoot }
        return subtrees.dropLast().reversed().reduce(last.hash) { MerkleTree.parent($1.hash, $0) }
    }
}
