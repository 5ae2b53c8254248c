import EventLog
import Kinds

/// The state of one source: its decoders' memory and its folds.
///
/// Sources never touch each other's state, so handles of ids are valid within one source only. A value without locks,
/// changed by one thread: events are applied one after another, each between `begin` and `finish`.
struct SourceState: Sendable {
    let name: SourceName
    /// Made once, as each message's digest key begins with it.
    let digestKeyStarts: DigestKeyStarts
    /// The names of all handles, and the scratch values of the event being applied, valid until the next `begin`.
    var context: FoldContext
    /// The greatest `recordedAt` of the source's remote changes so far; `nil` before the first. Judges what has ended
    /// (I10).
    var clock: Timestamp?
    /// The greatest time that the remote itself gave for a change in the events applied; `nil` if it gave none.
    var seenRemoteClock: Timestamp?
    /// The remote clock at the last compaction, which the events that it dropped decide, too; `nil` without facts.
    var toldRemoteClock: Timestamp?
    /// The greatest time that the remote itself gave for a change so far, in a dropped event, too; `nil` if it gave
    /// none. For points in a log and for the list of sources; no row of the document contains it.
    var remoteClock: Timestamp? { [seenRemoteClock, toldRemoteClock].compactMap { $0 }.max() }
    var issues = IssueList()

    var parts = SourceParts()

    /// The rules for the whole log. Each event is read by those for its family.
    let rules: ReadingRules
    /// The rules for the frames of gateways.
    let frameRules: ReadingRules
    /// The client that reads by the rules; `nil` for the canonical reading.
    var client: (any Client)?
    /// All rules by which an event of this source was read. Rows are made with them: empty for the canonical reading,
    /// and for sources that the rules do not concern.
    var rowRules: ReadingRules = .canonical
    /// The kind of the last event, and its family: most events of a source are of one kind.
    private var lastKind: (kind: EventKind, family: EventFamily)?
    /// The changes of the event being applied, in the order in which the folds receive them.
    var changes: [Change] = []

    init(name: SourceName, rules: ReadingRules = .canonical) {
        self.name = name
        digestKeyStarts = DigestKeyStarts(name)
        self.rules = rules
        frameRules = rules.forEvents(of: .gateway)
        client = rules.client?.init()
        context = FoldContext(
            names: Names(),
            event: EventReference(sequence: .zero, recordedAt: Timestamp(seconds: 0))
        )
    }

    /// Applies one event of this source, on the general way. Afterwards `context.touched` contains the rows that it may
    /// have changed. All changes are decoded before the first is applied.
    mutating func apply(_ envelope: Envelope, payload: UnsafeRawBufferPointer) {
        begin(EventReference(sequence: envelope.sequence, recordedAt: envelope.recordedAt))
        decode(envelope, payload: payload)
        if let family = lastKind?.family, family == .gateway || family == .gatewayAnswer { bringHome() }
        let said = spreadChanges()
        finish(remoteTime: context.remoteTime ?? said)
    }

    /// Applies changes as if one event had brought them. The remote's clock does not move.
    mutating func apply(_ given: [Change], at event: EventReference) {
        begin(event)
        for change in given { spread(change) }
        finish(remoteTime: context.remoteTime)
    }

    /// Begins an event: sets the clocks and the context, and clears what the previous event left.
    mutating func begin(_ event: EventReference) {
        clock = max(clock ?? event.recordedAt, event.recordedAt)
        context.event = event
        parts.gateway.connections.now = event.recordedAt
        // Clearing costs time even for an empty array, and nearly all events leave these empty.
        if !context.touched.isEmpty { context.touched.removeAll(keepingCapacity: true) }
        if !context.reasons.isEmpty { context.reasons.removeAll(keepingCapacity: true) }
        if !changes.isEmpty { changes.removeAll(keepingCapacity: true) }
        context.remoteTime = nil
    }

    /// Ends an event: raises the remote clock and moves the context's issues into `issues`.
    mutating func finish(remoteTime: Timestamp?) {
        if let remoteTime { seenRemoteClock = max(seenRemoteClock ?? remoteTime, remoteTime) }
        for reason in context.reasons { issues.append(reason, at: context.event.sequence) }
    }

    /// The family of an event's kind.
    mutating func family(of kind: EventKind) -> EventFamily {
        if let lastKind, lastKind.kind == kind { return lastKind.family }
        let family = EventFamily(kind: kind)
        lastKind = (kind, family)
        return family
    }

    /// Gives a deletion or reaction the channel in which its message is. Its event then names nothing else: a channel or guild
    /// does not come into being by being named with a message of another one, so a compaction need not keep the event for it.
    private mutating func bringHome() {
        for place in changes.indices {
            guard case .message(let change) = changes[place], !change.isWritten,
                let home = parts.messages.home(of: change)
            else { continue }
            // A dispatch is about one message.
            changes = [.message(change.inChannel(home))]
            return
        }
    }

    /// Gives the changes of the event to every fold, one after another, and keeps none. The greatest time that the remote gave for
    /// one of them; `nil` if it gave none.
    private mutating func spreadChanges() -> Timestamp? {
        var said: Timestamp?
        // Taken from the end, so that no change is copied.
        if changes.count > 1 { changes.reverse() }
        let isSeen = !context.rules.isEmpty && context.rules.areGeneric
        while let change = changes.popLast() {
            if let time = change.remoteTime { said = max(said ?? time, time) }
            if isSeen { spreadSeen(change) } else { spread(change) }
        }
        return said
    }

    /// Gives every fold what a client makes of one change.
    private mutating func spreadSeen(_ change: Change) {
        // Lent for this call alone, since a fold that is held twice is copied when it changes.
        let seen = parts.genericClient.seen(
            change,
            in: GenericClient.Folds(messages: parts.messages, items: parts.items),
            context: &context
        )
        for change in seen { spread(change) }
    }

    /// Gives one change to every fold.
    mutating func spread(_ change: consuming Change) {
        parts.spread(change, in: &context)
    }
}
