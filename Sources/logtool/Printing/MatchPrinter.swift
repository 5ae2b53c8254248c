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
    /// but its columns. Unlike a walk it looks at no column twice.
    private func holdsAtEnd(of history: [HistoryEntry]) -> Bool {
        let told = history.map { $0.late == nil ? $0.fields : $0.late?.known ?? JSONObject() }
        func isPartial(_ fields: JSONObject) -> Bool { fields["partial"]?.bool == true }
        let start = told.lastIndex { !isPartial($0) && !$0.members.isEmpty } ?? told.startIndex
        var columns: Set<String> = []
        var holdsElsewhere = false
        for fields in told[start...] where !fields.members.isEmpty {
            for column in fields["record"]?.object?.members ?? [] {
                let isHolding = EntryTexts.texts(of: ["record": column.value]).contains {
                    match.range(in: $0.text) != nil
                }
                if isHolding { columns.insert(column.name) } else { columns.remove(column.name) }
            }
            if !isPartial(fields) {
                var others = fields
                if others["record"]?.object != nil { others["record"] = nil }
                holdsElsewhere = EntryTexts.texts(of: others).contains { match.range(in: $0.text) != nil }
            }
        }
        return holdsElsewhere || !columns.isEmpty
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
