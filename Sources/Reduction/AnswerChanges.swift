package import EventLog
package import Projections

/// The events after which an expression's answer differs from the answer before (`bisect --all`).
///
/// Unlike a bisection, it finds every change, also where an answer comes and goes. Cost: one pass, and an evaluation
/// for each event that touches a section of the expression.
package struct AnswerChanges {
    /// An event, and the answer from it on.
    package struct Change {
        package let event: Envelope
        package let holds: Bool
    }

    package let expression: StateExpression
    private var holds: Bool
    /// The answer before the first event; false if the expression has none there, for example because nothing that it
    /// names exists yet.
    package let start: Bool
    package private(set) var changes: [Change] = []

    /// - Parameter state: The state before the first event that `add` gets.
    private init(_ expression: StateExpression, at state: LogState) {
        self.expression = expression
        start = (try? expression.holds(in: state)) ?? false
        holds = start
    }

    /// Finds the changes between two points of a log.
    ///
    /// - Throws: `EngineError` if the expression has no answer after an event that touches what it reads.
    package static func find(
        _ expression: StateExpression,
        in store: EventStore,
        from first: SequenceNumber,
        through last: SequenceNumber,
        options: ReplayOptions
    ) throws -> AnswerChanges {
        let start = try StateWalk(store: store, options: options).state(at: first)
        var list = AnswerChanges(expression, at: start)
        try store.read { session in
            _ = try Replay.advance(start, over: session, through: last, options: options) { event, state in
                try list.add(event, state)
                return true
            }
        }
        return list
    }

    /// Takes the state after an event. The expression is evaluated only if the event touches what it reads.
    ///
    /// - Throws: `EngineError` if the expression has no answer.
    private mutating func add(_ event: Envelope, _ state: LogState) throws {
        // The clock moves with every event, so an answer about passing time can change at any.
        guard expression.dependsOnTime || state.touches(expression.sections, by: event) else { return }
        let answer: Bool
        do {
            answer = try expression.holds(in: state)
        } catch {
            throw EngineError("answer \"\(expression)\" at sequence \(event.sequence): \(error)")
        }
        guard answer != holds else { return }
        holds = answer
        changes.append(Change(event: event, holds: answer))
    }
}
