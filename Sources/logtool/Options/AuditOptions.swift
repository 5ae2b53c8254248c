import ArgumentParser
import EventLog
import Projections

/// Which changes an audit lists.
///
/// The options only parse; `AuditSelection` decides for a session. `HistorySelection` does the part that `history`
/// shares.
struct AuditOptions: ParsableArguments {
    @Flag(help: "Edits, of texts and of what surrounds them.")
    var edits = false

    @Flag(help: "Deletes, with the last known text.")
    var deletes = false

    /// May be given often, and then one is enough. A word fits the class, the entry's `change` or one of its `kinds`;
    /// no word is refused, because kinds grow with the apps.
    @Option(
        help: ArgumentHelp("Changes of this kind: edit, delete, move, restore, linked, retitled, …", valueName: "kind"),
        completion: .list(AuditEntry.Class.allCases.map(\.rawValue))
    )
    var change: [String] = []

    /// Whose text it is, before or after the change. `--by` is who changed it.
    @Option(help: ArgumentHelp("Only what this author wrote: an id or a name.", valueName: "author"))
    var author: String?

    @Option(help: ArgumentHelp("Only what somebody did, where the remote tells.", valueName: "author"))
    var by: String?

    @OptionGroup var selectors: SelectorOptions

    @Option(
        help: ArgumentHelp(
            "Things of these parts; default: messages. Others: items,rows,sessions.",
            valueName: "parts"
        ),
        completion: Completions.sections,
        transform: SectionArgument.parse
    )
    var only: Set<Section>?

    @OptionGroup var match: MatchOptions

    /// The kinds of things that have a history.
    static let auditable = EntityReference.Kind.allCases.filter { $0 != .issue }

    /// The kinds of things that the audit covers: messages, unless others are requested. In the order of `auditable`.
    var kinds: [EntityReference.Kind] {
        if let entity = selectors.entity { return [entity.kind] }
        guard let only else { return [.message] }
        let asked = Set(only.compactMap { EntityReference.Kind(section: $0) })
        return Self.auditable.filter(asked.contains)
    }

    /// The names of the given options, as on a command line. Without any, an empty audit is no failure.
    var given: [String] { asked.map(\.name) }

    /// The given options with their values, for people.
    var text: String {
        asked.map { $0.value.isEmpty ? $0.name : "\($0.name) \($0.value)" }.joined(separator: " ")
    }

    /// The given options with their values; `-n` does not choose changes, it only cuts the list.
    ///
    /// These are the words of messages and of a page, so that both can be typed again.
    private var asked: [(name: String, value: String)] {
        let all: [(name: String, value: String?)] = [
            ("--edits", edits ? "" : nil), ("--deletes", deletes ? "" : nil),
            ("--change", change.isEmpty ? nil : change.joined(separator: " --change ")), ("--author", author),
            ("--by", by), ("--match", match.match),
            ("--only", only.map { $0.map(\.rawValue).sorted().joined(separator: ",") }),
        ]
        return all.compactMap { name, value in value.map { (name, $0) } } + selectors.asked.filter { $0.name != "-n" }
    }

    /// Rules out things that have no such change.
    var filter: HistoryFilter {
        var filter = HistoryFilter()
        filter.text = match.text?.search
        filter.needsChange = true
        filter.needsEnd = deletes && !edits && change.isEmpty
        return filter
    }

    /// Refuses what the audit could only answer by an empty list.
    func validate() throws {
        try selectors.refuse(["--kind"], because: "name the kind of change with --change")
        let entity = selectors.entity
        if only != nil && entity != nil { throw ValidationError("--only and --entity exclude each other") }
        if let entity, !Self.auditable.contains(entity.kind) {
            throw ValidationError("no history is kept of a \(entity.kind.rawValue)")
        }
        if kinds.isEmpty { throw ValidationError("no history is kept of these parts; name messages, items or rows") }
    }
}
