import EventLog

/// The guilds of one source with their members, roles, bans and voice states; also presences, typing and read states.
///
/// None of these carries a version, so the last event in log order wins. A deleted guild or role stays deleted,
/// whatever arrives. Voice states and typing in a channel that is gone are not shown, whenever they became known.
struct Community: Fold {
    /// By row key; roles by id alone, because a role stays the same role if another guild names it. `row(of:_:)` gives
    /// the row's key.
    var registers: [EntityKey: Register<CommunityValue>] = [:]
    /// Guilds and roles that are deleted for ever, by their register's key.
    var ends: [EntityKey: EventReference] = [:]
    /// The guilds known and not deleted, in the order in which they became known.
    private var guilds: [EntityID] = []
    /// The keys of all voice states ever set, in order of appearance.
    private var voices: [EntityKey] = []
    /// The event from which each user's typing in each channel counts. Typing that has ended stays until a compaction;
    /// only `row` compares it with `asOf`.
    var typing: [EntityKey: EventReference] = [:]
    /// Typing up to this sequence is over and forgotten. Events up to it may be applied again after a compaction and then
    /// start no typing.
    var typingForgotten: UInt64 = 0
    var readStates = ReadStates()
    var fates = ChannelFates()

    /// The read states of the last READY or answer; a later one replaces all of them.
    struct ReadStates: Codable, Sendable {
        /// The event that stated them; `nil` before the first.
        var event: EventReference?
        /// The last message read in each channel; the inner `nil` means that none was read.
        var lastMessages: [EntityKey: EntityID?] = [:]
    }

    init() {}

    /// Whether a guild was deleted; that is for ever.
    func isDeleted(guild: EntityID) -> Bool { ends[Self.guildKey(guild)] != nil }

    static func guildKey(_ guild: EntityID) -> EntityKey { EntityKey(.guilds, guild) }

    static func roleKey(_ role: EntityID) -> EntityKey { EntityKey(.roles, role) }

    mutating func apply(_ change: Change, in context: inout FoldContext) {
        let fallen = fates.apply(change, at: context.event)
        if case .community(let change) = change { apply(change, in: &context) }
        for channel in fallen { touch(rowsIn: channel, in: &context) }
    }

    private mutating func apply(_ change: CommunityChange, in context: inout FoldContext) {
        switch change {
        case .guildNamed(let guild): self.name(guild, in: &context)
        case .guildStated(let id, let name, let owner):
            self.change(guild: id, in: &context) {
                $0.name = name.map(ExactText.init)
                $0.owner = owner
            }
        case .guildDeleted(let guild): delete(guild: guild, in: &context)
        case .membership(let joined): setMembership(joined, in: &context)
        case .joined(let guild, let isJoined): self.change(guild: guild, in: &context) { $0.isJoined = isJoined }
        case .memberStated(let guild, let user, let nickname, let roles):
            let member = CommunityValue.Member(
                nickname: nickname.map(ExactText.init),
                roles: living(roles, names: context.names)
            )
            set(.member(member), for: EntityKey(.members, guild, user), of: guild, in: &context)
        case .memberRemoved(let guild, let user):
            set(nil, for: EntityKey(.members, guild, user), of: guild, in: &context)
        case .roleStated(let guild, let id, let name, let permissions, let position, let color):
            let role = CommunityValue.Role(
                guild: guild,
                name: name.map(ExactText.init),
                permissions: permissions.map(ExactText.init),
                position: position,
                color: color
            )
            // A deleted role stays deleted, but the statement still makes its guild known.
            guard ends[Self.roleKey(id)] == nil else { return _ = self.name(guild, in: &context) }
            set(.role(role), for: Self.roleKey(id), of: guild, in: &context)
        case .roleDeleted(let guild, let id):
            self.name(guild, in: &context)
            delete(role: id, in: &context)
        case .ban(let guild, let user, let present):
            set(present ? .banned : nil, for: EntityKey(.bans, guild, user), of: guild, in: &context)
        case .presence(let user, let status):
            set(.presence(ExactText(status)), for: EntityKey(.presences, user), in: &context)
        case .typing(let channel, let user, let change): type(user, in: channel, change, context: &context)
        case .voice(let guild, let user, let channel):
            let voice = channel.map { CommunityValue.voice(channel: $0) }
            set(voice, for: EntityKey(.voiceStates, guild, user), of: guild, in: &context)
        case .readStates(let states): read(states, in: &context)
        }
    }
}

extension Community {
    /// Makes a guild known; false if it was deleted.
    @discardableResult
    private mutating func name(_ guild: EntityID, in context: inout FoldContext) -> Bool {
        change(guild: guild, in: &context) { _ in }
    }

    @discardableResult
    private mutating func change(
        guild: EntityID,
        in context: inout FoldContext,
        _ body: (inout CommunityValue.Guild) -> Void
    ) -> Bool {
        let key = Self.guildKey(guild)
        guard ends[key] == nil else { return false }
        let known = registers[key]?.value?.guild
        if known == nil { guilds.append(guild) }
        var value = known ?? CommunityValue.Guild()
        body(&value)
        if value != known { set(.guild(value), for: key, in: &context) }
        return true
    }

