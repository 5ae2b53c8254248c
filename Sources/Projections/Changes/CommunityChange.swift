import EventLog

/// A change of a guild or of something in it. None of these has a version: the last event in log order wins.
enum CommunityChange {
    case guildNamed(EntityID)
    case guildStated(EntityID, name: String?, owner: EntityID?)
    /// Everything known of the guild goes, its channels and their messages too; the id is never used again.
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
    /// `channel` is `nil` if the user left.
    case voice(guild: EntityID, user: EntityID, channel: EntityID?)
    case readStates([(channel: EntityID, lastMessage: EntityID?)])
}

/// How a change affects a user's typing in a channel.
enum TypingChange {
    /// Typing counts from the event being applied.
    case begins
    /// Typing counts from an earlier event. Clients that keep one timer a frame read it so.
    case counts(from: EventReference)
    /// Typing ends early. Only the readings of clients produce this.
    case ends

    /// How long a typing frame counts in the clients, in seconds.
    private static let seconds: Int64 = 8

    /// When typing ends if no further frame renews it. Stops at the greatest time instead of overflowing.
    static func end(ofTypingAt start: Timestamp) -> Timestamp {
        let (seconds, overflow) = start.seconds.addingReportingOverflow(seconds)
        return Timestamp(seconds: overflow ? .max : seconds, nanoseconds: start.nanoseconds)
    }
}
