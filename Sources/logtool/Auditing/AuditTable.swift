import EventLog
import Projections

/// Lists changes as comma-separated values (RFC 4180), the columns' names first.
///
/// Times and entities are in the forms that the command line takes back. Proofs and redactions have no column: JSON has
/// them.
final class AuditTable: AuditPrinter {
    private let output: StandardOutput

    init(output: StandardOutput) {
        self.output = output
    }

    static let columns = [
        "sequence", "recordedAt", "remoteTime", "entity", "change", "kinds", "by", "author", "before", "after",
    ]

    func begin() throws {
        try output.write(CommaSeparated.line(Self.columns).utf8)
    }

    func print(_ line: AuditLine) throws {
        let entry = line.change.entry
        let cells = [
            entry.sequence.description, entry.recordedAt.description, entry.remoteTime?.description ?? "",
            line.change.entity.description, entry.change, entry.kinds.joined(separator: " "), entry.by ?? "",
            line.author ?? "", Self.text(of: line.change.before), Self.text(of: line.change.after),
        ]
        try output.write(CommaSeparated.line(cells).utf8)
    }

    /// Prints no counts: a line of text below the rows would be read as a row.
    func end(_ summary: AuditSummary) throws {
        try output.flush()
    }

    /// The text of a thing; all known members as JSON if it has no text.
    private static func text(of fields: JSONObject?) -> String {
        guard let fields else { return "" }
        return fields["content"]?.string ?? fields["text"]?.string ?? JSONValue.object(fields).text
    }
}
