import EventLog
import Projections

/// Lists changes for people, as one JSON document, or as one JSON object per line.
///
/// A document is closed by `end` even if it is empty, so programs can parse it before they see exit code 1.
final class AuditTextPrinter: AuditPrinter {
    private let output: StandardOutput
    private let form: ListForm
    private var isFirst = true

    init(output: StandardOutput, form: ListForm) {
        self.output = output
        self.form = form
    }

    func begin() throws {
        if form == .document { try output.write("[".utf8) }
    }

    func print(_ line: AuditLine) throws {
        switch form {
        case .document:
            try output.write((isFirst ? "\n" : ",\n").utf8)
            try output.write(JSONValue.object(line.json).text.utf8)
        case .lines: try output.line(JSONValue.object(line.json).text)
        case .text: try printText(line)
        }
        isFirst = false
    }

    func end(_ summary: AuditSummary) throws {
        switch form {
        case .document: try output.line(isFirst ? "]" : "\n]")
        case .lines: break
        case .text:
            if !isFirst { try output.line() }
            try output.line(summary.countText)
        }
        try output.flush()
    }

    /// The same columns as in `HistoryPrinter`.
    private static let columns = "event   remote time (UTC)        recorded (UTC)           what"

    /// Prints the headline of a change and the members that differ. The columns' names precede the first.
    private func printText(_ line: AuditLine) throws {
        let style = output.style
        if isFirst { try output.line(style.text(Self.columns, .quiet)) } else { try output.line() }
        let entry = line.change.entry
        let remote = entry.remoteTime.map(TimeText.full) ?? "not told"
        var words = [
            DisplayText.padded(entry.sequence.description, to: 6),
            style.text(DisplayText.padded(remote, to: 23), .quiet),
            style.text(TimeText.full(entry.recordedAt), .quiet),
            style.text(DisplayText.escaped(entry.change), role(of: line.change.class)),
            style.text(DisplayText.escaped(line.change.entity.description), .heading),
            entry.by.map { "by " + style.text(DisplayText.escaped($0), .author) }
                ?? style.text("by whom is not told", .quiet),
        ]
        if !line.notes.isEmpty { words.append("(" + DisplayText.escaped(line.notes.joined(separator: ", ")) + ")") }
        try output.line(words.joined(separator: "  "))
        try printDifferences(of: line)
    }

    /// Prints the members that differ; all of a deleted thing's members do.
    private func printDifferences(of line: AuditLine) throws {
        let printer = FieldPrinter(output: output)
        for field in line.differences where !(line.change.class == .delete && Self.times.contains(field.name)) {
            try printer.printChange(of: field.name, from: field.before, to: field.after)
        }
    }

    /// Members that say little about a deleted thing.
    private static let times: Set<String> = ["createdAt", "editedAt"]

    private func role(of kind: AuditEntry.Class) -> Style.Role {
        switch kind {
        case .edit, .move: .changed
        case .delete: .removed
        case .restore: .added
        }
    }
}
