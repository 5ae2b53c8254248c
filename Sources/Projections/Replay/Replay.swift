public import EventLog

/// Which events a replay folds, and how.
public struct ReplayOptions: Sendable {
    /// Whose reading the replay follows. Setting it sets `rules`.
    public var profile: Profile = .canonical {
        didSet { rules = profile.rules }
    }
    /// How events are read otherwise than the remotes meant them; those of the profile, unless set by themselves.
    public var rules: ReadingRules = []
    /// Only events of these sources; all if `nil`.
    public var sources: Set<SourceName>?
    /// Events that are passed over as if they had never arrived.
    public var without: Set<SequenceNumber> = []
    /// Whether a second thread may fold while the first one reads; the state is the same.
    public var decodesAhead = true
    /// Whether a point before the last compaction may be folded from what is left.
    public var retained = false
    /// Whether each event is held against its leaf hash before it is folded, and the leaf hashes against the tree; then no kept
    /// state is used.
    public var checks = false
    /// Which kept states a replay without an observer may begin from, and keeps more of; none if `nil`.
    public var snapshots: SnapshotOptions?
    /// Whether issues are condensed as they come: for a compaction, whose memory they would fill.
    var condensesIssues = false
    /// How many events are folded before it is asked whether a state is to be kept.
    var chunkEvents: UInt64 = 16_384

    /// Makes options for a canonical replay of everything.
    public init() {}

    /// The kept states that a replay may begin from; `nil` where none are wanted.
    var keptStates: Snapshots? {
        snapshots.map {
            let readsAll = sources == nil && without.isEmpty
            return Snapshots($0, rules: rules, keeps: readsAll, before: without.min() ?? SequenceNumber(.max))
        }
    }
}

/// Drives the folds over a log.
public enum Replay {
    /// The name under which a compaction stores what no kept event says.
    public static let factName = Workspace.factName

    /// The state at a sequence.
    ///
    /// - Parameters:
    ///   - session: What is read from; the state does not keep it.
    ///   - point: The last event to fold; `nil` for the head.
    ///   - options: Which events are folded, and how.
    ///   - observe: Called after each event, acts included, with the state so far; returns false to stop.
    ///   - progress: Called now and then with the last event that was folded.
    /// - Throws: `ProjectionError.compactedAway` where the point lies before the last compaction and `retained` is not
    ///   asked for; `EventLogError` where the log cannot be read, or an event is checked and not as it was appended.
    public static func workspace(
        of session: borrowing ReadSession,
        through point: SequenceNumber? = nil,
        options: ReplayOptions = ReplayOptions(),
        observe: ((_ event: Envelope, inout Workspace) throws -> Bool)? = nil,
        progress: ((SequenceNumber) -> Void)? = nil
    ) throws -> Workspace {
        let last = point ?? session.head
        try refusePointBeforeCompaction(last, session: session, options: options)
        if options.checks { _ = try session.checkTree(through: last) }
        var snapshots = observe == nil && !options.checks ? options.keptStates : nil
        defer { snapshots?.finish() }
        var workspace =
            try snapshots?.nearest(through: last, in: session)
            ?? Workspace(before: session, rules: options.rules)
        try workspace.begin(session)
        workspace.condensesIssues = options.condensesIssues
        if let sources = options.sources { workspace.keepOnly(sources) }
        var run = ReplayRun(consume workspace, options, isObserved: observe != nil, count: last.rawValue)
        while run.sequence < last {
            let end = min(last, SequenceNumber(run.sequence.rawValue + options.chunkEvents))
            guard try run.fold(session, through: end, observe) else { break }
            if let due = snapshots?.isDue(at: end, folded: run.takeByteCount()), due {
                try run.withWorkspace { try snapshots?.keep(&$0, in: session) }
            }
            progress?(end)
        }
        return run.workspace
    }

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
                + "was dropped; give a point from \(decidedAt) on, or --retained to fold what is left"
        )
    }
}

extension ReplayOptions {
    func includes(_ source: SourceName, _ sequence: SequenceNumber) -> Bool {
        (sources?.contains(source) ?? true) && !without.contains(sequence)
    }
}
