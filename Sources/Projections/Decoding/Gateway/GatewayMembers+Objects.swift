import EventLog
import JSON

/// Objects that occur in both frames and REST answers.
extension GatewayMembers {
    /// Reads a whole message.
    ///
    /// The gateway numbers no versions, so the time of the last edit is the version; an unedited message has none,
    /// which is the least. `PlainFrame.change` must give the same (I18).
    func message(names: inout Names) throws(GatewayFault) -> MessageWrite {
        let key = MessageKey(channel: try id("channel_id", names: &names), id: try id("id", names: &names))
        let author = try author(names: &names)
        let createdAt = try statedTime("created_at")
        let editedAt = try optionalTime("edited_at")
        let attachments = try array("attachments")
        return MessageWrite(
            key: key,
            version: editedAt,
            order: .byID,
            saying: MessageSaying(
                text: MessageText(try statedText("content") ?? ""),
                author: author.id,
                authorName: author.name,
                createdAt: createdAt,
                editedAt: editedAt,
                attachments: attachments.isEmpty ? nil : attachments.map(\.value),
                extra: messageExtra
            ),
            remoteTime: editedAt ?? createdAt,
            by: author.id
        )
    }

    /// The members that a message's fields are read from, and those that no state shows. All others are kept in
    /// `extra`.
    private static let messageMembers: [StaticString] = [
        "id", "channel_id", "guild_id", "author_id", "content", "created_at", "edited_at", "author_username",
        "author_display_name", "author_avatar_hash", "attachments",
    ]

    /// The members that no decoder knows, in the payload's order. Null counts as absent.
    private var messageExtra: JSONObject {
        var extra = JSONObject()
        object.forEach { name, value in
            if value.kind == .null || Self.messageMembers.contains(where: { name == $0 }) { return }
            extra[name.string] = value.value
        }
        return extra
    }

    /// Reads the author and the names beside it. The display name wins over the user name.
    private func author(names: inout Names) throws(GatewayFault) -> (id: String?, name: String?) {
        let id = try statedID("author_id", names: &names)
        return (id.map { names.text($0) }, try optionalText(name("author_display_name", or: "author_username")))
    }

    /// Reads a guild's own fields. Its channels and members come as things of their own.
    func guild(names: inout Names) throws(GatewayFault) -> Change {
        let id = try id("id", names: &names)
        return .community(
            .guildStated(id, name: try statedText("name"), owner: try statedID("owner_id", names: &names))
        )
    }

    /// The words for Discord's channel types, those of guilds and those of direct messages (Discord's reference, "Channel Types").
    private static let guildKinds: [Int64: String] = [0: "text", 2: "voice", 4: "category"]
    private static let directKinds: [Int64: String] = [1: "dm", 3: "group"]

    /// The words that rows of a gateway's source may have and no frame does.
    static let ownWords = [guildKinds, directKinds].flatMap(\.values).sorted()

    /// Reads a channel. One with `recipients` is for direct messages; any other belongs to a guild, which it names, as
    /// it names its category (`parent_id`).
    func channel(names: inout Names) throws(GatewayFault) -> [Change] {
        if self["recipients"] != nil { return [.channel(.stated(try directChannel(names: &names)))] }
        let guild = try id("guild_id", names: &names)
        let parent = try optionalID("parent_id", names: &names)
        let fields = ChannelFields(
            id: try id("id", names: &names),
            name: try statedText("name"),
            kind: try kind(of: Self.guildKinds),
            guild: guild,
            details: ChannelFields.Details(
                topic: try optionalText("topic"),
                position: try statedInteger("position"),
                parent: parent
            )
        )
        let named: [Change] = parent.map { [.channel(.named($0, guild: guild))] } ?? []
        return [.community(.guildNamed(guild))] + named + [.channel(.stated(fields))]
    }

    /// Reads a channel of direct messages. Its name is optional, and it belongs to no guild.
    private func directChannel(names: inout Names) throws(GatewayFault) -> ChannelFields {
        var recipients: [EntityID] = []
        for recipient in try list("recipients") { recipients.append(try recipient.id("id", names: &names)) }
        return ChannelFields(
            id: try id("id", names: &names),
            name: try optionalText("name"),
            kind: try kind(of: Self.directKinds),
            details: ChannelFields.Details(recipients: recipients)
        )
    }

    /// The word for the channel's `type`. A type that is not in `kinds` is a fault or, without `isChecked`, `nil`.
    private func kind(of kinds: [Int64: String]) throws(GatewayFault) -> String? {
        guard let type = try statedInteger("type") else { return nil }
        guard let kind = kinds[type] else {
            if !isChecked { return nil }
            // Sorted, because the order of a dictionary's keys differs between runs and the reason is part of the state
            // (I10).
            let known = kinds.keys.sorted().map(String.init).joined(separator: ", ")
            throw fault("type", "is \(type), none of \(known)")
        }
        return kind
    }

    /// Reads a member; null or missing `roles` are the empty set.
    func member(names: inout Names) throws(GatewayFault) -> Change {
        .community(
            .memberStated(
                guild: try id("guild_id", names: &names),
                user: try id("user_id", names: &names),
                nickname: try optionalText("nickname"),
                roles: try ids("roles", names: &names)
            )
        )
    }

    /// Reads a role. It belongs to the guild that it names, else to `outer`.
    func role(in outer: EntityID, names: inout Names) throws(GatewayFault) -> Change {
        .community(
            .roleStated(
                guild: try optionalID("guild_id", names: &names) ?? outer,
                id: try id("id", names: &names),
                name: try statedText("name"),
                permissions: try permissions(),
                position: try statedInteger("position"),
                color: try statedInteger("color")
            )
        )
    }

    /// Permission bits as a decimal text. A number is read as 64 bits, which a floating-point number would not hold; a
    /// text is taken as written.
    private func permissions() throws(GatewayFault) -> String? {
        if !isChecked { return try optionalText("permissions") }
        if let number = self["permissions"]?.digits {
            guard let bits = number.uint64 else { throw fault("permissions", "is no whole number") }
            return String(bits)
        }
        return try text("permissions")
    }

    /// Reads a ban or, with `isPresent` false, its end. The member is not removed by it.
    func ban(isPresent: Bool, names: inout Names) throws(GatewayFault) -> Change {
        .community(
            .ban(
                guild: try id("guild_id", names: &names),
                user: try id("user_id", names: &names),
                present: isPresent
            )
        )
    }
}
