import EventLog
import Projections

/// Prints events one by one with what each of them changed. `begin` and `end` must surround all events; the caller
/// flushes. The document is written as a list in pieces, because a log may have more steps than fit into memory.
final class StepPrinter {
    private let output: StandardOutput
    private let form: ListForm
    private var isFirst = true

    /// True if no event was printed yet.
    var isEmpty: Bool { isFirst }

    init(output: StandardOutput, form: ListForm) {
        self.output = output
        self.form = form
    }

    /// Opens the list.
    func begin() throws {
        if form == .document { try output.write("[".utf8) }
    }

    /// Closes the list.
    func end() throws {
        if form == .document { try output.line(isFirst ? "]" : "\n]") }
    }

    /// Prints one event; `title` is its frame's own name. Without differences, the event is printed as one that changed
    /// nothing; the caller leaves it out if that is wanted.
    func print(_ event: Envelope, title: String?, _ differences: [StateDifference]) throws {
        switch form {
        case .text: try printText(event, title, differences)
        case .document:
            try output.write((isFirst ? "\n" : ",\n").utf8)
            try output.write(json(event, title, differences).text.utf8)
        case .lines: try output.line(json(event, title, differences).text)
        }
        isFirst = false
    }

    /// A headline for the event, its changes, and a blank line.
    private func printText(_ event: Envelope, _ title: String?, _ changes: [StateDifference]) throws {
        let frame = title.map { "  " + DisplayText.firstLine(of: $0).line } ?? ""
        let place =
            "\(event.sequence)  recorded \(TimeText.full(event.recordedAt))  \(event.source)  \(event.kind)\(frame)"
        try output.line(output.style.text(DisplayText.escaped(place), .heading))
        let printer = DifferencePrinter(output: output)
        for change in changes { try printer.print(change) }
        if changes.isEmpty { try output.line(output.style.text("  changed nothing", .quiet)) }
        try output.line()
    }

    /// The members of an event, its title and its changes (`docs/cli-json.md`).
    private func json(_ event: Envelope, _ title: String?, _ changes: [StateDifference]) -> JSONValue {
        var object = EventJSON.object(for: event)
        object["frame"] = .text(title)
        object["changes"] = .array(changes.map { StateDiff.row(of: $0) })
        return .object(object)
    }
}
