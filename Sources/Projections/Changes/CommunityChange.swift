/// What can happen around a guild. Registers without a version: the last event in log order wins.
enum CommunityChange {
    case guildNamed(EntityID)
    case guildStated(EntityID, name: String?, owner: EntityID?)
    /// Everything known of it goes, its channels and their messages too; the id is never used again.
    case guildDeleted(EntityID)
    /// The whole set of guilds that the recording user is in.
    case membership([EntityID])
    /// The recording user joined or left one guild.
    case joined(EntityID, Bool)
    case memberStated(guild: EntityID, user: EntityID, nickname: String?, roles: [EntityID])
    case memberRemoved(guild: EntityID, user: EntityID)
    case roleStated(guild: EntityID, id: EntityID, name: String?, permissions: String?, position: Int64?, color: Int64?)
    case roleDeleted(guild: EntityID, id: EntityID)
    case ban(guild: EntityID, user: EntityID, present: Bool)
    case presence(user: EntityID, status: String)
    case typing(channel: EntityID, user: EntityID)
    /// `channel` is `nil` where the user left.
    case voice(guild: EntityID, user: EntityID, channel: EntityID?)
    case readStates([(channel: EntityID, lastMessage: EntityID?)])
}
