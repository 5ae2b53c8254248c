public import EventLog

extension DecodedChange {
    /// Identifies a message within its source.
    public struct MessageName: Hashable, Sendable {
        /// The channel's id.
        public let channel: String
        /// The message's id.
        public let id: String
    }

    /// A user's reaction.
    public struct Reaction: Hashable, Sendable {
        /// The emoji, in the remote's words.
        public let emoji: String
        /// The user's id.
        public let user: String
    }

    /// One version of a message.
    public struct Message: Hashable, Sendable {
        /// Which message.
        public let name: MessageName
        /// The author's id or address.
        public let author: String?
        /// The author's name for display.
        public let authorName: String?
        /// When the remote says that it was written.
        public let createdAt: Timestamp?
        /// When the remote says that it was last edited.
        public let editedAt: Timestamp?
        /// The text.
        public let content: String
        /// Whether a known text goes on with this one.
        public let appends: Bool
        /// The id of the message in the same channel that this one answers.
        public let replyTo: String?
        /// The tags, in the remote's order.
        public let tags: [String]
        /// The texts or objects of its attachments.
        public let attachments: [JSONValue]
        /// The other members that the remote sent.
        public let extra: JSONObject
    }

    /// A channel as a remote states it.
    public struct Channel: Hashable, Sendable {
        /// The channel's id.
        public let id: String
        /// Its name.
        public let name: String?
        /// `folder`, `text`, `voice`, `category`, `dm`, `group` or `conversation`.
        public let kind: String?
        /// The id of its guild.
        public let guild: String?
        /// Its topic.
        public let topic: String?
        /// Its place among its guild's channels.
        public let position: Int64?
        /// The id of the category that it is in.
        public let parent: String?
        /// The ids of a direct conversation's recipients.
        public let recipients: [String]?
    }

    /// A change around a guild or its users.
    public enum Community: Hashable, Sendable {
        /// Something else named a guild.
        case guildNamed(String)
        /// A guild was stated.
        case guild(String, name: String?, owner: String?)
        /// A guild is gone, with everything in it.
        case guildDeleted(String)
        /// The whole set of guilds that the recording user is in.
        case memberships([String])
        /// The recording user joined or left a guild.
        case joined(String, Bool)
        /// A member was stated.
        case member(guild: String, user: String, nickname: String?, roles: [String])
        /// A member left or was removed.
        case memberRemoved(guild: String, user: String)
        /// A role was stated.
        case role(guild: String, id: String, name: String?, permissions: String?, position: Int64?, color: Int64?)
        /// A role is gone.
        case roleDeleted(guild: String, id: String)
        /// A user was banned, or a ban was lifted.
        case ban(guild: String, user: String, isPresent: Bool)
        /// A user's presence.
        case presence(user: String, status: String)
        /// A user began to type.
        case typing(channel: String, user: String)
        /// A user types no more.
        case typingEnded(channel: String, user: String)
        /// A user is in this voice channel; `nil`: in none.
        case voice(guild: String, user: String, channel: String?)
        /// How far channels were read.
        case readStates([ReadState])
    }

    /// How far a channel was read.
    public struct ReadState: Hashable, Sendable {
        /// The channel's id.
        public let channel: String
        /// The id of the last message read.
        public let lastMessage: String?
    }

    /// An item of a list.
    public struct Item: Hashable, Sendable {
        /// The item's id.
        public let id: String
        /// Its title or text.
        public let text: String?
        /// Whether it is done.
        public let isDone: Bool
        /// Its status in the remote's words.
        public let status: String?
        /// When it was made, as written.
        public let created: String?
        /// The other members that the remote sent.
        public let extra: JSONObject
    }

    /// A session's status.
    public struct Session: Hashable, Sendable {
        /// The session's id.
        public let id: String
        /// The project that it works in.
        public let project: String
        /// `working`, `idle`, `needs_input` or `not_running`.
        public let status: String
        /// The time stamp as written.
        public let timestamp: String?
        /// The instant that the time stamp states, else when the event was recorded.
        public let instant: Timestamp
        /// The process that runs it.
        public let pid: Int64?
        /// The device that it runs on.
        public let device: String?
    }

    /// A question that a session asks.
    public struct Prompt: Hashable, Sendable {
        /// The prompt's id.
        public let id: String
        /// The session that asks.
        public let session: String?
        /// Its project.
        public let project: String?
        /// The question.
        public let text: String?
        /// When it was asked.
        public let askedAt: Timestamp?
        /// The answer's text.
        public let answer: String?
        /// When it was answered.
        public let answeredAt: Timestamp?
        /// Whether it is answered, with or without a text.
        public let isAnswered: Bool
    }

    /// A change of one row of a table.
    public struct Row: Hashable, Sendable {
        /// The table's name.
        public let table: String
        /// The row's id.
        public let id: String
        /// `INSERT`, `UPDATE` or `DELETE`.
        public let operation: String
        /// When the remote committed it.
        public let committedAt: Timestamp
        /// The columns that were sent, with their values; an absent column is unchanged, not null.
        public let record: JSONObject
        /// Whether the remote left out values because of their size.
        public let isPartial: Bool
    }
}
