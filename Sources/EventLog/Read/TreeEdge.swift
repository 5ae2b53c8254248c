/// The right edge of the log: the head, and what extends the tree and the clock. It holds no hashes before the last
/// complete node: a node's root depends only on its own 256 leaves.
struct TreeEdge {
    /// The last sequence assigned.
    private(set) var head: UInt64 = 0
    /// The greatest recordedAt of the remote changes so far.
    private(set) var clock = Clock.none
    /// The leaves since the last complete node.
    private var frontier = MerkleFrontier()

    /// An empty log's edge.
    init() {}

    /// The edge of a reader's log at its last complete node. The caller appends the leaves after that node.
    init(lastNodeOf reader: LogReader, head: UInt64) throws {
        let nodes = head / TreeNode.leafCount
        guard nodes > 0 else { return }
        guard let node = try reader.node(nodes - 1) else { throw reader.damaged("tree node \(nodes - 1) is missing") }
        self.head = nodes * TreeNode.leafCount
        clock = node.clock
    }

    /// Appends the next leaf, or the root of the next subtree of 2^level leaves, which lies within one node. Returns
    /// the node that this completes, if any.
    mutating func append(_ hash: Hash256, level: Int = 0, clock leafClock: Int64) -> TreeNode? {
        assert(level <= TreeNode.level, "a subtree lies within one node")
        assert(head.isMultiple(of: 1 << UInt64(level)), "a subtree begins at a multiple of its size")
        head += 1 << UInt64(level)
        clock = max(clock, leafClock)
        frontier.append(hash, level: level)
        guard head.isMultiple(of: TreeNode.leafCount) else { return nil }
        let node = TreeNode(root: frontier.root, clock: clock)
        frontier = MerkleFrontier()
        return node
    }
}
