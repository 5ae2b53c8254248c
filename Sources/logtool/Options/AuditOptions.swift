import ArgumentParser
import EventLog
import Projections

/// Which changes an audit lists.
struct AuditOptions: ParsableArguments {
    @Flag(help: "Edits, of texts and of what surrounds them.")
    var edits = false

    @Flag(help: "Deletes, with the last known text.")
    var deletes = false

    @Option(
        help: ArgumentHelp("Changes of this kind: edit, delete, move, restore, linked, retitled, …", valueName: "kind"),
        completion: .list(AuditEntry.Class.allCases.map(\.rawValue))
    )
    var change: [String] = []

    @Option(help: ArgumentHelp("Only what this author wrote: an id or a name.", valueName: "author"))
    var author: String?

    @Option(help: ArgumentHelp("Only what somebody did, where the remote tells.", valueName: "author"))
    var by: String?

    @Option(
        help: ArgumentHelp("Only this channel: SOURCE/ID, or its id alone.", valueName: "channel"),
        transform: ChannelArgument.parse
    )
    var channel: EntityReference?

    @Option(help: ArgumentHelp("Only this thing.", valueName: "entity"), transform: EntityArgument.parse)
    var entity: EntityReference?

    @Option(
        help: ArgumentHelp("Only what this recorder received.", valueName: "name"),
        completion: Completions.sources,
        transform: SourceArgument.parse
    )
    var source: SourceName?

    @Option(
        name: [.customLong("since"), .customLong("from")],
        parsing: .unconditional,
        help: ArgumentHelp("The first event: 4711, head~10, a time, remote:TIME.", valueName: "point"),
        transform: PointArgument.parse
    )
    var since: Point?

    @Option(
        name: [.customLong("until"), .customLong("to")],
        parsing: .unconditional,
        help: ArgumentHelp("The last event.", valueName: "point"),
        transform: PointArgument.parse
    )
    var until: Point?

    @Option(
        help: ArgumentHelp(
            "Things of these parts; default: messages. Others: items,rows,sessions.",
            valueName: "parts"
        ),
        completion: Completions.sections,
        transform: SectionArgument.parse
    )
    var only: Set<Section>?

    @Option(
        name: [.customShort("n"), .customLong("max-count")],
        help: ArgumentHelp("Only the last so many.", valueName: "n")
    )
    var count: Int?

    @OptionGroup var match: MatchOptions

    /// The kinds of things that have a history.
    static let auditable = EntityReference.Kind.allCases.filter { $0 != .issue }

    /// The kinds of things that are looked at: messages, unless others are asked for.
    var kinds: [EntityReference.Kind] {
        if let entity { return [entity.kind] }
        guard let only else { return [.message] }
        let asked = Set(only.compactMap { EntityReference.Kind(section: $0) })
        return Self.auditable.filter(asked.contains)
    }

    /// The options that are given, as they are written on a command line.
    var given: [String] { asked.map(\.name) }

    /// The same with their values, for people.
    var text: String {
        asked.map { $0.value.isEmpty ? $0.name : "\($0.name) \($0.value)" }.joined(separator: " ")
    }

    private var asked: [(name: String, value: String)] {
        let all: [(name: String, value: String?)] = [
            ("--edits", edits ? "" : nil), ("--deletes", deletes ? "" : nil),
            ("--change", change.isEmpty ? nil : change.joined(separator: " --change ")), ("--author", author),
            ("--by", by), ("--channel", channel?.description), ("--entity", entity?.description),
            ("--source", source?.rawValue), ("--since", since.map(Self.text)), ("--until", until.map(Self.text)),
            ("--match", match.match), ("--only", only.map { $0.map(\.rawValue).sorted().joined(separator: ",") }),
        ]
        return all.compactMap { name, value in value.map { (name, $0) } }
    }

    private static func text(_ point: Point) -> String {
        switch point {
        case .sequence(let sequence): sequence.description
        case .belowHead(let count): "head~\(count)"
        case .time(let time): TimeText.short(time)
        case .remoteTime(let time): "remote:" + TimeText.short(time)
        }
    }

    func validate() throws {
        if let count, count < 0 { throw ValidationError("-n is a count: 0 or more") }
        if channel != nil && entity != nil { throw ValidationError("--channel and --entity exclude each other") }
        if only != nil && entity != nil { throw ValidationError("--only and --entity exclude each other") }
        if let entity, !Self.auditable.contains(entity.kind) {
            throw ValidationError("no history is kept of a \(entity.kind.rawValue)")
        }
        if kinds.isEmpty { throw ValidationError("no history is kept of these parts; name messages, items or rows") }
    }
}
