package import EventLog

/// One event with what it changed.
package struct StateStep: Sendable {
    /// The event.
    package let event: Envelope
    /// What it changed, as `Replay.steps` gives it.
    package let differences: [StateDifference]
    /// For each live message among the differences the text that `LogState.order(of:)` gives.
    package let orders: [EntityReference: String]
}

/// Walks on through a log, stretch by stretch, and keeps the two states that this takes for the next one.
///
/// A walk of which a stretch failed must not be used again. Memory: two states, which are one until the first stretch.
package struct StepWalk: Sendable {
    /// Both have folded the same events between two stretches.
    private var before: LogState
    private var after: LogState

    /// - Parameter state: The state before the first stretch, folded with the options of each `stretch`.
    package init(from state: consuming LogState) {
        before = state
        after = before
    }

    /// The last event folded.
    package var sequence: SequenceNumber { before.sequence }

    /// Lends the state.
    package func withState<Result>(_ body: (borrowing LogState) throws -> Result) rethrows -> Result {
        try body(before)
    }

    /// The steps behind the state up to a point.
    ///
    /// Cost: O(touched rows) for each event, besides folding it twice. Memory: the touched rows of the stretch.
    ///
    /// - Parameters:
    ///   - last: The last event of the stretch.
    ///   - body: Gets the state before the stretch, and the things that it touches, with their orders at its end as far as they
    ///     are live messages.
    /// - Throws: `EventLogError` if the log cannot be read; what `body` throws.
    package mutating func stretch<Before>(
        through last: SequenceNumber,
        over session: borrowing ReadSession,
        options: ReplayOptions,
        before body: (borrowing LogState, _ touched: [EntityReference: String?]) throws -> Before
    ) throws -> (before: Before, steps: [StateStep]) {
        guard before.sequence < last else { return (try body(before, [:]), []) }
        let range = before.sequence.next...last
        var (told, touched): ([ToldStep], [EntityReference: String?]) = ([], [:])
        try session.forEachEvent(in: range) { event in
            guard options.includes(event.source, event.sequence) else { return true }
            let envelope = event.envelope
            event.withPayload { after.apply(envelope, payload: $0) }
            let step = ToldStep(envelope, after)
            for row in step.rows {
                if let thing = row.reference { touched.updateValue(step.orders[thing], forKey: thing) }
            }
            told.append(step)
            return true
        }
        let result = try body(before, touched)
        var steps: [StateStep] = []
        var place = 0
        try session.forEachEvent(in: range) { event in
            guard options.includes(event.source, event.sequence), place < told.count else { return true }
            steps.append(told[place].step(from: before))
            place += 1
            let envelope = event.envelope
            event.withPayload { before.apply(envelope, payload: $0) }
            return true
        }
        return (result, steps)
    }
}

/// What an event left behind, before it is known what it found.
private struct ToldStep {
    let event: Envelope
    let rows: [RowName]
    let orders: [EntityReference: String]
    /// The rows behind the event.
    private let document: JSONValue
    /// Of rows that are not compared whole, what the event found.
    private let partsBefore: [RowName: JSONObject]
    private let issues: [StateDifference]

    /// - Parameter after: The state of which the event is the last one.
    init(_ event: Envelope, _ after: borrowing LogState) {
        self.event = event
        rows = after.touchedRows(by: event)
        var (parts, partsBefore, orders): ([RowName: JSONObject], [RowName: JSONObject], [EntityReference: String]) =
            ([:], [:], [:])
        for row in rows {
            if let part = after.part(of: row, at: event.sequence) {
                (parts[row], partsBefore[row]) = (part.after, part.before)
            }
            guard row.section.isOfMessages, let thing = row.reference else { continue }
            if let order = after.order(of: thing) { orders[thing] = order }
        }
        document = after.document(of: rows) { parts[$0] }
        (self.partsBefore, self.orders) = (partsBefore, orders)
        issues = after.newIssues(of: event)
    }

    /// - Parameter before: The state that the event found.
    func step(from before: borrowing LogState) -> StateStep {
        let differences =
            StateDiff.differences(before.document(of: rows) { partsBefore[$0] }, document) + issues
        let messages = Set(differences.map(\.entity))
        return StateStep(event: event, differences: differences, orders: orders.filter { messages.contains($0.key) })
    }
}

extension RowName {
    /// The thing of the row; `nil` for one of no kind.
    var reference: EntityReference? {
        EntityReference.Kind(section: section).map {
            EntityReference(kind: $0, parts: [source.rawValue, first] + (second.map { [$0] } ?? []))
        }
    }
}
