import EventLog
import Projections

/// Prints what happened to one entity, oldest first.
///
/// The entries may be a selection. The first one shows all its fields as new, because the entries before it are not
/// known here.
struct HistoryPrinter {
    let output: StandardOutput
    let entity: EntityReference
    let entries: [HistoryEntry]
    /// For each entry of a session, how long the status that it ended had lasted; `nil` for all other entries.
    private let dwellTimes: [Duration?]

    /// The members that prove each entry; empty if none were requested.
    private let proofs: [JSONObject]

    init(output: StandardOutput, entity: EntityReference, entries: [HistoryEntry], proofs: [JSONObject] = []) {
        self.output = output
        assert(proofs.isEmpty || proofs.count == entries.count, "each entry has a proof, or none has")
        self.proofs = proofs
        self.entity = entity
        self.entries = entries
        dwellTimes = Self.dwellTimes(of: entity, entries)
    }

    /// Prints text: a paragraph for each entry, with each field that changed since the entry before.
    func printText() throws {
        try output.line(style.text(DisplayText.escaped(entity.description), .heading))
        try output.line()
        try output.line(style.text(Self.columns, .quiet))
        var walk = HistoryWalk(entity)
        for (index, (entry, dwell)) in zip(entries, dwellTimes).enumerated() {
            if index > 0 { try output.line() }
            try output.line(headline(of: entry, after: dwell))
            // The fields before are told where walking could tell them only at a row's whole width.
            let before = index == 0 ? JSONObject() : entry.before ?? walk.known ?? JSONObject()
            walk.take(entry)
            if entry.late != nil { try printVersion(entry.fields, known: before) }
            try printChanges(from: before, to: entry.late.map { $0.known ?? before } ?? entry.fields)
        }
    }

    /// Prints what a late version said, as far as that is not what is known. It is no change, and so is shown as none.
    private func printVersion(_ version: JSONObject, known: JSONObject) throws {
        let printer = FieldPrinter(output: output)
        for field in version.members where known[field.name] != field.value {
            try printer.printVersion(of: field.name, field.value, known: known[field.name])
        }
    }

    /// As one document.
    func printDocument() throws {
        let document: JSONObject = [
            "entity": .string(entity.description), "events": .array(objects.map { .object($0) }),
        ]
        try output.line(JSONValue.object(document).lines)
    }

    /// Prints an object per line, each with the entity, so that lines can be read alone.
    func printLines() throws {
        for object in objects {
            var line: JSONObject = ["entity": .string(entity.description)]
            for member in object.members { line[member.name] = member.value }
            try output.line(JSONValue.object(line).text)
        }
    }

    /// Each entry as scripts read it; `MatchPrinter` puts them into its own document.
    var objects: [JSONObject] {
        zip(entries, dwellTimes).enumerated().map { index, pair in
            var object = Self.json(pair.0, after: pair.1)
            for member in proofs.indices.contains(index) ? proofs[index].members : [] {
                object[member.name] = member.value
            }
            return object
        }
    }

    /// The entries of a thing as scripts read them, without proofs.
    static func objects(of entity: EntityReference, _ entries: [HistoryEntry]) -> [JSONObject] {
        zip(entries, dwellTimes(of: entity, entries)).map { json($0, after: $1) }
    }

    private static func dwellTimes(of entity: EntityReference, _ entries: [HistoryEntry]) -> [Duration?] {
        entity.kind == .session ? DwellTimes.of(entries) : entries.map { _ in nil }
    }

    /// The names of the columns, in the widths of `headline`.
    private static let columns = "event   remote time (UTC)        recorded (UTC)           what"

    /// Both times, the change, who made it, and the finer kinds in parentheses. The remote's time comes first: it is
    /// when the change happened, as far as anybody knows.
    private func headline(of entry: HistoryEntry, after dwell: Duration?) -> String {
        var words = [DisplayText.padded(entry.sequence.description, to: 6)]
        let remote = entry.remoteTime.map(TimeText.full) ?? "not told"
        words.append(style.text(DisplayText.padded(remote, to: 23), .quiet))
        words.append(style.text(TimeText.full(entry.recordedAt), .quiet))
        let role = entry.late == nil ? role(of: entry.change) : .quiet
        words.append(style.text(DisplayText.escaped(entry.change), role))
        let by = entry.by.map { "by " + style.text(DisplayText.escaped($0), .author) }
        // A compaction is no change of the thing by anybody.
        let untold =
            entry.change == HistoryEntry.compacted
            ? "what was before is in the archive, if one was made" : "by whom is not told"
        words.append(by ?? style.text(untold, .quiet))
        if let dwell { words.append("after " + TimeText.duration(dwell)) }
        let notes = LateText.notes(on: entry) + entry.kinds
        if !notes.isEmpty { words.append("(" + DisplayText.escaped(notes.joined(separator: ", ")) + ")") }
        return words.joined(separator: "  ")
    }

    /// Prints the fields that are new, changed or gone. An entry without fields has changed none.
    private func printChanges(from old: JSONObject, to new: JSONObject) throws {
        let printer = FieldPrinter(output: output)
        for field in new.members where old[field.name] != field.value {
            try printer.printChange(of: field.name, from: old[field.name], to: field.value)
        }
        guard !new.members.isEmpty else { return }
        for field in old.members where new[field.name] == nil {
            try printer.printChange(of: field.name, from: field.value, to: nil)
        }
    }

    /// One entry as in `docs/cli-json.md`. Dwell times are whole milliseconds, the rest cut off.
    private static func json(_ entry: HistoryEntry, after dwell: Duration?) -> JSONObject {
        [
            "sequence": .string(entry.sequence.description),
            "recordedAt": .string(entry.recordedAt.description),
            "remoteTime": .text(entry.remoteTime?.description),
            "change": .string(entry.change),
            "kinds": entry.kinds.isEmpty ? nil : .array(entry.kinds.map { .string($0) }),
            "late": entry.late.map { _ in .bool(true) },
            "version": entry.late.map { .int($0.number) },
            "of": entry.late.map { .int($0.count) },
            "by": .text(entry.by),
            "dwellMilliseconds": dwell.map { .int($0.wholeMilliseconds) },
            "fields": .object(entry.fields),
            "known": (entry.late?.known).map { .object($0) },
        ]
    }

    /// The colour of a change; edits, moves and links have that of a change.
    private func role(of change: String) -> Style.Role {
        switch change {
        case "created", "added", "started", "restored", "selected": .added
        case "deleted", "removed", "ended", "unreadable", "unselected": .removed
        default: .changed
        }
    }

    private var style: Style { output.style }
}
