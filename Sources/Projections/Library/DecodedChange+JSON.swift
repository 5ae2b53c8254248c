import EventLog

extension DecodedChange {
    /// The change as JSON: an object with one member, the name of the change. Members without a value are left out; times
    /// are RFC 3339 in UTC. Samples of decoder files are written so.
    public var json: JSONValue {
        switch self {
        case .message(let message): Self.object("message", message.json)
        case .messageDeleted(let name, let author, let time):
            Self.object("messageDeleted", name.json(["by": .text(author), "at": .text(time?.description)]))
        case .messageMoved(let from, let to, let author, let time):
            Self.object(
                "messageMoved",
                [
                    "from": .object(from.json()), "to": .object(to.json()), "by": .text(author),
                    "at": .text(time?.description),
                ]
            )
        case .reaction(let name, let emoji, let user, let isPresent):
            Self.object(
                isPresent ? "reaction" : "reactionRemoved",
                name.json(["emoji": .string(emoji), "user": .string(user)])
            )
        case .messageWithdrawn(let name, let version):
            Self.object("messageWithdrawn", name.json(["version": .string(version.description)]))
        case .reactionsCleared(let name, let emoji, let user):
            Self.object("reactionsCleared", name.json(["emoji": .text(emoji), "user": .text(user)]))
        case .reactionsStand(let name, let reactions):
            Self.object(
                "reactions",
                name.json([
                    "all": .array(
                        reactions.map { .object(["emoji": .string($0.emoji), "user": .string($0.user)]) }
                    )
                ])
            )
        case .messageStands(let name, let message):
            Self.object("messageStands", message?.json ?? name.json())
        case .channel(let channel): Self.object("channel", channel.json)
        case .channelPatched(let channel, let members):
            Self.object("channel", channel.json.telling(members))
        case .channelNamed(let id, let guild):
            Self.object("channelNamed", ["id": .string(id), "guild": .text(guild)])
        case .channelDeleted(let id): Self.object("channelDeleted", ["id": .string(id)])
        case .channelStands(let id, let isPresent):
            Self.object("channelStands", ["id": .string(id), "present": .bool(isPresent)])
        case .community(let change): change.json
        case .items(let list, let items, let isWhole):
            Self.object(
                "items",
                ["list": .string(list), "items": .array(items.map { .object($0.json()) }), "whole": .bool(isWhole)]
            )
        case .item(let list, let item): Self.object("item", item.json(list: list))
        case .itemPatched(let list, let item, let members):
            Self.object("item", item.json(list: list).telling(members))
        case .itemRemoved(let list, let id):
            Self.object("itemRemoved", ["list": .string(list), "id": .string(id)])
        case .session(let session):
            Self.object(
                "session",
                [
                    "id": .string(session.id), "project": .string(session.project), "status": .string(session.status),
                    "timestamp": .text(session.timestamp), "device": .text(session.device),
                ]
            )
        case .sessionRemoved(let id): Self.object("sessionRemoved", ["id": .string(id)])
        case .prompt(let prompt):
            Self.object(
                "prompt",
                ["id": .string(prompt.id), "session": .text(prompt.session), "text": .text(prompt.text)]
            )
        case .promptUnreadable(let id): Self.object("promptUnreadable", ["id": .string(id)])
        case .promptRemoved(let id): Self.object("promptRemoved", ["id": .string(id)])
        case .row(let row):
            Self.object(
                "row",
                [
                    "table": .string(row.table), "id": .string(row.id), "operation": .string(row.operation),
                    "record": .object(row.record),
                ]
            )
        }
    }

    fileprivate static func object(_ name: String, _ members: JSONObject) -> JSONValue {
        var object = JSONObject()
        object[name] = .object(members)
        return .object(object)
    }
}

extension DecodedChange.MessageName {
    fileprivate func json(_ others: JSONObject = JSONObject()) -> JSONObject {
        var object: JSONObject = ["channel": .string(channel), "id": .string(id)]
        for member in others.members { object[member.name] = member.value }
        return object
    }
}

