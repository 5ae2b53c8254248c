/// The right edge of the log: where the next event goes, and what is needed to extend the tree and the clock.
struct TreeEdge {
    /// The last sequence assigned.
    private(set) var head: UInt64 = 0
    /// The greatest recordedAt of the remote changes so far.
    private(set) var clock = Clock.none
    /// The leaves since the last complete node.
    private var frontier = MerkleFrontier()

    /// An empty log's edge.
    init() {}

    /// The edge of the log that a reader reads, at the last complete node; the leaves behind it are still to be added.
    init(lastNodeOf reader: LogReader, head: UInt64) throws {
        let nodes = head / TreeNode.leafCount
        guard nodes > 0 else { return }
        guard let node = try reader.node(nodes - 1) else { throw reader.damaged("tree node \(nodes - 1) is missing") }
        self.head = nodes * TreeNode.leafCount
        clock = node.clock
    }

    /// Adds the next leaf, or the next subtree of 2^level leaves within a node; answers with the node that it completes.
    mutating func append(_ hash: Hash256, level: Int = 0, clock leafClock: Int64) -> TreeNode? {
        head += 1 << UInt64(level)
        clock = max(clock, leafClock)
        frontier.append(hash, level: level)
        guard head.isMultiple(of: TreeNode.leafCount) else { return nil }
        let node = TreeNode(root: frontier.root, clock: clock)
        frontier = MerkleFrontier()
        return node
    }
}
