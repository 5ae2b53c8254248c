import EventLog

/// The retained state of a log in parts, gathered from the states of all shares of its channels (I13). Contains the
/// messages' hashes and sequences, not the messages.
struct Retention {
    private let policy: RetentionPolicy
    /// The head at which the compaction is decided.
    private let decidedAt: SequenceNumber
    /// Figures of the state before and of the retained state.
    private var before = CompactionFigures()
    private var after = CompactionFigures()
    private var form = NormalForm()
    /// The retained state, if one share is the whole.
    private var whole: LogState?
    /// The sequences of the events that the retained state needs.
    private(set) var needed = SequenceSet()
    private var isFirst = true
    /// The digest of the state before; `nil` if it is still to be made from the rows.
    private let digestBefore: Hash256?

    init(_ policy: RetentionPolicy, decidedAt: SequenceNumber, digestBefore: Hash256?) {
        (self.policy, self.decidedAt, self.digestBefore) = (policy, decidedAt, digestBefore)
    }

    /// Takes the state of the next share and reduces it to what is retained.
    mutating func add(_ state: inout LogState) {
        if isFirst, digestBefore == nil { Self.addOthers(of: state, to: &before) }
        for index in state.sources.indices { drop(from: &state.sources[index], at: state.clock) }
        if isFirst {
            state.retainOthers(policy)
            needed = state.neededSequences
        } else {
            for source in state.sources { source.parts.messages.collectNeeded(into: &needed) }
        }
        for source in state.sources {
            after.add(source.changedSlices() + [LeafSlice(source.orderLeaves())])
        }
        isFirst = false
        // The hashes of the messages are made only if something is dropped, which one share alone does not tell.
        if state.share == .whole { whole = state } else { form.add(&state) }
    }

    /// Drops messages of a source, and adds to the figures what their rows were and which of them stay as they are.
    private mutating func drop(from source: inout SourceState, at clock: Timestamp?) {
        let places = GroupedPlaces(source.parts.messages, source.context.names)
        let isKept = source.parts.messages.kept(
            by: policy.channels(of: source.name, at: clock),
            places,
            source.context.names
        )
        let counts = source.parts.messages.compactionCounts(keeping: isKept)
        before.add(counts.all, of: source, places) { _ in true }
        after.add(counts.kept, of: source, places) { isKept[$0] }
        let slices = source.messageSlices(keeping: isKept, withOthers: digestBefore == nil)
        if digestBefore == nil {
            before.add([LeafSlice(source.orderLeaves())])
            before.add(slices.map(\.unchanged))
            before.add(slices.map(\.others))
        }
        after.add(slices.map(\.unchanged))
        source.parts.messages.keep(isKept, CompactionDecision(head: decidedAt, clock: clock))
    }

    /// Adds the rows that are no messages. Only the state of the first share has them all.
    private static func addOthers(of state: LogState, to figures: inout CompactionFigures) {
        for source in state.sources { figures.add([LeafSlice(source.otherLeaves() + source.issueLeaves())]) }
    }

    /// What a rewrite stores beside the kept events, and the hash of the retained state's normal form.
    mutating func remains(keeping kept: SequenceSet) -> (facts: [UInt8], hash: Hash256) {
        if var state = whole.take() { form.add(&state) }
        let rest = form.rest ?? LogState()
        return (rest.facts(keeping: kept), form.hash)
    }

    /// The figures of the state before, with its digest.
    mutating func figuresBefore() -> CompactionFigures {
        before.makeDigest(known: digestBefore)
        return before
    }

    /// The figures of the retained state, with its digest. Must be called before `remains`.
    mutating func figuresAfter() -> CompactionFigures {
        if let rest = whole ?? form.rest { Self.addOthers(of: rest, to: &after) }
        after.makeDigest()
        return after
    }
}

/// The normal form of a state, gathered from the states of all shares of its channels. Equals `normalFormHash` of the
/// whole state.
struct NormalForm {
    /// The state of the first share without its messages, but with all that compactions dropped.
    private(set) var rest: LogState?
    private var messages: [SourceName: [UInt128]] = [:]

    /// Takes the state of the next share and removes its messages.
    mutating func add(_ state: inout LogState) {
        for index in state.sources.indices {
            let source = state.sources[index]
            messages[source.name, default: []] += source.parts.messages.store.normalFormHashes(source.context.names)
            state.sources[index].parts.messages.removeMessages()
        }
        if rest == nil {
            rest = state
        } else {
            rest?.addDropped(of: state)
        }
    }

    var hash: Hash256 {
        (rest ?? LogState()).normalFormHash(messages.map { (source: $0.key, hashes: $0.value) })
    }
}

extension LogState {
    /// Adds the messages that compactions dropped from another share's state. Its sources are some of these, perhaps in
    /// another order.
    fileprivate mutating func addDropped(of other: LogState) {
        for source in other.sources {
            guard let index = indexes[source.name] else { continue }
            sources[index].parts.messages.compacted.formUnion(source.parts.messages.compacted)
        }
    }
}
