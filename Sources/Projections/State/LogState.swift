public import EventLog
import Kinds

/// The state of one log at one sequence: the states of all its sources.
///
/// A value: copies are independent, and equal events give equal states in every process and on every machine (I10). A
/// copy shares memory until either changes.
public struct LogState: Sendable {
    /// The last event that the state has seen, acts included.
    public internal(set) var sequence: SequenceNumber = .zero
    /// The greatest `recordedAt` of the remote changes seen, dropped ones included; `nil` before the first.
    public internal(set) var clock: Timestamp?

    /// The states of the sources, in the order in which their first events came; documents sort them by name.
    var sources: [SourceState] = []
    /// The index of each source in `sources`.
    var indexes: [SourceName: Int] = [:]
    /// Of a state of some channels alone, the channel of each of `sources`, which is right only for it (I21), and of which several
    /// may have one name; empty for a whole state.
    var onlyChannels: [EntityID] = []
    /// The index that `sourceIndex` found last.
    private var latestIndex = 0
    var digestKeeper = DigestKeeper()
    /// Whether each event notes the rows that it may have changed. Costs time at each event, so a replay without an
    /// observer and without a trie turns it off; the digest is then made of all rows.
    var notesTouched = true {
        didSet { for index in sources.indices { sources[index].context.notesTouched = notesTouched } }
    }

    /// Whether issues are condensed as they come, as a compaction does afterwards, so that they do not fill the memory.
    var condensesIssues = false {
        didSet { for index in sources.indices { sources[index].issues.condenses = condensesIssues } }
    }

    /// The channels whose messages the state takes. Only compactions set it, before the first event.
    var share = ChannelShare.whole {
        didSet {
            for index in sources.indices {
                sources[index].parts.messages.store.share = share
                setRepeats(at: index)
            }
        }
    }

    /// The repeats among the frames of each source, if an earlier fold of the same events has found them: they are then
    /// not looked for. Only compactions set it, before the first event.
    var knownRepeats: [SourceName: SequenceSet]? {
        didSet { for index in sources.indices { setRepeats(at: index) } }
    }

    /// The client's reading rules; empty for the canonical reading (I16).
    let rules: ReadingRules
    /// The decoder files in force. Not saved; see `begin`.
    package private(set) var decoders = Decoders()
    /// The key of the log that is folded, for finding repeated frames (I26). Not saved; see `begin`.
    private var frameKey = FrameKey.none
    /// The key under which repeated frames are found; `nil` if the repeats are known, so that no frame need be hashed.
    var hashingKey: FrameKey? { knownRepeats == nil ? frameKey : nil }

    /// Whether the events are some of a log's, not all: a commit whose parents are not among them then follows the commit
    /// before it.
    private let isPart: Bool

    /// The state before the first event.
    ///
    /// - Parameter rules: a client's reading rules; none for the canonical reading.
    public init(rules: ReadingRules = .canonical) {
        self.rules = rules
        isPart = false
    }

    /// The state before the first of some events of a log. What it shows is what these events alone say.
    package init(ofPart isPart: Bool) {
        rules = .canonical
        self.isPart = isPart
    }

    /// The name under which a compaction stores the facts.
    static let factName = "projections/1"

    /// The state before the first event of a log, with the facts that a compaction has stored. Reads the log.
    ///
    /// - Throws: `ProjectionError.damagedFacts`, or `EventLogError` if the log cannot be read.
    init(before session: borrowing ReadSession, rules: ReadingRules = .canonical) throws {
        try self.init(facts: session.fact(Self.factName), decidedAt: session.decidedAt, rules: rules)
        try begin(session)
    }

    /// Sets the log that is folded. Must be called before its next event is applied, also for a state that was loaded:
    /// hashes of frames under another key find no repeat.
    mutating func begin(_ session: borrowing ReadSession) throws {
        frameKey = FrameKey(try session.identity())
        for index in sources.indices { sources[index].parts.frameKey = frameKey }
        use(try Decoders(inForce: session))
    }

