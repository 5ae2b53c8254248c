public import EventLog

/// The state of one log at one sequence: every source's folds together.
///
/// A value: copies are independent, and equal events give equal states, whatever process, machine or order of sources
/// they were folded in (I10).
public struct Workspace: Sendable {
    /// The last event that the state has seen, acts included.
    public internal(set) var sequence: SequenceNumber = .zero
    /// The greatest `recordedAt` of the remote changes seen, dropped ones included; `nil` before the first.
    public internal(set) var clock: Timestamp?

    var sources: [SourceState] = []
    var indexes: [SourceName: Int] = [:]
    var digestKeeper = DigestKeeper()
    /// Whether it is to be known afterwards which rows each event may have changed.
    var notesTouched = true {
        didSet { for index in sources.indices { sources[index].context.notesTouched = notesTouched } }
    }

    /// Whether issues are condensed as they come, as a compaction does afterwards.
    var condensesIssues = false {
        didSet { for index in sources.indices { sources[index].issues.condenses = condensesIssues } }
    }

    /// How events are read otherwise than the remotes meant them.
    let rules: ReadingRules
    /// Of the log that is folded.
    private var frameKey = FrameKey.none

    /// The state before the first event.
    ///
    /// - Parameter rules: How a client reads the events; none for what the remotes meant.
    public init(rules: ReadingRules = []) {
        self.rules = rules
    }

    /// The name under which a compaction stores what no kept event says.
    static let factName = "projections/1"

    /// The state before the first event that a log holds: it knows what a compaction has stored.
    init(before session: borrowing ReadSession, rules: ReadingRules = []) throws {
        try self.init(facts: session.fact(Self.factName), rules: rules)
        try begin(session)
    }

    /// Says which log is folded, before the next of its events is.
    mutating func begin(_ session: borrowing ReadSession) throws {
        frameKey = FrameKey(try session.identity())
        for index in sources.indices { sources[index].parts.gateway.connections.key = frameKey }
    }

    /// The sources, sorted by name.
    public var sourceNames: [SourceName] {
        sources.map(\.name).sorted()
    }

    /// Applies one event. Total: what cannot be decoded becomes an issue in the state.
    ///
    /// Events must come in sequence order. Acts change nothing but `sequence`.
    public mutating func apply(_ envelope: Envelope, payload: UnsafeRawBufferPointer) {
        guard rules.forEvents(of: .gateway).isEmpty, let frame = PlainFrame(envelope, payload: payload) else {
            return applyLong(envelope, payload: payload)
        }
        let event = EventReference(sequence: envelope.sequence, recordedAt: envelope.recordedAt)
        let index = sourceIndex(of: envelope.source)
        applyPlain(frame, event, source: index, connection: envelope.attributes["connection"])
    }

    /// Applies one event that is known to be no plain frame.
    mutating func applyLong(_ envelope: Envelope, payload: UnsafeRawBufferPointer) {
        sequence = envelope.sequence
        guard !envelope.isAct else { return }
        clock = max(clock ?? envelope.recordedAt, envelope.recordedAt)
        let index = sourceIndex(of: envelope.source)
        sources[index].apply(envelope, payload: payload)
        digestKeeper.note(sources[index].context.touched, source: index)
    }

    /// Applies one plain frame: as `apply`, without an envelope. `spot` is that of its message, where it is known.
    @inline(__always)
    mutating func applyPlain(
        _ frame: PlainFrame,
        _ event: EventReference,
        source index: Int,
        connection: String?,
        spot: MessageSpot? = nil
    ) {
        sequence = event.sequence
        if let known = clock, known >= event.recordedAt {} else { clock = event.recordedAt }
        sources[index].applyPlain(frame, event, connection: connection, spot: spot)
        digestKeeper.note(sources[index].context.touched, source: index)
    }

    /// Applies one event that was copied out of a log.
    public mutating func apply(_ event: RecordedEvent) {
        event.payload.withUnsafeBytes { apply(event.envelope, payload: $0) }
    }

    /// What could not be made sense of, by sequence, then source.
    public var issues: [(source: SourceName, issue: Issue)] {
        sources.flatMap { source in source.issues.rows.map { (source.name, $0) } }
            .sorted { ($0.1.sequence, $0.0) < ($1.1.sequence, $1.0) }
    }

    func state(of source: SourceName) -> SourceState? {
        indexes[source].map { sources[$0] }
    }

    mutating func sourceIndex(of name: SourceName) -> Int {
        if let index = indexes[name] { return index }
        indexes[name] = sources.count
        sources.append(SourceState(name: name, rules: rules))
        sources[sources.count - 1].context.notesTouched = notesTouched
        sources[sources.count - 1].parts.gateway.connections.key = frameKey
        sources[sources.count - 1].issues.condenses = condensesIssues
        return sources.count - 1
    }
}
