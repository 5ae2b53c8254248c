import EventLog

/// The guilds of one source with their members, roles, bans and voice states; also presences, typing and read states.
///
/// None of these carries a version, so the last event in log order wins. A deleted guild or role stays deleted,
/// whatever arrives. Voice states and typing in a channel that is gone are not shown, whenever they became known.
struct Community: Fold {
    /// By row key. A member's register has roles that were deleted since, which `present(_:)` leaves out. Roles by id
    /// alone, because a role stays the same role if another guild names it. `row(of:_:)` gives
    /// the row's key.
    var registers: [EntityKey: Register<CommunityValue>] = [:]
    /// Guilds and roles that are deleted for ever, by their register's key.
    var ends: [EntityKey: EventReference] = [:]
    /// The guilds that became known, in that order, deleted ones included.
    private var guilds: [EntityID] = []
    /// Not saved.
    private var index = CommunityIndex()
    /// The event from which each user's typing in each channel counts. Typing that has ended stays until a compaction;
    /// only `row` compares it with `asOf`.
    var typing: [EntityKey: EventReference] = [:]
    /// The typing that an event has ended, until a compaction forgets it: an event that stays for something else may begin it again.
    var typingEnds: [EntityKey: TypingEnd] = [:]
    /// Typing up to this sequence is over and forgotten. Events up to it may be applied again after a compaction and then
    /// start no typing.
    var typingForgotten: UInt64 = 0
    var readStates = ReadStates()
    var fates = ChannelFates()

