import EventLog
import Projections

/// The events after which an expression's answer differs from the answer before (`bisect --all`).
///
/// Unlike a bisection, it finds every change, also where an answer comes and goes. Cost: one pass, and an evaluation
/// for each event that touches a section of the expression.
struct AnswerChanges {
    /// An event, and the answer from it on.
    struct Change {
        let event: Envelope
        let holds: Bool
    }

    private let expression: StateExpression
    private var holds: Bool
    /// The answer before the first event; false if the expression has none there, for example because nothing that it
    /// names exists yet.
    let start: Bool
    private(set) var changes: [Change] = []

    /// - Parameter state: The state before the first event that `add` gets.
    init(_ expression: StateExpression, at state: LogState) {
        self.expression = expression
        start = (try? expression.holds(in: state)) ?? false
        holds = start
    }

    /// Takes the state after an event. The expression is evaluated only if the event touches what it reads.
    ///
    /// - Throws: `Failure` if the expression has no answer.
    mutating func add(_ event: Envelope, _ state: LogState) throws {
        // The clock moves with every event, so an answer about passing time can change at any.
        guard expression.dependsOnTime || state.touches(expression.sections, by: event) else { return }
        let answer: Bool
        do {
            answer = try expression.holds(in: state)
        } catch {
            throw Failure("answer \"\(expression)\" at sequence \(event.sequence): \(error)")
        }
        guard answer != holds else { return }
        holds = answer
        changes.append(Change(event: event, holds: answer))
    }

    /// Prints the changes in the order of the log. The caller flushes.
    func print(to output: StandardOutput, asJSON: Bool) throws {
        if asJSON {
            let document: JSONValue = .object([
                "when": .string(expression.description),
                "start": .bool(start),
                "changes": .array(
                    changes.map {
                        .object(["holds": .bool($0.holds), "event": .object(EventJSON.object(for: $0.event))])
                    }
                ),
            ])
            return try output.line(document.lines)
        }
        for change in changes {
            let event = change.event
            let place = "\(event.sequence)  \(TimeText.full(event.recordedAt))  \(event.source)  \(event.kind)"
            let mark = change.holds ? "holds   " : "does not"
            try output.line("\(mark)  \(DisplayText.escaped(place))")
        }
        if changes.isEmpty {
            try output.line("the answer is \(start ? "yes" : "no") at every event")
        }
    }
}
