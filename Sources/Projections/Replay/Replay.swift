public import EventLog

/// Which events a replay folds, and how.
public struct ReplayOptions: Sendable {
    /// The client's reading rules that the replay follows; empty for the canonical reading.
    public var rules: ReadingRules = .canonical
    /// Only events of these sources; all if `nil`. Other sources are not in the state then.
    public var sources: Set<SourceName>?
    /// Events that are passed over as if they had never arrived. No kept state behind the first of them is used.
    public var without: Set<SequenceNumber> = []
    /// Whether a second thread may fold while the first one reads; the state is the same.
    public var decodesAhead = true
    /// Whether a point before the last compaction may be folded from the events and facts that are left. The result is
    /// then no state that ever was.
    public var retained = false
    /// Whether each event is checked against its leaf hash before it is folded, and the leaf hashes against the tree
    /// (I7). Kept states are not used then.
    public var checks = false
    /// How a replay without an observer uses and keeps states beside the log; `nil` for neither. The state is the same
    /// (I19).
    public var keeping: KeptStateOptions?
    /// Whether issues are condensed as they come, so that they do not fill the memory of a compaction.
    var condensesIssues = false
    /// How many events are folded between two calls of `progress`; after each, a state may be due to be kept.
    var chunkEvents: UInt64 = 16_384

    /// Makes options for a canonical replay of everything.
    public init() {}

    /// The kept states that a replay may begin from; `nil` if `keeping` is.
    var keeper: KeptStateKeeper? {
        keeping.map {
            let readsAll = sources == nil && without.isEmpty
            return KeptStateKeeper($0, rules: rules, keeps: readsAll, before: without.min() ?? SequenceNumber(.max))
        }
    }
}

/// Drives the folds over a log. Each call reads one session on the calling thread; it may fold on a second one, but
/// never after it has returned.
public enum Replay {
    /// The name under which a compaction stores its facts.
    public static let factName = LogState.factName

    /// The state at a sequence. O(events since the nearest kept state, or all).
    ///
    /// - Parameters:
    ///   - session: The log to read; the state does not keep it.
    ///   - point: The last event to fold; `nil` for the head.
    ///   - options: Which events are folded, and how.
    ///   - observe: Called after each event, acts included, with the state so far; returns false to stop.
    ///   - progress: Called now and then with the last event that was folded.
    /// - Throws: `ProjectionError.compactedAway` if the point lies before the last compaction and `options.retained` is
    ///   not set; `EventLogError` if the log cannot be read, or a checked event is not as it was appended.
    public static func logState(
        of session: borrowing ReadSession,
        through point: SequenceNumber? = nil,
        options: ReplayOptions = ReplayOptions(),
        observe: ((_ event: Envelope, inout LogState) throws -> Bool)? = nil,
        progress: ((SequenceNumber) -> Void)? = nil
    ) throws -> LogState {
        let last = point ?? session.head
        try refusePointBeforeCompaction(last, session: session, options: options)
        if options.checks { _ = try session.checkTree(through: last) }
        // An observer must see every event, and a check must read every one.
        var keeper = observe == nil && !options.checks ? options.keeper : nil
        defer { keeper?.finish() }
        var logState: LogState
        if let kept = keeper?.nearest(through: last, in: session) {
            logState = kept
            // Kept states contain neither the key of their log nor its decoder files.
            try logState.begin(session)
        } else {
            logState = try LogState(before: session, rules: options.rules)
        }
        logState.condensesIssues = options.condensesIssues
        if let sources = options.sources { logState.keepOnly(sources) }
        var run = ReplayRun(consume logState, options, isObserved: observe != nil, count: last.rawValue)
        while run.sequence < last {
            let end = min(last, SequenceNumber(run.sequence.rawValue + options.chunkEvents))
            guard try run.fold(session, through: end, observe) else { break }
            if let due = keeper?.isDue(at: end, folded: run.takeByteCount()), due {
                try run.withLogState { try keeper?.keep(&$0, in: session) }
            }
            progress?(end)
        }
        var result = run.logState
        // An observer may have stopped before the last event.
        if observe == nil, let digest = keptDigest(through: last, in: session, options: options) {
            result.takeDigest(digest)
        }
        return result
    }

    /// Throws for a point before the last compaction, unless what is left may be folded: an earlier state needs dropped
    /// events.
    static func refusePointBeforeCompaction(
        _ point: SequenceNumber,
        session: borrowing ReadSession,
        options: ReplayOptions
    ) throws {
        let decidedAt = session.decidedAt
        guard point < decidedAt, !options.retained else { return }
        throw ProjectionError(
            .compactedAway,
            "replay to sequence \(point): the log was compacted at sequence \(decidedAt), and an earlier state needs what "
                + "was dropped; give a point from \(decidedAt) on, the archive of that compaction (--with-archive), or --retained to fold what is left"
        )
    }
}

extension ReplayOptions {
    /// Whether the replay folds an event.
    func includes(_ source: SourceName, _ sequence: SequenceNumber) -> Bool {
        (sources?.contains(source) ?? true) && !without.contains(sequence)
    }
}
