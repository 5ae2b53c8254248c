/// Everything of a log beside its events: enough to make the same log again from them.
public struct LogHeader: Hashable, Sendable {
    /// The sixteen bytes that identify the log.
    public var identity: [UInt8]
    /// How many sequences the log has, those of dropped and missing events included.
    public var size: UInt64
    /// The root over all of them.
    public var root: Hash256
    /// The head when the last compaction was decided, or zero.
    public var decidedAt: SequenceNumber
    /// The sequence of each rewrite's act, in the order of the rewrites.
    public var acts: [SequenceNumber]
    /// What rewrites stored beside the events, by name; empty in a part.
    public var facts: [String: [UInt8]]
    /// In an archive, the facts from before the compaction, each as a Zstandard frame that refers to the one that the compaction left
    /// under the same name.
    var factPatches: [String: [UInt8]] = [:]
    /// What recorders stored to resume from, by source; empty in a part and in an archive. No hash covers them.
    public var bookmarks: [String: [UInt8]]
    /// What the pieces are of the log.
    public var what = What.log

    /// What pieces are of a log.
    public enum What: String, Sendable {
        /// All that it has.
        case log
        /// Some of its events, and hashes of subtrees in place of the others.
        case part
        /// What one compaction dropped: a part with those events, and what gives the facts and `decidedAt` from before it.
        case archive
    }

    /// Whether the log is a part: the pieces may lack some of its events.
    var isPart: Bool { what == .part }

    /// The header of the part that an archive is, if nothing is known of the log that it belongs to.
    public var asPart: LogHeader {
        var part = self
        (part.what, part.facts, part.factPatches, part.bookmarks, part.decidedAt) = (.part, [:], [:], [:], .zero)
        return part
    }

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

/// The remains of a run of dropped events.
public struct DroppedRun: Hashable, Sendable {
    /// The first of them.
    public var first: SequenceNumber
    /// The leaf hash of each, in order; at most 1,000.
    public var leafHashes: [Hash256]
    /// The number of the rewrite that dropped them, counted from 1.
    public var rewrite: UInt32
    /// The greatest `recordedAt` of the remote changes among them; `nil` if there are none.
    public var clock: Timestamp?
    /// The log's clock at the multiple of 256 among them; `nil` without one, or if it is the last of them, whose time
    /// `clock` is.
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
    /// The first of them. It is one more than a multiple of their number.
    public var first: SequenceNumber
    /// The level of the subtree: the run has 2^level events, at most 256.
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

/// One piece of a log. Pieces come in order: events and runs by sequence, then the keys.
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
