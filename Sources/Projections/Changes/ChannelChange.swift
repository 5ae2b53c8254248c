/// What can happen to a channel.
enum ChannelChange {
    /// Another thing named it: it exists with what is known (its guild, perhaps), unless it was deleted.
    case named(EntityID, guild: EntityID?)
    /// The remote stated it whole.
    case stated(ChannelFields)
    /// It is gone, and its messages with it.
    case deleted(EntityID, cause: MessageDeletion.Cause, permanence: Permanence)
    /// Whether it stands now, though nobody made or removed it now (a branch's tip moved): no history.
    case stands(EntityID, isPresent: Bool)
}

/// Whether something deleted can come back.
enum Permanence: Codable, Hashable, Sendable {
    /// Its id is never used again: it stays deleted whatever arrives (gateways).
    case forever
    /// It lives again when it is written again (files, rows).
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
