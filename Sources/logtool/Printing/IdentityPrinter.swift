import EventLog
import Projections

/// Prints what one of two logs never received (`diff --match identity`).
///
/// Sequences and entities are those of the log that has the entries; the other log knows them by other names or not at
/// all.
struct IdentityPrinter {
    let output: StandardOutput
    let differences: [IdentityDifference]
    /// The logs as the command line names them.
    let names: (first: String, second: String)

    /// For people.
    func printText() throws {
        for difference in differences { try print(difference) }
        guard !differences.isEmpty else { return try output.line("both logs have received the same") }
        let counts = [(IdentityDifference.Side.first, names.first), (.second, names.second)].map { side, name in
            let lacking = differences.filter { $0.lacking == side }
            let entries = lacking.reduce(0) { $0 + $1.entries.count }
            return
                "\(DisplayText.escaped(name)) lacks \(counted(entries, "change")) of \(counted(lacking.count, "thing"))"
        }
        try output.line(counts.joined(separator: ", "))
    }

    /// As one document.
    var document: JSONValue {
        .object(["same": .bool(differences.isEmpty), "differences": .array(differences.map(Self.json))])
    }

    /// One difference for scripts. `removed` is what the second log lacks, as in a diff from the first to the second.
    static func json(_ difference: IdentityDifference) -> JSONValue {
        .object([
            "entity": .string(difference.entity.description),
            "change": .string(difference.lacking == .second ? "removed" : "added"),
            "unknown": .bool(difference.isUnknown),
            "entries": .array(
                difference.entries.map { entry in
                    .object([
                        "sequence": .string(entry.sequence.description),
                        "recordedAt": .string(entry.recordedAt.description),
                        "remoteTime": .text(entry.remoteTime?.description),
                        "change": .string(entry.change),
                        "by": .text(entry.by),
                        "fields": .object(entry.fields),
                    ])
                }
            ),
        ])
    }

    /// Prints a thing with the changes that one log never received, and the first line of each. `cut` bounds the
    /// quotation, and the full text is in `history`.
    private func print(_ difference: IdentityDifference) throws {
        let isRemoved = difference.lacking == .second
        let style = output.style
        let name = style.text(
            "\(isRemoved ? "-" : "+") \(DisplayText.escaped(difference.entity.description))",
            isRemoved ? .removed : .added
        )
        let lacking = DisplayText.escaped(isRemoved ? names.second : names.first)
        let what = difference.isUnknown ? "it" : counted(difference.entries.count, "change")
        try output.line("\(name)  \(style.text("(\(lacking) never received \(what))", .quiet))")
        for entry in difference.entries {
            let time = entry.remoteTime.map { ", \(TimeText.full($0))" } ?? ""
            let text =
                EntryTexts.texts(of: entry.fields).first.map { ": \"\(DisplayText.firstLine(of: $0.text).line)\"" }
                ?? ""
            try output.line(
                "    event \(entry.sequence) \(DisplayText.escaped(entry.change))\(time)"
                    + DisplayText.cut(DisplayText.escaped(text), to: 80)
            )
        }
    }
}
