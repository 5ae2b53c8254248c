import EventLog
import JSON
import Projections

/// What a change states of one thing: its texts, and the ids and words that say which thing it is and how it stands.
struct Statement {
    /// A member of what is stated.
    struct Field {
        let name: String
        let value: JSONValue
    }

    /// `nil` for a change that states no thing with texts.
    let thing: EntityReference?
    /// The message that this one answers.
    var answered: EntityReference?
    /// What may hold text of people.
    var fields: [Field] = []
    /// Everything else, as one value.
    var rest: JSONValue = .null

    /// Whether both state the same of the same thing, but for the fields' values.
    ///
    /// - Parameter search: Names of fields in which it finds something need not be the same.
    func isAlike(_ other: Statement, but search: TokenSearch) -> Bool {
        thing == other.thing && answered == other.answered && rest == other.rest && fields.count == other.fields.count
            && zip(fields, other.fields).allSatisfy { $0.name == $1.name || search.occurs(in: $0.name) }
    }

    /// The fields whose strings are the texts that a redaction of the thing looks for.
    ///
    /// - Parameter columns: Members that were named; of a row there are no others.
    func texts(_ columns: Set<String>) -> [Field] {
        guard let kind = thing?.kind else { return [] }
        let own: Set<String> =
            switch kind {
            case .message: ["content"]
            case .item: ["text"]
            case .session: ["project"]
            case .prompt: ["text", "answer"]
            default: []
            }
        return fields.filter { own.contains($0.name) || columns.contains($0.name) }
    }

    /// The fields of the thing in which these texts go. All that it says may repeat them; a row's columns speak for themselves.
    func redacted(_ columns: Set<String>) -> [Field] {
        let names: Set = ["authorName", "device"]
        return fields.filter { field in
            columns.contains(field.name) || thing?.kind != .row && !names.contains(field.name)
        }
    }
}

extension Statement {
    /// The statements of a change. Switches without `default`: a new change must tell which of its members are texts.
    static func all(of change: DecodedChange, source: SourceName) -> [Statement] {
        let source = source.rawValue
        func reference(_ kind: EntityReference.Kind, _ parts: String...) -> EntityReference {
            EntityReference(kind: kind, parts: [source] + parts)
        }
        func item(_ item: DecodedChange.Item, list: String) -> Statement {
            Statement(
                thing: reference(.item, list, item.id),
                fields: [field("text", item.text)] + fields(of: item.extra),
                rest: .array([.bool(item.isDone), text(item.status), text(item.created)])
            )
        }
        func message(_ message: DecodedChange.Message, _ kind: String) -> Statement {
            let name = message.name
            return Statement(
                thing: reference(.message, name.channel, name.id),
                answered: message.replyTo.map { reference(.message, name.channel, $0) },
                fields: [
                    field("content", message.content), field("authorName", message.authorName),
                    Field(name: "tags", value: .array(message.tags.map { .string($0) })),
                    Field(name: "attachments", value: .array(message.attachments)),
                ] + fields(of: message.extra),
                rest: .array([
                    .string(kind), text(message.author), text(message.createdAt?.description),
                    text(message.editedAt?.description), .bool(message.appends),
                ])
            )
        }
        switch change {
        case .message(let version): return [message(version, "written")]
        case .messageStands(_, let version?): return [message(version, "stands")]
        case .channel(let channel):
            return [
                Statement(
                    thing: reference(.channel, channel.id),
                    fields: [field("name", channel.name), field("topic", channel.topic)],
                    rest: .array([
                        text(channel.kind), text(channel.guild), text(channel.parent), number(channel.position),
                        .array(channel.recipients?.map { .string($0) } ?? []),
                    ])
                )
            ]
        case .items(let list, let items, let isWhole):
            let snapshot = Statement(thing: nil, rest: .array([.string("items"), .string(list), .bool(isWhole)]))
            return [snapshot] + items.map { item($0, list: list) }
        case .item(let list, let fields): return [item(fields, list: list)]
        case .session(let session):
            return [
                Statement(
                    thing: reference(.session, session.id),
                    fields: [field("project", session.project), field("device", session.device)],
                    rest: .array([
                        .string(session.status), text(session.timestamp), .string(session.instant.description),
                        number(session.pid),
                    ])
                )
            ]
        case .prompt(let prompt):
            return [
                Statement(
                    thing: reference(.prompt, prompt.id),
                    fields: [
                        field("text", prompt.text), field("answer", prompt.answer), field("project", prompt.project),
                    ],
                    rest: .array([
                        text(prompt.session), .bool(prompt.isAnswered), text(prompt.askedAt?.description),
                        text(prompt.answeredAt?.description),
                    ])
                )
            ]
        case .row(let row):
            return [
                Statement(
                    thing: reference(.row, row.table, row.id),
                    fields: fields(of: row.record),
                    rest: .array([
                        .string(row.operation), .bool(row.isPartial), .string(row.committedAt.description),
                    ])
                )
            ]
        case .community(let community): return [Statement(community, change.json)]
        case .messageStands, .messageDeleted, .messageMoved, .reaction, .messageWithdrawn, .reactionsCleared,
            .reactionsStand, .channelNamed, .channelDeleted, .channelStands, .itemRemoved, .sessionRemoved,
            .promptUnreadable, .promptRemoved:
            return [Statement(thing: nil, rest: change.json)]
        }
    }

    /// A community's names are texts, and all else says who or which.
    private init(_ community: DecodedChange.Community, _ json: JSONValue) {
        thing = nil
        switch community {
        case .guild(let id, let name, let owner):
            fields = [Self.field("name", name)]
            rest = .array([.string(id), Self.text(owner)])
        case .member(let guild, let user, let nickname, let roles):
            fields = [Self.field("nickname", nickname)]
            rest = .array([.string(guild), .string(user), .array(roles.map { .string($0) })])
        case .role(let guild, let id, let name, let permissions, let position, let color):
            fields = [Self.field("name", name)]
            rest = .array([
                .string(guild), .string(id), Self.text(permissions), Self.number(position), Self.number(color),
            ])
        case .guildNamed, .guildDeleted, .memberships, .joined, .memberRemoved, .roleDeleted, .ban, .presence, .typing,
            .voice, .readStates:
            rest = json
        }
    }

    private static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

    private static func number(_ number: Int64?) -> JSONValue { text(number.map { String($0) }) }

    private static func field(_ name: String, _ value: String?) -> Field { Field(name: name, value: text(value)) }

    private static func fields(of object: JSONObject) -> [Field] {
        object.members.map { Field(name: $0.name, value: $0.value) }
    }
}