    /// Sets the decoder files by which the next events are read.
    package mutating func use(_ decoders: Decoders) {
        self.decoders = decoders
        for index in sources.indices { sources[index].parts.use(decoders, for: sources[index].name) }
    }

    /// The sources, sorted by name.
    public var sourceNames: [SourceName] {
        sources.map(\.name).sorted()
    }

    /// Applies one event. Total: what cannot be decoded becomes an issue in the state (I11).
    ///
    /// Events must come in sequence order. Acts change nothing but `sequence`. Copies what it keeps of the payload.
    public mutating func apply(_ envelope: Envelope, payload: UnsafeRawBufferPointer) {
        guard rules.takesPlainFrames, let frame = PlainFrame(envelope, payload: payload) else {
            return applyLong(envelope, payload: payload)
        }
        let event = EventReference(sequence: envelope.sequence, recordedAt: envelope.recordedAt)
        let index = sourceIndex(of: envelope.source)
        applyPlain(frame, event, source: index, connection: envelope.attributes["connection"])
    }

    /// Applies one event on the long way, which reads every kind, plain frames included.
    mutating func applyLong(_ envelope: Envelope, payload: UnsafeRawBufferPointer) {
        sequence = envelope.sequence
        guard !envelope.isAct else { return }
        clock = max(clock ?? envelope.recordedAt, envelope.recordedAt)
        let index = sourceIndex(of: envelope.source)
        sources[index].apply(envelope, payload: payload)
        digestKeeper.note(sources[index].context.touched, source: index)
    }

    /// Applies one plain frame with the result of `apply`, without an envelope. `lookup` is its message's lookup, if known.
    @inline(__always)
    mutating func applyPlain(
        _ frame: PlainFrame,
        _ event: EventReference,
        source index: Int,
        connection: String?,
        lookup: MessageLookup? = nil
    ) {
        sequence = event.sequence
        // Written only if it grows: this is the path of nearly all events.
        if let known = clock, known >= event.recordedAt {} else { clock = event.recordedAt }
        sources[index].applyPlain(frame, event, connection: connection, lookup: lookup)
        digestKeeper.note(sources[index].context.touched, source: index)
    }

    /// Applies one event that was copied out of a log.
    public mutating func apply(_ event: RecordedEvent) {
        event.payload.withUnsafeBytes { apply(event.envelope, payload: $0) }
    }

    /// The issues, by sequence, then source. O(n log n).
    public var issues: [(source: SourceName, issue: Issue)] {
        sources.flatMap { source in source.issues.rows.map { (source.name, $0) } }
            .sorted { ($0.1.sequence, $0.0) < ($1.1.sequence, $1.0) }
    }

    /// Gives the known repeats to a source. A fold of one share notes those that it finds, for the folds of the others.
    private mutating func setRepeats(at index: Int) {
        sources[index].parts.gateway.connections.knownRepeats = knownRepeats.map { $0[sources[index].name] ?? [] }
        sources[index].parts.gateway.connections.foundRepeats = share == .whole ? nil : []
    }

    func state(of source: SourceName) -> SourceState? {
        indexes[source].map { sources[$0] }
    }

    /// The index of a source, which is added with the settings of this state if it is new.
    mutating func sourceIndex(of name: SourceName) -> Int {
        // Most events follow one of the same source.
        if latestIndex < sources.count, sources[latestIndex].name == name { return latestIndex }
        if let index = indexes[name] {
            latestIndex = index
            return index
        }
        indexes[name] = sources.count
        sources.append(SourceState(name: name, rules: rules))
        sources[sources.count - 1].context.notesTouched = notesTouched
        sources[sources.count - 1].parts.frameKey = frameKey
        sources[sources.count - 1].parts.use(decoders, for: name)
        sources[sources.count - 1].parts.commits.isPart = isPart
        sources[sources.count - 1].issues.condenses = condensesIssues
        sources[sources.count - 1].parts.messages.store.share = share
        setRepeats(at: sources.count - 1)
        return sources.count - 1
    }
}
