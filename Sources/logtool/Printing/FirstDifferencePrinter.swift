import EventLog
import Projections
import Reduction

/// Prints the first difference of two readings.
struct FirstDifferencePrinter {
    let output: StandardOutput
    let form: ListForm

    func print(_ result: FirstDifference.Result) throws {
        // One document has one line here, so `--json` and `--jsonl` are the same.
        guard form == .text else { return try output.line(Self.json(result).text) }
        switch result {
        case .none(let channels) where channels.isEmpty:
            try output.line("the two have the same after every event, and in the same order at the end")
        case .none(let channels):
            try output.line("the two have the same after every event; in another order at the end:")
            for channel in channels { try output.line("  \(DisplayText.escaped(channel.description))") }
        case .first(let difference): try print(difference)
        }
    }

    private func print(_ difference: FirstDifference) throws {
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
    private static func json(_ result: FirstDifference.Result) -> JSONValue {
        switch result {
        case .none(let channels) where channels.isEmpty: return .object(["same": .bool(true)])
        case .none(let channels):
            let names = channels.map { JSONValue.string($0.description) }
            return .object(["same": .bool(false), "order": .array(names)])
        case .first(let difference):
            let changes = difference.changes.map { JSONValue.array($0.map { StateDiff.row(of: $0) }) }
            return .object([
                "same": .bool(false), "first": .string(difference.event.sequence.description),
                "event": .object(EventJSON.object(for: difference.event)), "a": changes[0], "b": changes[1],
            ])
        }
    }
}