    /// The event from which typing counted, and the one that ended it.
    struct TypingEnd: Codable, Sendable {
        let began: EventReference
        let ended: EventReference
    }

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
        if known == nil {
            guilds.append(guild)
            index.note(guild: guild)
        }
        var value = known ?? CommunityValue.Guild()
        body(&value)
        if value != known { set(.guild(value), for: key, in: &context) }
        return true
    }

    /// Sets the whole list of joined guilds. Guilds that it lacks stay known, but are no longer joined.
    private mutating func setMembership(_ joined: [EntityID], in context: inout FoldContext) {
        for guild in joined { name(guild, in: &context) }
        let joined = Set(joined)
        // All others are not joined already.
        for guild in index.inOrder(joined.union(index.joined)) {
            change(guild: guild, in: &context) { $0.isJoined = joined.contains(guild) }
        }
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
        if case .member(let member)? = value, has(member, as: key, names: context.names) { return }
        if let value { index.note(value, of: key, before: before) }
        guard registers[key, default: Register()].set(value, at: context.event) else { return }
        context.touch(row(of: key, before))
        context.touch(row(of: key, value))
    }

    /// The key of the row that shows a register. A role's row key contains its guild.
    func row(of key: EntityKey, _ value: CommunityValue?) -> EntityKey {
        guard key.section == .roles, let guild = value?.role?.guild else { return key }
        return EntityKey(.roles, guild, key.first)
    }

    /// Deletes a guild for ever, with everything in it. Cost: that of everything that was in it.
    private mutating func delete(guild: EntityID, in context: inout FoldContext) {
        let key = Self.guildKey(guild)
        guard ends[key] == nil else { return }
        ends[key] = context.event
        let fallen = contents(of: guild)
        index.forget(guild: guild)
        // Sorted, because touched rows are in order and a set is not (I10).
        for key in context.names.sorted(Array(fallen)) { set(nil, for: key, in: &context) }
    }

    /// The registers of what is in a guild, in any order.
    private mutating func contents(of guild: EntityID) -> Set<EntityKey> {
        index.contents(of: guild) { [registers] in Self.lies($0, registers[$0]?.value, in: guild) }
    }

    /// The registers of things of a section that are in a guild, in the order of their ids. Cost: that of everything that is in
    /// it.
    mutating func present(_ section: Section, in guild: EntityID, names: Names) -> [EntityKey] {
        names.sorted(contents(of: guild).filter { $0.section == section })
    }

    /// The voice states in a channel, in the order of their ids.
    mutating func voices(in channel: EntityID, names: Names) -> [EntityKey] {
        names.sorted(Array(present(in: channel).filter { $0.section == .voiceStates }))
    }

    /// The guilds that the recording user is in, in any order.
    var joinedGuilds: Set<EntityID> { index.joined }

    /// The typing and the voice states in a channel, in any order.
    private mutating func present(in channel: EntityID) -> Set<EntityKey> {
        index.present(in: channel) { [typing, registers] key in
            key.section == .typing ? typing[key] != nil : registers[key]?.value?.voiceChannel == channel
        }
    }

    /// Whether a value goes with its guild. Presences belong to users, not to guilds.
    private static func lies(_ key: EntityKey, _ value: CommunityValue?, in guild: EntityID) -> Bool {
        switch value {
        case .guild, .member, .banned, .voice: key.first == guild
        case .role(let role): role.guild == guild
        case .presence, nil: false
        }
    }

    /// Deletes a role for ever, and takes it from every member. Cost: O(log roles) for each member who had it.
    private mutating func delete(role: EntityID, in context: inout FoldContext) {
        let key = Self.roleKey(role)
        guard ends[key] == nil else { return }
        ends[key] = context.event
        set(nil, for: key, in: &context)
        let holders = index.holders(of: role) { [registers] in
            registers[$0]?.value?.member?.names(role, context.names) == true
        }
        // The registers stay: what a member lost follows from `ends`, and a list of its other roles would be as long each time.
        for key in context.names.sorted(Array(holders)) {
            index.noteLoss(of: role, of: key, at: context.event.sequence)
            context.touch(key)
        }
    }

    /// Whether a member is known as it is stated, with roles that are not deleted. Cost: O(k log n) for k roles that are stated,
    /// of n.
    private func has(_ member: CommunityValue.Member, as key: EntityKey, names: Names) -> Bool {
        guard let lostCount = index.losses[key]?.count, let known = registers[key]?.value?.member else { return false }
        return known.nickname == member.nickname && known.roles.count - lostCount == member.roles.count
            && member.roles.allSatisfy { known.names($0, names) }
    }

    /// The roles that an event, the last one, took from a member who had so many that they are not told; `nil` for any other
    /// member.
    func lostRoles(of member: EntityKey, at sequence: SequenceNumber) -> [EntityID]? {
        guard let losses = index.losses[member], let last = losses.last, last.event == sequence,
            let stated = registers[member]?.entries.last, stated.event.sequence < sequence,
            let known = stated.value?.member
        else { return nil }
        let count = known.roles.count - (losses.count - last.roles.count)
        return CommunityValue.Member.isLarge(count, for: last.roles.count) ? last.roles : nil
    }

    /// The event that deleted a role; `nil` if it is not deleted.
    func end(ofRole role: EntityID) -> EventReference? { ends[Self.roleKey(role)] }

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
        case .begins: begin(key, at: context.event)
        case .counts(let event): begin(key, at: event)
        // A client ends it with each message, and mostly nobody types.
        case .ends:
            guard !typing.isEmpty, let began = typing.removeValue(forKey: key) else { break }
            typingEnds[key] = TypingEnd(began: began, ended: context.event)
        }
        context.touch(key)
    }

    private mutating func begin(_ key: EntityKey, at event: EventReference) {
        if typing.updateValue(event, forKey: key) == nil { index.noteTyping(key) }
        if !typingEnds.isEmpty { typingEnds[key] = nil }
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
    private mutating func touch(rowsIn channel: EntityID, in context: inout FoldContext) {
        if !context.notesTouched { return }
        let present = context.names.sorted(Array(present(in: channel)))
        for key in present where key.section == .typing { context.touch(key) }
        for key in present where key.section == .voiceStates { context.touch(key) }
    }
}

extension Community: Codable {
    private enum CodingKeys: CodingKey {
        case registers, ends, guilds, typing, typingEnds, typingForgotten, readStates, fates
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        registers = try container.decode([EntityKey: Register<CommunityValue>].self, forKey: .registers)
        ends = try container.decode([EntityKey: EventReference].self, forKey: .ends)
        guilds = try container.decode([EntityID].self, forKey: .guilds)
        typing = try container.decode([EntityKey: EventReference].self, forKey: .typing)
        typingEnds = try container.decode([EntityKey: TypingEnd].self, forKey: .typingEnds)
        typingForgotten = try container.decode(UInt64.self, forKey: .typingForgotten)
        readStates = try container.decode(ReadStates.self, forKey: .readStates)
        fates = try container.decode(ChannelFates.self, forKey: .fates)
        index = CommunityIndex(registers, typing: typing.keys, guilds: guilds) { [ends] in ends[Self.roleKey($0)] != nil
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(registers, forKey: .registers)
        try container.encode(ends, forKey: .ends)
        try container.encode(guilds, forKey: .guilds)
        try container.encode(typing, forKey: .typing)
        try container.encode(typingEnds, forKey: .typingEnds)
        try container.encode(typingForgotten, forKey: .typingForgotten)
        try container.encode(readStates, forKey: .readStates)
        try container.encode(fates, forKey: .fates)
    }
}
