import EventLog
import Projections
import Reduction

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
