import EventLog

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
    case typing(channel: EntityID, user: EntityID, TypingChange = .begins)
    /// `channel` is `nil` where the user left.
    case voice(guild: EntityID, user: EntityID, channel: EntityID?)
    case readStates([(channel: EntityID, lastMessage: EntityID?)])
}

/// What a change says of somebody's typing.
enum TypingChange {
    /// It counts from the event at hand.
    case begins
    /// It counts from an earlier event, as clients with one timer a frame have it.
    case counts(from: EventReference)
    /// It is over before its time, which only clients know.
    case ends

    /// How long a typing frame counts, as the clients have it.
    private static let seconds: Int64 = 8

    /// When typing ends of which nothing more is heard.
    static func end(ofTypingAt start: Timestamp) -> Timestamp {
        let (seconds, overflow) = start.seconds.addingReportingOverflow(seconds)
        return Timestamp(seconds: overflow ? .max : seconds, nanoseconds: start.nanoseconds)
    }
}
