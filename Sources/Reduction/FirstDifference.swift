package import EventLog
package import Projections

/// The first event after which two readings differ, and its changes in each. Issues do not count, because no client
/// shows them.
///
/// Not a bisection: readings may part and meet again, and the first event is asked for.
package struct FirstDifference {
    /// What a search finds.
    package enum Result {
        case first(FirstDifference)
        /// After every event both have the same things; at the end the messages of these channels stand in another order.
        case none(reordered: [EntityReference])
    }

    package let event: Envelope
    /// The changes that the event made in each reading, in the order of the readings.
    package let changes: [[StateDifference]]

    /// Folds both readings side by side, event by event.
    ///
    /// Before the first difference all rows are the same, so comparing the rows that each event touches is enough.
    /// Digests would not do: in a reading that lists messages as they arrive, they also cover the order.
    ///
    /// Cost: each event is folded twice, and in both states the rows that it touches are made.
    ///
    /// - Returns: without an event after which they differ, the channels whose messages stand in another order at the end;
    ///   which event moved them is not looked for.
    /// - Throws: `EngineError` if they differ before the first event that both can fold.
    package static func find(
        _ sides: [(store: EventStore, options: ReplayOptions, end: SequenceNumber)],
        report: (_ place: SequenceNumber, _ end: SequenceNumber) -> Void
    ) throws -> Result {
        // Beyond the shorter one there is nothing to compare.
        guard let end = sides.map(\.end).min() else { return .none(reordered: []) }
        // States before the last compaction can no longer be folded.
        let decided = try sides.map { try $0.store.read { $0.decidedAt } }.max() ?? .zero
        var place = min(decided, end)
        var states = try sides.map { side in
            Optional(try side.store.read { try Replay.logState(of: $0, through: place, options: side.options) })
        }
        try checkThatAllIsTheSame(&states, at: place)
        while place < end {
            place = SequenceNumber(place.rawValue + 1)
            var touched: Set<EntityReference> = []
            for index in states.indices {
                states[index] = try advance(states[index].take(), sides[index].store, sides[index].options, to: place) {
                    touched.formUnion($1.touched(by: $0))
                }
            }
            if let one = states[0], let other = states[1], touched.contains(where: { rows($0, one) != rows($0, other) })
            {
                return .first(try firstDifference(at: place, sides))
            }
            // Not for each event: a report takes a lock.
            if place.rawValue % 1_024 == 0 {
                report(place, end)
            }
        }
        guard let one = states[0], let other = states[1] else { return .none(reordered: []) }
        let differences = StateDiff.differences(one, other).filter { $0.entity.kind != .issue }
        return .none(reordered: differences.map(\.entity))
    }

    /// Folds one event into a state. The caller gives up its reference, so the fold copies nothing. It does not decode
    /// ahead, which costs more than one event.
    private static func advance(
        _ state: LogState?,
        _ store: EventStore,
        _ options: ReplayOptions,
        to place: SequenceNumber,
        _ observe: @escaping (Envelope, LogState) -> Void
    ) throws -> LogState? {
        guard let state else { return nil }
        var options = options
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
            throw EngineError(
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
        _ sides: [(store: EventStore, options: ReplayOptions, end: SequenceNumber)]
    ) throws -> FirstDifference {
        var event: Envelope?
        let changes = try sides.map { side in
            var own: [StateDifference] = []
            try side.store.read { session in
                try Replay.steps(of: session, in: sequence...sequence, options: side.options) {
                    envelope,
                    changes in
                    (event, own) = (event ?? envelope, changes)
                    return true
                }
            }
            return own
        }
        guard let event else { throw EngineError("diff --first: event \(sequence) is not held any more") }
        return FirstDifference(event: event, changes: changes)
    }
}
