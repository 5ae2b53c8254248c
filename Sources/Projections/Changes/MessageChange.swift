import EventLog

/// What can happen to a message.
enum MessageChange {
    /// A version of it arrived.
    case written(MessageWrite)
    /// It was deleted by name, or vanished from where it stood.
    case deleted(MessageDeletion)
    /// It stands under another channel or id now; its history goes with it.
    case moved(from: MessageKey, to: MessageKey, remoteTime: Timestamp?, by: String?)
    /// A user put a reaction on it, or took it away.
    case reaction(MessageKey, emoji: String, user: EntityID, present: Bool)
    /// Which part of what is known stands now, though nobody wrote or deleted it now (a branch's tip moved): no
    /// revision, no history.
    case stands(MessageKey, MessageStanding)
}

/// What stands under a message's key at the tip of a branch.
enum MessageStanding {
    case version(MessageWrite)
    /// Deleted by an earlier event; `last` is the version that was deleted.
    case deleted(MessageDeletion, since: EventReference, last: MessageWrite?)
    /// Neither live nor deleted: known from elsewhere only, or no message any more.
    case nowhere
}

/// What a message is known by within its source.
struct MessageKey: Codable, Hashable, Sendable {
    var channel: EntityID
    var id: EntityID
}

/// One version of a message.
struct MessageWrite: Codable, Sendable {
    var key: MessageKey
    /// The remote's own version. The greatest wins, `nil` is least, of equal ones the later in the log: then order of
    /// arrival decides only between versions that the remote does not order itself.
    var version: Timestamp?
    var order: MessageOrder
    var author: String?
    var authorName: String?
    var createdAt: Timestamp?
    var editedAt: Timestamp?
    var content: String
    /// The id of the message that this one answers, in the same channel.
    var replyTo: EntityID?
    var tags: [String]?
    var files: [String]?
    var images: [String]?
    /// Texts or, where the remote says more of an attachment, objects.
    var attachments: [JSONValue]?
    var extra = JSONObject()
    /// Whether the text (false: only what surrounds it, such as front matter) differs from the version before.
    var changesContent = true
    /// When the remote says that the change was made, and by whom.
    var remoteTime: Timestamp?
    var by: String?
    /// Whether the log's order is the only order of versions (commits): the later write wins and each one that says
    /// something new is a revision. Otherwise revisions are the distinct values of `version`.
    var revisesByArrival = false
    /// A later version that says the same as this one, which came late: this one takes its place among the revisions.
    var replacesVersion: Timestamp?
    /// Tells how the rest was written, where a change of that alone is a revision too (front matter).
    var form: Hash256?
}

/// Where a message stands in its channel.
enum MessageOrder: Codable, Hashable, Sendable {
    /// By id, as integers (ids that are none: after those, by their UTF-8 bytes).
    case byID
    /// By `createdAt`, then id.
    case byCreation
    /// At a place in the remote's own list.
    case at(Int)
}

/// The end of a message.
struct MessageDeletion: Codable, Sendable {
    enum Cause: String, Codable, Hashable, Sendable, CaseIterable {
        case deleted
        case channelDeleted = "channel_deleted"
        case guildDeleted = "guild_deleted"
    }

    var key: MessageKey
    var cause: Cause = .deleted
    var permanence: Permanence
    /// The remote's time, where it gives one.
    var deletedAt: Timestamp?
    var deletedBy: String?
}