extension DecodedChange.Message {
    fileprivate var json: JSONObject {
        name.json([
            "author": .text(author), "authorName": .text(authorName), "createdAt": .text(createdAt?.description),
            "editedAt": .text(editedAt?.description), "content": .string(content),
            "appends": appends ? .bool(true) : nil, "replyTo": .text(replyTo),
            "tags": tags.isEmpty ? nil : .array(tags.map { .string($0) }),
            "attachments": attachments.isEmpty ? nil : .array(attachments),
            "extra": extra.members.isEmpty ? nil : .object(extra),
        ])
    }
}

extension DecodedChange.Channel {
    fileprivate var json: JSONObject {
        ["id": .string(id), "name": .text(name), "kind": .text(kind), "guild": .text(guild), "topic": .text(topic)]
    }
}

extension JSONObject {
    /// The object of a patch: with the names of the members that it tells, of which one without a value says that there is none.
    fileprivate func telling(_ names: [String]) -> JSONObject {
        var object = self
        if !names.contains("done") { object["done"] = nil }
        object["patches"] = .array(names.map { .string($0) })
        return object
    }
}

extension DecodedChange.Item {
    fileprivate func json(list: String? = nil) -> JSONObject {
        [
            "list": .text(list), "id": .string(id), "text": .text(text), "done": .bool(isDone), "status": .text(status),
            "created": .text(created), "extra": extra.members.isEmpty ? nil : .object(extra),
        ]
    }
}

extension DecodedChange.Community {
    fileprivate var json: JSONValue {
        switch self {
        case .guildNamed(let id): DecodedChange.object("guildNamed", ["id": .string(id)])
        case .guild(let id, let name, let owner):
            DecodedChange.object("guild", ["id": .string(id), "name": .text(name), "owner": .text(owner)])
        case .guildDeleted(let id): DecodedChange.object("guildDeleted", ["id": .string(id)])
        case .memberships(let ids): DecodedChange.object("memberships", ["ids": .array(ids.map { .string($0) })])
        case .joined(let id, let isJoined):
            DecodedChange.object("joined", ["id": .string(id), "joined": .bool(isJoined)])
        case .member(let guild, let user, let nickname, let roles):
            DecodedChange.object(
                "user",
                [
                    "scope": .string(guild), "id": .string(user), "name": .text(nickname),
                    "roles": roles.isEmpty ? nil : .array(roles.map { .string($0) }),
                ]
            )
        case .memberRemoved(let guild, let user):
            DecodedChange.object("userRemoved", ["scope": .string(guild), "id": .string(user)])
        case .role(let guild, let id, let name, _, _, _):
            DecodedChange.object("role", ["guild": .string(guild), "id": .string(id), "name": .text(name)])
        case .roleDeleted(let guild, let id):
            DecodedChange.object("roleDeleted", ["guild": .string(guild), "id": .string(id)])
        case .ban(let guild, let user, let isPresent):
            DecodedChange.object("ban", ["guild": .string(guild), "user": .string(user), "present": .bool(isPresent)])
        case .presence(let user, let status):
            DecodedChange.object("presence", ["user": .string(user), "status": .string(status)])
        case .typing(let channel, let user):
            DecodedChange.object("typing", ["channel": .string(channel), "user": .string(user)])
        case .typingEnded(let channel, let user):
            DecodedChange.object("typingEnded", ["channel": .string(channel), "user": .string(user)])
        case .voice(let guild, let user, let channel):
            DecodedChange.object(
                "voice",
                ["guild": .string(guild), "user": .string(user), "channel": .text(channel)]
            )
        case .readStates(let states):
            DecodedChange.object(
                "readStates",
                ["states": .array(states.map { .array([.string($0.channel), .text($0.lastMessage) ?? .null]) })]
            )
        }
    }
}
