/// What a whole log is beside its events: enough to make the same log again from them.
public struct LogHeader: Hashable, Sendable {
    /// Sixteen bytes that tell this log from every other.
    public var identity: [UInt8]
    /// How many events the log has, dropped ones included.
    public var size: UInt64
    /// The root over all of them.
    public var root: Hash256
    /// The head when the last compaction was decided, or zero.
    public var decidedAt: SequenceNumber
    /// Where the act of each rewrite stands that dropped or redacted events, in their order.
    public var acts: [SequenceNumber]
    /// What rewrites stored beside the events, by name.
    public var facts: [String: [UInt8]]
    /// What recorders stored to resume from, by source.
    public var bookmarks: [String: [UInt8]]
    /// Whether some of the events are missing in what follows: a part of a log.
    public var isPart = false

    /// Makes a header.
    public init(
        identity: [UInt8],
        size: UInt64,
        root: Hash256,
        decidedAt: SequenceNumber = .zero,
        acts: [SequenceNumber] = [],
        facts: [String: [UInt8]] = [:],
        bookmarks: [String: [UInt8]] = [:]
    ) {
        self.identity = identity
        self.size = size
        self.root = root
        self.decidedAt = decidedAt
        self.acts = acts
        self.facts = facts
        self.bookmarks = bookmarks
    }
}

/// A run of dropped events: what is left of them.
public struct DroppedRun: Hashable, Sendable {
    /// The first of them.
    public var first: SequenceNumber
    /// The leaf hash of each, in order; at most 1,000.
    public var leafHashes: [Hash256]
    /// Which rewrite dropped them, from 1.
    public var rewrite: UInt32
    /// The greatest recordedAt of the remote changes among them; `nil` where there is none.
    public var clock: Timestamp?
    /// Where a multiple of 256 lies among them and is not the last: the log's clock there.
    public var clockAtNode: Timestamp?

    /// Makes a run.
    public init(
        first: SequenceNumber,
        leafHashes: [Hash256],
        rewrite: UInt32,
        clock: Timestamp?,
        clockAtNode: Timestamp? = nil
    ) {
        self.first = first
        self.leafHashes = leafHashes
        self.rewrite = rewrite
        self.clock = clock
        self.clockAtNode = clockAtNode
    }
}

/// Events that a part lacks: the root of an aligned subtree of their leaves.
public struct MissingRun: Hashable, Sendable {
    /// The first of them: one more than a multiple of their number.
    public var first: SequenceNumber
    /// There are 2^level of them, at most 256.
    public var level: Int
    /// The root of the subtree; at level 0 the leaf hash.
    public var hash: Hash256

    /// The greatest level: a run lies within one stored node of the tree.
    public static let levelMax = TreeNode.level

    /// Makes a run.
    public init(first: SequenceNumber, level: Int, hash: Hash256) {
        (self.first, self.level, self.hash) = (first, level, hash)
    }

    /// The last of them.
    public var last: SequenceNumber { SequenceNumber(first.rawValue &+ (1 << UInt64(level)) &- 1) }
}

/// One piece of a whole log, in the order in which they make it: events and dropped runs by sequence, then the keys.
public enum LogPiece: Sendable {
    /// A held event.
    case event(RecordedEvent)
    /// Dropped events.
    case dropped(DroppedRun)
    /// Events that a part lacks.
    case missing(MissingRun)
    /// Keys of dropped events: entries as in the table `keys` (`docs/format.md`), ascending, at most 168.
    case keys([UInt8])
}
