import EventLog

/// The state of one source: what its decoders remember, and every fold of it.
///
/// Sources never touch each other's state, so ids and handles are the source's own.
struct SourceState: Sendable {
    let name: SourceName
    let digestKeyStarts: DigestKeyStarts
    var context: FoldContext
    /// The greatest `recordedAt` of the source's remote changes so far.
    var clock: Timestamp?
    /// The greatest time that the source's remote itself has stated of a change so far.
    var remoteClock: Timestamp?
    var issues = IssueList()

    var parts = SourceParts()

    /// How the whole log is read; each event by those rules that are about events of its family.
    private let rules: ReadingRules
    /// The rules that any event of this source was read by.
    var rowRules: ReadingRules = []
    var changes: [Change] = []

    init(name: SourceName, rules: ReadingRules = []) {
        self.name = name
        digestKeyStarts = DigestKeyStarts(name)
        self.rules = rules
        context = FoldContext(
            names: Names(),
            event: EventReference(sequence: .zero, recordedAt: Timestamp(seconds: 0))
        )
    }

    /// Applies one event of this source. Afterwards `context.touched` names the rows that it may have changed.
    mutating func apply(_ envelope: Envelope, payload: UnsafeRawBufferPointer) {
        begin(EventReference(sequence: envelope.sequence, recordedAt: envelope.recordedAt))
        decode(envelope, payload: payload)
        for change in changes { spread(change) }
        finish()
    }

    /// Applies changes as if one event had brought them.
    mutating func apply(_ given: [Change], at event: EventReference) {
        begin(event)
        for change in given { spread(change) }
        finish()
    }

    mutating func begin(_ event: EventReference) {
        clock = max(clock ?? event.recordedAt, event.recordedAt)
        context.event = event
        parts.gateway.connections.now = event.recordedAt
        // Even to empty an empty array costs something, and nearly all events leave these empty.
        if !context.touched.isEmpty { context.touched.removeAll(keepingCapacity: true) }
        if !context.reasons.isEmpty { context.reasons.removeAll(keepingCapacity: true) }
        if !changes.isEmpty { changes.removeAll(keepingCapacity: true) }
        context.remoteTime = nil
    }

    private mutating func finish() {
        finish(remoteTime: context.remoteTime ?? changes.lazy.compactMap(\.remoteTime).max())
    }

    /// Takes down what the event at hand has left in the context.
    mutating func finish(remoteTime: Timestamp?) {
        if let remoteTime { remoteClock = max(remoteClock ?? remoteTime, remoteTime) }
        for reason in context.reasons { issues.append(reason, at: context.event.sequence) }
    }

    /// Reads one event after `begin`: what it means is in `changes` then.
    mutating func decode(_ envelope: Envelope, payload: UnsafeRawBufferPointer) {
        let family = EventFamily(kind: envelope.kind)
        context.rules = rules.forEvents(of: family)
        rowRules.formUnion(context.rules)
        if !context.rules.isEmpty, !parts.attention.reads(envelope, context.rules) { return }
        switch family {
        case .git: parts.commits.decode(envelope, payload: payload, into: &changes, context: &context)
        case .gateway: parts.gateway.decode(envelope, payload: payload, into: &changes, context: &context)
        case .items: parts.itemMessages.decode(envelope, payload: payload, into: &changes, context: &context)
        case .status: parts.statusFiles.decode(envelope, payload: payload, into: &changes, context: &context)
        case .oversize:
            parts.recorderGaps.readOversize(at: context.event)
            context.issue("a payload was too large to keep; its length and SHA-256 are in the event")
        case .realtime: parts.realtime.decode(envelope, payload: payload, into: &changes, context: &context)
        case .link:
            parts.gateway.decode(envelope, payload: payload, into: &changes, context: &context)
            parts.realtime.decode(envelope, payload: payload, into: &changes, context: &context)
            if !context.rules.isEmpty {
                parts.itemMessages.decode(envelope, payload: payload, into: &changes, context: &context)
            }
        case .gatewayAnswer: readAnswer(envelope, payload: payload)
        case .cloudRecords:
            parts.cloudRecords.decode(envelope, payload: payload, into: &changes, context: &context)
        case .gap: parts.recorderGaps.read(payload, context: &context)
        case .notice: if !context.rules.isEmpty { parts.commits.noteNotice(envelope) }
        case .unknown:
            context.issue("no decoder reads the kind \(envelope.kind)")
        }
    }

    /// Gives one change to every fold.
    mutating func spread(_ change: Change) {
        parts.spread(change, in: &context)
    }
}
