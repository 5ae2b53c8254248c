import JSON

/// The changes that a dispatch makes, read from its `d`.
extension GatewayMembers {
    /// Returns the changes of one dispatch, things that it names before things that it changes.
    ///
    /// - Parameter recordingUser: the user whose own joins and leaves change the list of guilds.
    /// - Throws: `GatewayFault` if a member that the event needs is missing or has a wrong type. Then the dispatch has
    ///   no changes at all.
    func changes(
        of event: GatewayEventName,
        recordingUser: EntityID?,
        names: inout Names
    ) throws(GatewayFault) -> [Change] {
        switch event {
        case .ready: try readyChanges(names: &names)
        case .messageCreate, .messageUpdate: try naming(&names) + [.message(.written(message(names: &names)))]
        case .messageDelete: try messageDeletion(names: &names)
        case .messageReactionAdd: try reaction(isPresent: true, names: &names)
        case .messageReactionRemove: try reaction(isPresent: false, names: &names)
        case .guildCreate: [try createdGuild(names: &names), .community(.joined(try id("id", names: &names), true))]
        case .guildUpdate: [try guild(names: &names)]
        case .guildDelete: try guildDeletion(names: &names)
        case .channelCreate, .channelUpdate: try channel(names: &names)
        case .channelDelete: try channelDeletion(names: &names)
        case .guildMemberAdd: try memberAddition(recordingUser: recordingUser, names: &names)
        case .guildMemberUpdate: [try member(names: &names)]
        case .guildMemberRemove: try memberRemoval(recordingUser: recordingUser, names: &names)
        case .guildRoleCreate, .guildRoleUpdate: try outerRole(names: &names)
        case .guildRoleDelete: try roleDeletion(names: &names)
        case .guildBanAdd: [try ban(isPresent: true, names: &names)]
        case .guildBanRemove: [try ban(isPresent: false, names: &names)]
        case .typingStart: try typing(names: &names)
        case .presenceUpdate:
            [.community(.presence(user: try id("user_id", names: &names), status: try text("status")))]
        case .voiceStateUpdate: try voice(names: &names)
        }
    }

    /// Reads READY: the guilds joined, which it names by id alone, the read states, and the channels that they name.
    func readyChanges(names: inout Names) throws(GatewayFault) -> [Change] {
        // Required here too, so that READY without a user has one fault whatever else is wrong with it.
        _ = try id("user_id", names: &names)
        // A missing list is a fault: to read it as empty would leave every guild.
        guard self["guilds"] != nil else { throw fault("guilds", "is missing") }
        let guilds = try ids("guilds", names: &names)
        var changes: [Change] = [.community(.membership(guilds))]
        var states: [(channel: EntityID, lastMessage: EntityID?)] = []
        for state in try list("read_states") {
            let channel = try state.id("channel_id", names: &names)
            states.append((channel, try state.optionalID("last_message_id", names: &names)))
            changes.append(.channel(.named(channel, guild: nil)))
        }
        changes.append(.community(.readStates(states)))
        return changes
    }

    /// The member and, if it is the recording user, the guild that the user joined.
    private func memberAddition(recordingUser: EntityID?, names: inout Names) throws(GatewayFault) -> [Change] {
        let user = try id("user_id", names: &names)
        let member = try member(names: &names)
        guard user == recordingUser else { return [member] }
        return [member, .community(.joined(try id("guild_id", names: &names), true))]
    }

    private func memberRemoval(recordingUser: EntityID?, names: inout Names) throws(GatewayFault) -> [Change] {
        let guild = try id("guild_id", names: &names)
        let user = try id("user_id", names: &names)
        let removal = Change.community(.memberRemoved(guild: guild, user: user))
        return user == recordingUser ? [removal, .community(.joined(guild, false))] : [removal]
    }

    /// A gateway never uses a deleted message's id again, so the deletion is for ever.
    private func messageDeletion(names: inout Names) throws(GatewayFault) -> [Change] {
        let key = MessageKey(channel: try id("channel_id", names: &names), id: try id("id", names: &names))
        return try naming(&names) + [.message(.deleted(MessageDeletion(key: key, permanence: .forever)))]
    }

    private func reaction(isPresent: Bool, names: inout Names) throws(GatewayFault) -> [Change] {
        let key = MessageKey(channel: try id("channel_id", names: &names), id: try id("message_id", names: &names))
        let emoji = try text("emoji")
        let user = try id("user_id", names: &names)
        return try naming(&names) + [.message(.reaction(key, emoji: emoji, user: user, present: isPresent))]
    }

    /// A guild during an outage has nothing but its id: it becomes known, and what was known of it stays.
    private func createdGuild(names: inout Names) throws(GatewayFault) -> Change {
        isUnavailable ? .community(.guildNamed(try id("id", names: &names))) : try guild(names: &names)
    }

    /// An outage takes a guild away for a while and deletes nothing (Discord's reference, "Guild Delete").
    private func guildDeletion(names: inout Names) throws(GatewayFault) -> [Change] {
        let guild = try id("id", names: &names)
        return isUnavailable ? [.community(.guildNamed(guild))] : [.community(.guildDeleted(guild))]
    }

    /// Whether the guild is out of reach because of an outage.
    private var isUnavailable: Bool { self["unavailable"]?.bool == true }

    private func channelDeletion(names: inout Names) throws(GatewayFault) -> [Change] {
        let channel = try id("id", names: &names)
        let guild = try optionalID("guild_id", names: &names)
        let deletion = ChannelChange.deleted(channel, cause: .channelDeleted, permanence: .forever)
        // Only the guild is named: a channel must not come into being by its deletion.
        let named: [Change] = guild.map { [.community(.guildNamed($0))] } ?? []
        return named + [.channel(deletion)]
    }

    /// Reads `guild_id` and `role`. The role's own `guild_id` decides; the outer one is the guild of the request and
    /// may differ.
    private func outerRole(names: inout Names) throws(GatewayFault) -> [Change] {
        let outer = try id("guild_id", names: &names)
        return [.community(.guildNamed(outer)), try members("role").role(in: outer, names: &names)]
    }

    private func roleDeletion(names: inout Names) throws(GatewayFault) -> [Change] {
        let guild = try id("guild_id", names: &names)
        return [.community(.roleDeleted(guild: guild, id: try id("role_id", names: &names)))]
    }

    private func typing(names: inout Names) throws(GatewayFault) -> [Change] {
        let channel = try id("channel_id", names: &names)
        let user = try id("user_id", names: &names)
        return try naming(&names) + [
            .channel(.named(channel, guild: nil)), .community(.typing(channel: channel, user: user)),
        ]
    }

    /// A `channel_id` of null means that the user left; a missing one is a fault.
    private func voice(names: inout Names) throws(GatewayFault) -> [Change] {
        let guild = try id("guild_id", names: &names)
        let user = try id("user_id", names: &names)
        if self["channel_id"]?.kind == .null {
            return [.community(.voice(guild: guild, user: user, channel: nil))]
        }
        let channel = try id("channel_id", names: &names)
        return try naming(&names) + [.community(.voice(guild: guild, user: user, channel: channel))]
    }

    /// The guild and channel named by `guild_id` and `channel_id`; empty without `guild_id`. They exist from then on,
    /// even if no frame has stated them.
    private func naming(_ names: inout Names) throws(GatewayFault) -> [Change] {
        guard let guild = try optionalID("guild_id", names: &names) else { return [] }
        let channel = try id("channel_id", names: &names)
        return [.community(.guildNamed(guild)), .channel(.named(channel, guild: guild))]
    }
}
