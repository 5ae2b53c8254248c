import Synchronization

/// The roots of all complete, aligned subtrees above the stored nodes (256 leaves each), in memory.
///
/// Nodes are only added to a generation and never change, so those read in one session are valid in every later one.
/// Takes 64 bytes a node, 2.5 MB for ten million events. The first proof fills it, later ones extend it.
final class UpperTree: Sendable {
    /// `levels[0]` has the roots of the stored nodes, `levels[n]` the roots of 2^n nodes each, from left to right. The
    /// lock is held while nodes are read, so that each is added once.
    private let levels = Mutex<[[Hash256]]>([[]])

    /// Appends a range of nodes to a frontier that ends where the range begins: from left to right, at each place the
    /// greatest subtree that fits.
    func append(_ range: Range<UInt64>, to frontier: inout MerkleFrontier, _ reader: LogReader) throws {
        try levels.withLock { levels in
            try Self.load(&levels, upTo: range.upperBound, reader)
            var index = range.lowerBound
            while index < range.upperBound {
                let level = Self.level(at: index, room: range.upperBound - index)
                frontier.append(levels[level][Int(index >> UInt64(level))], level: TreeNode.level + level)
                index += 1 << UInt64(level)
            }
        }
    }

    /// The greatest level whose subtree begins at node `index` and spans at most `room` nodes.
    private static func level(at index: UInt64, room: UInt64) -> Int {
        assert(room > 0, "a subtree spans at least one node")
        return min(index == 0 ? 63 : index.trailingZeroBitCount, 63 - room.leadingZeroBitCount)
    }

    private static func load(_ levels: inout [[Hash256]], upTo end: UInt64, _ reader: LogReader) throws {
        while UInt64(levels[0].count) < end {
            let number = UInt64(levels[0].count)
            guard let node = try reader.node(number) else { throw reader.damaged("tree node \(number) is missing") }
            add(node.root, to: &levels)
        }
    }

    private static func add(_ root: Hash256, to levels: inout [[Hash256]]) {
        levels[0].append(root)
        var level = 0
        // A second subtree of a level completes one of the next.
        while levels[level].count.isMultiple(of: 2), let right = levels[level].last {
            let parent = MerkleTree.parent(levels[level][levels[level].count - 2], right)
            level += 1
            if level == levels.count { levels.append([]) }
            levels[level].append(parent)
            assert(levels[level].count * 2 == levels[level - 1].count, "each pair of subtrees has one parent")
        }
    }
}
