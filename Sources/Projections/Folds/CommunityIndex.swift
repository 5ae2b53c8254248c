import EventLog

/// Finds what a change of a guild, a role or a channel concerns, so that it costs as much as it concerns and not as much as is
/// known (I34).
///
/// A list may have things that are not meant any more, and repeats. Who reads one gives the condition that tells, and what does
/// not fulfil it leaves the list: it is noted again when it does. The index is derived, and not saved.
struct CommunityIndex: Sendable {
    /// The members that had a role, by role.
    private var holders: [EntityID: [EntityKey]] = [:]
    /// The registers of what was in a guild, by guild.
    private var contents: [EntityID: [EntityKey]] = [:]
    /// What members lost of the roles that their registers have, because they were deleted since; none for most.
    private(set) var losses: [EntityKey: Losses] = [:]
    /// The voice states that named a channel, and the typing there, by channel.
    private var present: [EntityID: [EntityKey]] = [:]
    /// The place of each guild in the order in which they became known.
    private var guildPlaces: [EntityID: Int] = [:]
    /// The guilds that the recording user is in.
    private(set) var joined: Set<EntityID> = []

    /// The deleted roles of a member.
    struct Losses {
        fileprivate(set) var count: Int
        /// The last event that deleted some, and these; `nil` if it is not known.
        fileprivate(set) var last: (event: SequenceNumber, roles: [EntityID])?
    }

    init() {}

    /// Makes the index of what is known.
    init(
        _ registers: [EntityKey: Register<CommunityValue>],
        typing: some Sequence<EntityKey>,
        guilds: [EntityID],
        isDeletedRole: (EntityID) -> Bool
    ) {
        for guild in guilds { note(guild: guild) }
        for (key, register) in registers {
            guard let value = register.value else { continue }
            note(value, of: key, before: nil)
            let lostCount = value.member?.roles.count(where: isDeletedRole) ?? 0
            if lostCount > 0 { losses[key] = Losses(count: lostCount) }
        }
        for key in typing { noteTyping(key) }
    }

    /// The members that have a role, in any order.
    mutating func holders(of role: EntityID, where isMeant: (EntityKey) -> Bool) -> Set<EntityKey> {
        Self.keep(in: &holders[role], where: isMeant)
    }

    /// The registers of what is in a guild, in any order.
    mutating func contents(of guild: EntityID, where isMeant: (EntityKey) -> Bool) -> Set<EntityKey> {
        Self.keep(in: &contents[guild], where: isMeant)
    }

    /// The voice states and the typing that are in a channel, in any order.
    mutating func present(in channel: EntityID, where isMeant: (EntityKey) -> Bool) -> Set<EntityKey> {
        Self.keep(in: &present[channel], where: isMeant)
    }

    /// Some guilds, each once, in the order in which they became known; others are left out.
    func inOrder(_ guilds: Set<EntityID>) -> [EntityID] {
        guilds.compactMap { guild in guildPlaces[guild].map { (place: $0, guild: guild) } }
            .sorted { $0.place < $1.place }.map(\.guild)
    }

    private static func keep(in list: inout [EntityKey]?, where isMeant: (EntityKey) -> Bool) -> Set<EntityKey> {
        guard let keys = list else { return [] }
        Steps.count(keys.count)
        let kept = Set(keys.filter(isMeant))
        if kept.count < keys.count { list = kept.isEmpty ? nil : Array(kept) }
        return kept
    }

    /// Notes a guild that became known.
    mutating func note(guild: EntityID) {
        if guildPlaces[guild] == nil { guildPlaces[guild] = guildPlaces.count }
    }

    /// Notes a value that a register gets.
    mutating func note(_ value: CommunityValue, of key: EntityKey, before: CommunityValue?) {
        switch value {
        case .guild(let guild):
            if before == nil { contents[key.first, default: []].append(key) }
            if guild.isJoined { joined.insert(key.first) } else { joined.remove(key.first) }
        case .member(let member):
            losses[key] = nil
            if before == nil { contents[key.first, default: []].append(key) }
            noteRoles(of: member, key, before: before?.member)
        case .banned:
            if before == nil { contents[key.first, default: []].append(key) }
        case .voice(let channel):
            if before == nil { contents[key.first, default: []].append(key) }
            if before?.voiceChannel != channel { present[channel, default: []].append(key) }
        case .role(let role):
            if before?.role?.guild != role.guild { contents[role.guild, default: []].append(key) }
        case .presence: break
        }
    }

    /// Notes that a guild is gone.
    mutating func forget(guild: EntityID) {
        contents[guild] = nil
        joined.remove(guild)
    }

    /// Notes that an event deleted one of the roles that a member's register has.
    mutating func noteLoss(of role: EntityID, of member: EntityKey, at event: SequenceNumber) {
        var known = losses[member] ?? Losses(count: 0)
        losses[member] = nil
        known.count += 1
        if known.last?.event != event { known.last = (event, []) }
        known.last?.roles.append(role)
        losses[member] = known
    }

    mutating func noteTyping(_ key: EntityKey) { present[key.first, default: []].append(key) }

    /// Adds a member to the holders of the roles that it did not have before.
    private mutating func noteRoles(of member: CommunityValue.Member, _ key: EntityKey, before: CommunityValue.Member?)
    {
        if member.roles.isEmpty { return }
        let known = Set(before?.roles ?? [])
        for role in member.roles where !known.contains(role) { holders[role, default: []].append(key) }
    }
}