    /// Sets the whole list of joined guilds. Guilds that it lacks stay known, but are no longer joined.
    private mutating func setMembership(_ joined: [EntityID], in context: inout FoldContext) {
        for guild in joined { name(guild, in: &context) }
        let joined = Set(joined)
        for guild in guilds { change(guild: guild, in: &context) { $0.isJoined = joined.contains(guild) } }
    }

    /// Sets the value of something in a guild and makes the guild known. Does nothing if the guild was deleted.
    private mutating func set(
        _ value: CommunityValue?,
        for key: EntityKey,
        of guild: EntityID,
        in context: inout FoldContext
    ) {
        guard name(guild, in: &context) else { return }
        set(value, for: key, in: &context)
    }

    /// Sets or, with `nil`, removes a value. Touches the rows before and after, which differ where a role changes its
    /// guild.
    private mutating func set(_ value: CommunityValue?, for key: EntityKey, in context: inout FoldContext) {
        let before = registers[key]?.value
        if key.section == .voiceStates, registers[key] == nil { voices.append(key) }
        guard registers[key, default: Register()].set(value, at: context.event) else { return }
        context.touch(row(of: key, before))
        context.touch(row(of: key, value))
    }

    /// The key of the row that shows a register. A role's row key contains its guild.
    func row(of key: EntityKey, _ value: CommunityValue?) -> EntityKey {
        guard key.section == .roles, let guild = value?.role?.guild else { return key }
        return EntityKey(.roles, guild, key.first)
    }

    /// Deletes a guild for ever, with everything in it. Cost: O(registers of the source).
    private mutating func delete(guild: EntityID, in context: inout FoldContext) {
        let key = Self.guildKey(guild)
        guard ends[key] == nil else { return }
        ends[key] = context.event
        guilds.removeAll { $0 == guild }
        let fallen = registers.compactMap { Self.lies($0.key, $0.value.value, in: guild) ? $0.key : nil }
        // Sorted, because touched rows are in order and a dictionary is not (I10).
        for key in context.names.sorted(fallen) { set(nil, for: key, in: &context) }
    }

    /// Whether a value goes with its guild. Presences belong to users, not to guilds.
    private static func lies(_ key: EntityKey, _ value: CommunityValue?, in guild: EntityID) -> Bool {
        switch value {
        case .guild, .member, .banned, .voice: key.first == guild
        case .role(let role): role.guild == guild
        case .presence, nil: false
        }
    }

    /// Deletes a role for ever, and takes it from every member. Cost: O(registers of the source).
    private mutating func delete(role: EntityID, in context: inout FoldContext) {
        let key = Self.roleKey(role)
        guard ends[key] == nil else { return }
        ends[key] = context.event
        set(nil, for: key, in: &context)
        let holders = registers.compactMap { key, register in
            register.value?.member?.roles.contains(role) == true ? key : nil
        }
        for key in context.names.sorted(holders) {
            guard var member = registers[key]?.value?.member else { continue }
            member.roles.removeAll { $0 == role }
            set(.member(member), for: key, in: &context)
        }
    }

    /// The roles that are not deleted, as a set in the order of the ids' UTF-8 bytes: equal sets then compare as equal.
    private func living(_ roles: [EntityID], names: Names) -> [EntityID] {
        names.sorted(Set(roles.filter { ends[Self.roleKey($0)] == nil }))
    }

    /// Begins, renews or ends a user's typing. Events that a compaction has accounted for do nothing.
    private mutating func type(
        _ user: EntityID,
        in channel: EntityID,
        _ change: TypingChange,
        context: inout FoldContext
    ) {
        guard context.event.sequence.rawValue > typingForgotten else { return }
        let key = EntityKey(.typing, channel, user)
        switch change {
        case .begins: typing[key] = context.event
        case .counts(let event): typing[key] = event
        case .ends: typing[key] = nil
        }
        context.touch(key)
    }

    /// Replaces the read states, and touches the rows that differ.
    private mutating func read(
        _ states: [(channel: EntityID, lastMessage: EntityID?)],
        in context: inout FoldContext
    ) {
        var lastMessages: [EntityKey: EntityID?] = [:]
        for state in states {
            // A subscript would take a `nil` for the removal of the entry.
            lastMessages.updateValue(state.lastMessage, forKey: EntityKey(.readStates, state.channel))
        }
        let keys = Set(lastMessages.keys).union(readStates.lastMessages.keys)
        for key in context.names.sorted(keys.filter { lastMessages[$0] != readStates.lastMessages[$0] }) {
            context.touch(key)
        }
        readStates = ReadStates(event: context.event, lastMessages: lastMessages)
    }

    /// Touches the typing and voice rows of a channel that is gone: they are not shown any more.
    private func touch(rowsIn channel: EntityID, in context: inout FoldContext) {
        for key in context.names.sorted(typing.keys.filter { $0.first == channel }) { context.touch(key) }
        for key in voices where registers[key]?.value?.voiceChannel == channel { context.touch(key) }
    }
}
