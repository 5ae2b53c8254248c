import EventLog
import Projections

/// The first event after which two readings differ, and its changes in each. Issues do not count, because no client
/// shows them.
///
/// Not a bisection: readings may part and meet again, and the first event is asked for.
struct FirstDifference {
    let event: Envelope
    /// The changes that the event made in each reading, in the order of the readings.
    let changes: [[StateDifference]]

    /// Folds both readings side by side, event by event.
    ///
    /// Before the first difference all rows are the same, so comparing the rows that each event touches is enough.
    /// Digests would not do: in a reading that lists messages as they arrive, they also cover the order.
    ///
    /// Cost: each event is folded twice, and in both states the rows that it touches are made.
    ///
    /// - Returns: `nil` if both are the same after every event of the shorter one.
    /// - Throws: `Failure` if they differ before the first event that both can fold.
    static func find(_ stores: [EventStore], _ queries: [StateQuery], progress: Progress) throws -> FirstDifference? {
        let ends = try zip(stores, queries).map { store, query in
            try store.read { session in
                try query.checkNames(in: session)
                return try query.point?.resolve(in: session) ?? session.head
            }
        }
        // Beyond the shorter one there is nothing to compare.
        guard let end = ends.min() else { return nil }
        // States before the last compaction can no longer be folded.
        let decided = try stores.map { try $0.read { $0.decidedAt } }.max() ?? .zero
        var place = min(decided, end)
        var states = try zip(stores, queries).map { store, query in
            Optional(try store.read { try Replay.logState(of: $0, through: place, options: query.replayOptions) })
        }
        try checkThatAllIsTheSame(&states, at: place)
        while place < end {
            place = SequenceNumber(place.rawValue + 1)
            var touched: Set<EntityReference> = []
            for index in states.indices {
                states[index] = try advance(states[index].take(), stores[index], queries[index], to: place) {
                    touched.formUnion($1.touched(by: $0))
                }
            }
            if let one = states[0], let other = states[1], touched.contains(where: { rows($0, one) != rows($0, other) })
            {
                return try firstDifference(at: place, stores, queries)
            }
            // Not for each event: a report takes a lock.
            if place.rawValue % 1_024 == 0 {
                progress.report("comparing at \(place)", done: Int(place.rawValue), total: Int(end.rawValue))
            }
        }
        return nil
    }

    /// Folds one event into a state. The caller gives up its reference, so the fold copies nothing. It does not decode
    /// ahead, which costs more than one event.
    private static func advance(
        _ state: LogState?,
        _ store: EventStore,
        _ query: StateQuery,
        to place: SequenceNumber,
        _ observe: @escaping (Envelope, LogState) -> Void
    ) throws -> LogState? {
        guard let state else { return nil }
        var options = query.replayOptions
        options.decodesAhead = false
        return try store.read { session in
            try Replay.advance(state, over: session, through: place, options: options) {
                observe($0, $1)
                return true
            }
        }
    }

    /// Compares the two states from which the walk begins. Both whole documents are made, once, and only for a log that
    /// was compacted.
    private static func checkThatAllIsTheSame(_ states: inout [LogState?], at place: SequenceNumber) throws {
        guard place > .zero else { return }
        let documents = states.indices.compactMap { states[$0]?.document() }
        guard StateDiff.differences(documents[0], documents[1]).isEmpty else {
            throw Failure(
                "diff --first: the two differ before the first event that is held (\(place)); compare them there"
            )
        }
    }

    /// The rows that a state shows of a thing; empty if it has none.
    private static func rows(_ thing: EntityReference, _ state: LogState) -> [JSONValue] {
        state.document(of: thing).object?.members.compactMap { $0.value.array }.flatMap { $0 } ?? []
    }

    /// Folds the event once more, with its changes. A reading that skips it has none.
    private static func firstDifference(
        at sequence: SequenceNumber,
        _ stores: [EventStore],
        _ queries: [StateQuery]
    ) throws -> FirstDifference? {
        var event: Envelope?
        let changes = try zip(stores, queries).map { store, query in
            var own: [StateDifference] = []
            try store.read { session in
                try Replay.steps(of: session, in: sequence...sequence, options: query.replayOptions) {
                    envelope,
                    changes in
                    (event, own) = (event ?? envelope, changes)
                    return true
                }
            }
            return own
        }
        return event.map { FirstDifference(event: $0, changes: changes) }
    }
}

/// Prints the first difference of two readings.
struct FirstDifferencePrinter {
    let output: StandardOutput
    let form: ListForm

    func print(_ difference: FirstDifference?) throws {
        // One document has one line here, so `--json` and `--jsonl` are the same.
        guard form == .text else { return try output.line(Self.json(difference).text) }
        guard let difference else { return try output.line("the two are the same after every event") }
        let event = difference.event
        try output.line(output.style.text("first: event \(event.sequence)", .heading))
        let place = "\(TimeText.full(event.recordedAt))  \(event.source)  \(event.kind)"
        try output.line(DisplayText.escaped(place))
        for (name, changes) in zip(["a", "b"], difference.changes) {
            try output.line()
            try output.line(output.style.text("in \(name):", .heading))
            for change in changes { try DifferencePrinter(output: output).print(change) }
            if changes.isEmpty { try output.line(output.style.text("  changed nothing", .quiet)) }
        }
    }

    /// The document of `docs/cli-json.md`.
    private static func json(_ difference: FirstDifference?) -> JSONValue {
        guard let difference else { return .object(["same": .bool(true)]) }
        let changes = difference.changes.map { JSONValue.array($0.map { StateDiff.row(of: $0) }) }
        return .object([
            "same": .bool(false), "first": .string(difference.event.sequence.description),
            "event": .object(EventJSON.object(for: difference.event)), "a": changes[0], "b": changes[1],
        ])
    }
}
