import EventLog

/// A change of a message.
enum MessageChange {
    /// A version of the message arrived. Indirect, as it is several times as large as any other change.
    indirect case written(MessageWrite)
    /// The message was deleted by name, or its file or row vanished.
    case deleted(MessageDeletion)
    /// The message has another channel or id now; its history goes with it.
    case moved(from: MessageKey, to: MessageKey, remoteTime: Timestamp?, by: String?)
    /// A user added or removed a reaction.
    case reaction(MessageKey, emoji: String, user: EntityID, present: Bool)
    /// A version was taken back: the one before it counts again.
    case withdrawn(MessageKey, version: Timestamp)
    /// The reactions to a message that is known and live changed; to any other message they change nothing.
    indirect case reactions(MessageKey, ReactionChange)
    /// A branch's tip moved, which selects another of the known versions. Nobody wrote or deleted anything, so there is
    /// no revision and, unless the message became unreadable, no history entry.
    indirect case stands(MessageKey, MessageStanding)
}

/// The state of a message at the tip of a branch.
enum MessageStanding {
    case version(MessageWrite)
    /// Deleted by an earlier event; `last` is the version that was deleted.
    case deleted(MessageDeletion, since: EventReference, last: MessageWrite?)
    /// Neither live nor deleted: the message is known from elsewhere only, or is no message any more.
    case nowhere
    /// As `nowhere`, by a commit that made a message's file one that is no message. The history tells that.
    case unreadable(at: Timestamp?, by: String?)
}

/// Identifies a message within its source, as two handles.
struct MessageKey: Codable, Hashable, Sendable {
    var channel: EntityID
    var id: EntityID
}

/// One version of a message.
struct MessageWrite: Codable, Sendable {
    var key: MessageKey
    /// The remote's own version. The greatest wins; `nil` is least; of equal ones the later in the log wins. So order
    /// of arrival decides only between versions that the remote does not order itself.
    var version: Timestamp?
    var order: MessageOrder
    var saying: MessageSaying
    /// True if the text differs from the version before; false if only its surroundings, such as front matter, do.
    var changesContent = true
    /// The remote's own time of the change, and the author of the change, who may not be the message's.
    var remoteTime: Timestamp?
    var by: String?
    /// True if only the log orders the versions (commits): the later write wins, and each write with a new content is a
    /// revision. False if `version` orders them: the revisions are its distinct values.
    var revisesByArrival = false
    /// True if a later statement of the remote is known, in which the message is as it was.
    var isBehind = false
    /// Whether the event itself states the content; false if that is known from earlier events alone.
    var isStated = true
    /// A later version of the same content that arrived earlier. This version replaces it among the revisions.
    var replacesVersion: Timestamp?
    /// The packed content in the texts of the messages, if a decoder keeps it there; `nil` once a member differs from it.
    var stored: PooledText?
    /// Whether the remote's ids tell messages apart within a channel alone, though they order them.
    var isOfChannel = false
    /// What the version does to a message that is known.
    var meeting = MessageMeeting.replaces
}

extension MessageWrite {
    /// Whether a known text goes on with that of the version.
    var appends: Bool {
        if case .patches(let members, _) = meeting { members.contains(.appended) } else { false }
    }
}

/// What a version does to a message that is known already.
enum MessageMeeting: Codable, Sendable {
    /// The version is the whole message.
    case replaces
    /// The version is one of a new message: it changes no known one, unless that was deleted until written.
    case adds
    /// The version has some members; the known message keeps its others. It makes a new message only if `makes`.
    case patches(MessageMembers, makes: Bool)
}

/// Some members of a version.
struct MessageMembers: OptionSet, Codable, Sendable {
    let rawValue: UInt16

    static let author = MessageMembers(rawValue: 1)
    static let authorName = MessageMembers(rawValue: 2)
    static let content = MessageMembers(rawValue: 4)
    static let createdAt = MessageMembers(rawValue: 8)
    static let editedAt = MessageMembers(rawValue: 16)
    static let replyTo = MessageMembers(rawValue: 32)
    static let tags = MessageMembers(rawValue: 64)
    static let attachments = MessageMembers(rawValue: 128)
    static let version = MessageMembers(rawValue: 256)
    /// The text is what a streamed message goes on with, not the whole of it.
    static let appended = MessageMembers(rawValue: 512)
    /// The text goes on, and nothing else changes.
    static let piece: MessageMembers = [.content, .appended]

    init(rawValue: UInt16) {
        self.rawValue = rawValue
    }
}

/// A change of the reactions to one message.
enum ReactionChange: Sendable {
    struct Reaction: Sendable {
        let emoji: String
        let user: EntityID
    }

    case set(Reaction, isPresent: Bool)
    /// All are taken away, or all of one emoji, or of one user.
    case cleared(emoji: String?, user: EntityID? = nil)
    /// The remote stated all of them. They count if what it said of the message then does.
    case stand([Reaction], Statement)

    /// What states all reactions to a message.
    enum Statement: Sendable {
        /// A version of the message: counts unless a newer one is known.
        case version(Timestamp?)
        /// A change of whatever version the message has.
        case change
        /// A new message: counts unless it was known.
        case making
    }
}

/// The rule that orders a message within its channel.
enum MessageOrder: Codable, Hashable, Sendable {
    /// By id, as integers. Ids that are no integers follow, by their UTF-8 bytes.
    case byID
    /// By `createdAt`, then id.
    case byCreation
    /// At a place in the remote's own list: smaller places come first.
    case at(Int)
}

/// The end of a message.
struct MessageDeletion: Codable, Sendable {
    /// The raw values are written into documents and facts.
    enum Cause: String, Codable, Hashable, Sendable, CaseIterable {
        case deleted
        case channelDeleted = "channel_deleted"
        case guildDeleted = "guild_deleted"
        /// A list that is complete lacks it.
        case leftOut = "left_out"
    }

    var key: MessageKey
    var cause: Cause = .deleted
    var permanence: Permanence
    /// The remote's time, where it gives one.
    var deletedAt: Timestamp?
    var deletedBy: String?
    /// The remote's version of the deletion, where it gives one. It counts for one until written alone: a version of the message that
    /// is greater stands, and a lesser one does not bring the message back.
    var version: Timestamp?
    /// As in `MessageWrite`.
    var isOfChannel = false
}
