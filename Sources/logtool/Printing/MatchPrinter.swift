import EventLog
import Projections

/// Prints the things that hold or held a text (`history --match`).
///
/// Found is what an entry says, not who wrote it, when, or what it answers (`EntryTexts`).
struct MatchPrinter {
    /// One thing, and those of its entries that hold the text.
    struct Found {
        let entity: EntityReference
        /// True if the thing exists and contains the text now.
        let holds: Bool
        var entries: [HistoryEntry]
        /// The members that prove each entry, if requested.
        var proofs: [JSONObject] = []
    }

    let output: StandardOutput
    let match: TextMatch

    /// How many characters are shown on each side of a match.
    private static let context = 40

    /// The entries of a history that contain the text; `nil` if there are none.
    func found(_ entity: EntityReference, _ history: [HistoryEntry]) -> Found? {
        let holding = history.filter { excerpt(of: $0) != nil }
        guard !holding.isEmpty else { return nil }
        // Of a thing that is gone, the known text is the one before the end, which the thing no longer shows.
        let isGone = history.last { $0.late == nil }?.isEnd(of: entity.kind) == true
        return Found(entity: entity, holds: !isGone && holdsAtEnd(of: history), entries: holding)
    }

    /// Whether the text is in what is known after a history. An entry without fields leaves that as it was, a partial one all
    /// but what it tells. Unlike a walk it looks at nothing twice.
    private func holdsAtEnd(of history: [HistoryEntry]) -> Bool {
        let told = history.map { $0.late == nil ? $0.fields : $0.late?.known ?? JSONObject() }
        let start = told.lastIndex { $0["partial"]?.bool != true && !$0.members.isEmpty } ?? told.startIndex
        var holding: Set<[String]> = []
        for fields in told[start...] {
            for (path, value) in Self.pieces(of: fields) {
                let isHolding = value.map {
                    EntryTexts.texts(of: [path[0]: $0]).contains { match.range(in: $0.text) != nil }
                }
                if isHolding == true { holding.insert(path) } else { holding.remove(path) }
            }
        }
        return !holding.isEmpty
    }

    /// What the entries of a thing tell apart: the members of its fields, and each column and role for itself; `nil` for what
    /// it has no more.
    private static func pieces(of fields: JSONObject) -> [(path: [String], value: JSONValue?)] {
        fields.members.flatMap { member -> [(path: [String], value: JSONValue?)] in
            switch (member.name, member.value) {
            case ("record", .object(let columns)), ("extra", .object(let columns)):
                columns.members.map { ([member.name, $0.name], $0.value) }
            case ("roles", .array(let roles)): roles.map { (["roles", $0.string ?? ""], $0) }
            case ("lostRoles", .array(let roles)): roles.map { (["roles", $0.string ?? ""], nil) }
            default: [([member.name], member.value)]
            }
        }
    }

    /// For people: the name, since when, and the text around what was found. Only the newest entry is quoted; the
    /// others are named by event.
    func printText(_ found: Found) throws {
        let style = output.style
        let name = style.text(DisplayText.escaped(found.entity.description), .heading)
        let events = found.entries.map { "event \($0.sequence) \($0.late == nil ? "" : "late ")\($0.change)" }
            .joined(separator: ", ")
        let note = "\(found.holds ? "holds" : "held") it: \(DisplayText.escaped(events))"
        try output.line("\(name)  \(style.text(note, .quiet))")
        if let excerpt = found.entries.last.flatMap({ self.excerpt(of: $0) }) { try output.line("  " + excerpt) }
    }

    /// For scripts.
    func document(_ found: Found) -> JSONValue {
        let printer = HistoryPrinter(
            output: output,
            entity: found.entity,
            entries: found.entries,
            proofs: found.proofs
        )
        let entries = printer.objects
        return .object([
            "entity": .string(found.entity.description), "holds": .bool(found.holds),
            "events": .array(entries.map { .object($0) }),
        ])
    }

    /// The text around the first match in an entry; `nil` if it has none. Only the match itself is shown with its
    /// invisible characters.
    private func excerpt(of entry: HistoryEntry) -> String? { excerpt(of: entry.fields) }

    /// The text around the first match in a thing's fields; `nil` if they have none.
    private func excerpt(of fields: JSONObject) -> String? {
        for (name, text) in EntryTexts.texts(of: fields) {
            guard let range = match.range(in: text) else { continue }
            let (before, after) = (text[..<range.lowerBound], text[range.upperBound...])
            let start = before.count > Self.context ? "…" + before.suffix(Self.context) : String(before)
            let end = after.count > Self.context ? after.prefix(Self.context) + "…" : String(after)
            let hit = output.style.text(DisplayText.revealed(String(text[range]), isLineEnd: false), .changed)
            return "\(DisplayText.escaped(name)): \"\(DisplayText.escaped(start))\(hit)\(DisplayText.escaped(end))\""
        }
        return nil
    }
}
