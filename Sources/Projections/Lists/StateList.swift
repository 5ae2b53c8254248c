import EventLog

/// A list of rows that can fill a cache: a section of the state document, the histories of one kind of thing, or a list
/// that no document has. The names of lists and members are part of the language of cache maps, so they do not change.
public enum StateList: Hashable, Sendable {
    /// The rows of a section of the state document; messages also have `order`.
    case section(Section)
    /// The histories of the things of one kind, one row per entry.
    case history(EntityReference.Kind)
    /// The folders and notes of the note tree.
    case notes
    /// The sources of the log, each with its last times and tip.
    case sources

    /// Every list, in the order of the state document.
    public static let all: [StateList] =
        Section.allCases.map { .section($0) } + historyKinds.map { .history($0) } + [.notes, .sources]

    /// The kinds whose histories are lists: all but typing, read states and issues.
    private static let historyKinds: [EntityReference.Kind] = [
        .channel, .message, .guild, .member, .role, .ban, .presence, .voice, .item, .session, .prompt, .row,
    ]

    /// The list's name in a cache map.
    public var name: String {
        switch self {
        case .section(let section): section.rawValue
        case .history(let kind): kind.rawValue + "History"
        case .notes: "notes"
        case .sources: "sources"
        }
    }

    /// The list with a name; `nil` if none has it.
    public init?(name: String) {
        guard let list = Self.all.first(where: { $0.name == name }) else { return nil }
        self = list
    }

    /// The members that identify the thing that a row is about. The rows of a list that is written whole are not found
    /// by them.
    public var keyMembers: [String] {
        switch self {
        case .section(let section): section.keyMembers
        case .history(let kind): (kind.sections.first ?? .issues).keyMembers
        case .notes, .sources: ["source"]
        }
    }

    /// The members that a row can have. A row lacks those without a value.
    public var members: [String] {
        switch self {
        case .section(.messages): Section.messages.rowMembers + ["order"]
        case .section(.issues): Section.issues.rowMembers + ["count"]
        case .section(let section): section.rowMembers
        case .history:
            keyMembers + [
                "number", "sequence", "recordedAt", "remoteTime", "change", "by", "kinds", "late", "version", "of",
                "fields",
                "known",
            ]
        case .notes: ["source", "parent", "place", "kind", "name", "path", "note", "pinned"]
        case .sources: ["source", "recordedAt", "remoteTime", "tip"]
        }
    }

    /// The shape of a member's values; `nil` if rows have no such member.
    package func shape(of member: String) -> MemberShape? {
        guard members.contains(member) else { return nil }
        switch self {
        case .section: return Section.shape(of: member)
        case .history(.message) where member == "fields" || member == "known": return .ofMessageFields
        case .history where member == "fields" || member == "known": return .open
        case .history where member == "kinds": return .list(of: .scalar)
        case .history, .notes, .sources: return .scalar
        }
    }

    /// Whether a thing can have several rows.
    package var isHistory: Bool { if case .history = self { true } else { false } }

    /// Whether rows can change without an event that touches them: as time passes, or because they derive from many
    /// others. A cache then replaces the whole list.
    package var isWrittenWhole: Bool {
        switch self {
        case .section(let section):
            [.typing, .sessions, .sessionAggregates, .issues].contains(section)
        case .history: false
        case .notes, .sources: true
        }
    }

    /// The sections whose touched rows show that rows of this list may have changed.
    var sections: [Section] {
        switch self {
        case .section(let section): [section]
        case .history(let kind): kind.sections
        case .notes: [.rows]
        case .sources: []
        }
    }
}

extension MemberShape {
    /// The fields of the history of a message.
    fileprivate static var ofMessageFields: MemberShape {
        .object(
            LentEntry.Field.allCases.map { field in
                switch field {
                case .tags, .files, .images: (field.rawValue, .list(of: .scalar))
                case .attachments: (field.rawValue, .list(of: .open))
                case .extra, .from, .to: (field.rawValue, .open)
                case .author, .authorName, .createdAt, .editedAt, .content, .replyTo, .cause: (field.rawValue, .scalar)
                }
            }
        )
    }
}
