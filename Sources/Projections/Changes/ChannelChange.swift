/// A change of a channel.
enum ChannelChange {
    /// Something else named the channel. It exists from now on, unless it was deleted; the guild is known or `nil`.
    case named(EntityID, guild: EntityID?)
    /// The remote stated all fields of the channel.
    case stated(ChannelFields)
    /// The channel is gone, and its messages with it.
    case deleted(EntityID, cause: MessageDeletion.Cause, permanence: Permanence)
    /// The channel appeared or vanished because a branch's tip moved. Nobody made or removed it, so it gets no history
    /// entry.
    case stands(EntityID, isPresent: Bool)
}

/// Whether something deleted can come back.
enum Permanence: Codable, Hashable, Sendable {
    /// The id is never used again: the thing stays deleted whatever arrives (gateways).
    case forever
    /// A later write brings the thing back (files, rows).
    case untilWritten
}

/// A channel as a remote states it; absent members are `nil`.
struct ChannelFields: Codable, Hashable, Sendable {
    var id: EntityID
    var name: String?
    /// `folder`, `text`, `voice`, `category`, `dm`, `group` or `conversation`.
    var kind: String?
    var guild: EntityID?
    var topic: String?
    var position: Int64?
    var parent: EntityID?
    var recipients: [EntityID]?
}
