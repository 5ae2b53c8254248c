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
    var thing: EntityReference?
    /// The message that this one answers.
    var answered: EntityReference?
    /// What may hold text of people.
    var fields: [Field] = []
    /// The ids of the people whom the change names, in its order: authors, members, those who reacted. Of a row its own id,
    /// which may be a person's.
    var people: [String] = []
    /// Everything else, as one value.
    var rest: JSONValue = .null

    /// The id of a message's author; the name where the remote gives no id.
    var author: String? {
        guard thing?.kind == .message else { return nil }
        return people.first ?? fields.first { $0.name == "authorName" }?.value.string
    }

    /// Whether both state the same of the same thing, but for the fields' values.
    ///
    /// - Parameter search: Names of fields in which it finds something need not be the same.
    func isAlike(_ other: Statement, but search: TokenSearch) -> Bool {
        thing == other.thing && answered == other.answered && people == other.people && rest == other.rest
            && fields.count == other.fields.count
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

extension DecodedEvent {
    /// All that the event states, also of what it deletes: whatever the log holds of people's texts.
    var all: [DecodedChange] { changes + told }

    /// A text that the event states, and what it was joined of: that is what the payload has.
    func pieces(of text: String) -> [String] { [text] + (joined[ExactText(text)] ?? []) }
}

extension Statement {
    /// The statements of a change. Switches without `default`: a new change must tell which of its members are texts.
    static func all(of change: DecodedChange, source: SourceName) -> [Statement] {
        let source = source.rawValue
        func reference(_ kind: EntityReference.Kind, _ parts: String...) -> EntityReference {
            EntityReference(kind: kind, parts: [source] + parts)
        }
        // The members that a patch tells are among what says how the thing stands.
        func item(_ item: DecodedChange.Item, list: String?, telling members: [String] = []) -> Statement {
            Statement(
                thing: list.map { reference(.item, $0, item.id) },
                fields: [field("text", item.text)] + fields(of: item.extra),
                rest: .array(
                    [.bool(item.isDone), text(item.status), text(item.created)] + members.map { .string($0) }
                )
            )
        }
        func channel(_ channel: DecodedChange.Channel, telling members: [String] = []) -> Statement {
            Statement(
                thing: reference(.channel, channel.id),
                fields: [field("name", channel.name), field("topic", channel.topic)],
                people: channel.recipients ?? [],
                rest: .array(
                    [text(channel.kind), text(channel.guild), text(channel.parent), number(channel.position)]
                        + members.map { .string($0) }
                )
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
                people: [message.author].compactMap { $0 },
                rest: .array([
                    .string(kind), .bool(message.author != nil), text(message.createdAt?.description),
                    text(message.editedAt?.description), .bool(message.appends),
                ])
            )
        }
        switch change {
        case .message(let version): return [message(version, "written")]
        case .messageStands(_, let version?): return [message(version, "stands")]
        case .channel(let fields): return [channel(fields)]
        case .channelPatched(let fields, let members): return [channel(fields, telling: members)]
        case .items(let list, let items, let isWhole):
            let snapshot = Statement(thing: nil, rest: .array([.string("items"), .string(list), .bool(isWhole)]))
            return [snapshot] + items.map { item($0, list: list) }
        case .item(let list, let fields): return [item(fields, list: list)]
        case .itemPatched(let list, let fields, let members): return [item(fields, list: list, telling: members)]
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
                    people: [row.id],
                    rest: .array([
                        .string(row.operation), .bool(row.isPartial), .string(row.committedAt.description),
                    ])
                )
            ]
        case .community(let community): return [Statement(community, change.json)]
        case .messageDeleted(let name, let by, let time):
            return [Statement(people: [by], DecodedChange.messageDeleted(name, by: by.map { _ in "" }, at: time).json)]
        case .messageMoved(let from, let to, let by, let time):
            let change = DecodedChange.messageMoved(from: from, to: to, by: by.map { _ in "" }, at: time)
            return [Statement(people: [by], change.json)]
        case .reaction(let name, let emoji, let user, let isPresent):
            let change = DecodedChange.reaction(name, emoji: emoji, user: "", isPresent: isPresent)
            return [Statement(people: [user], change.json)]
        case .reactionsStand(let name, let reactions):
            let words = [name.channel, name.id] + reactions.map(\.emoji)
            return [Statement(people: reactions.map(\.user), .array(words.map { .string($0) }))]
        case .reactionsCleared(let name, let emoji, let user):
            let change = DecodedChange.reactionsCleared(name, emoji: emoji, user: user.map { _ in "" })
            return [Statement(people: [user], change.json)]
        case .messageStands, .messageWithdrawn, .channelNamed, .channelDeleted, .channelStands,
            .itemRemoved, .sessionRemoved, .promptUnreadable, .promptRemoved:
            return [Statement(thing: nil, rest: change.json)]
        }
    }

    private init(people: [String?], _ rest: JSONValue) {
        (thing, self.people, self.rest) = (nil, people.compactMap { $0 }, rest)
    }

    /// A community's names are texts, its users people, and all else says which.
    private init(_ community: DecodedChange.Community, _ json: JSONValue) {
        thing = nil
        func without(_ change: DecodedChange.Community) -> JSONValue { DecodedChange.community(change).json }
        switch community {
        case .guild(let id, let name, let owner):
            (fields, people) = ([Self.field("name", name)], [owner].compactMap { $0 })
            rest = .array([.string(id), .bool(owner != nil)])
        case .member(let guild, let user, let nickname, let roles):
            (fields, people) = ([Self.field("nickname", nickname)], [user])
            rest = .array([.string(guild), .array(roles.map { .string($0) })])
        case .role(let guild, let id, let name, let permissions, let position, let color):
            fields = [Self.field("name", name)]
            rest = .array([
                .string(guild), .string(id), Self.text(permissions), Self.number(position), Self.number(color),
            ])
        case .memberRemoved(let guild, let user):
            (people, rest) = ([user], without(.memberRemoved(guild: guild, user: "")))
        case .ban(let guild, let user, let isPresent):
            (people, rest) = ([user], without(.ban(guild: guild, user: "", isPresent: isPresent)))
        case .presence(let user, let status): (people, rest) = ([user], without(.presence(user: "", status: status)))
        case .typing(let channel, let user): (people, rest) = ([user], without(.typing(channel: channel, user: "")))
        case .typingEnded(let channel, let user):
            (people, rest) = ([user], without(.typingEnded(channel: channel, user: "")))
        case .voice(let guild, let user, let channel):
            (people, rest) = ([user], without(.voice(guild: guild, user: "", channel: channel)))
        case .guildNamed, .guildDeleted, .memberships, .joined, .roleDeleted, .readStates: rest = json
        }
    }

    private static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

    private static func number(_ number: Int64?) -> JSONValue { text(number.map { String($0) }) }

    private static func field(_ name: String, _ value: String?) -> Field { Field(name: name, value: text(value)) }

    private static func fields(of object: JSONObject) -> [Field] {
        object.members.map { Field(name: $0.name, value: $0.value) }
    }
}
