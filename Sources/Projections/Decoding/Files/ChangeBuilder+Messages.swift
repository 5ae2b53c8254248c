public import EventLog

/// What an event says of a message. A member that is `nil` is not told of.
public struct MessageStatement: Sendable {
    /// A member of a message, apart from its ids.
    public enum Member: String, CaseIterable, Sendable {
        case author, authorName, content, createdAt, editedAt, replyTo, tags, attachments, version
    }

    /// The users who reacted with an emoji.
    public typealias Reaction = (emoji: String, users: [String])

    /// The ids of the channel and of the message, which is unique in its channel.
    public var channel, id: String
    /// The author's id, and the name to show.
    public var author, authorName: String?
    /// The text.
    public var content: String?
    /// When it was written, and last edited, by the remote's clock.
    public var createdAt, editedAt: Timestamp?
    /// The id of the message that it answers, in the same channel.
    public var replyTo: String?
    /// The tags, in the remote's order.
    public var tags: [String]?
    /// The attachments, as the remote writes them.
    public var attachments: [JSONValue]?
    /// The time that orders the versions of the message: the greatest counts, none is least, of equal ones the later in the
    /// log.
    public var version: Timestamp?
    /// All reactions to the message.
    public var reactions: [Reaction]?
    /// The members of which the event tells that there is none, such as `replyTo` of a message that answers none any more.
    public var cleared: Set<Member>

    /// States a message.
    public init(
        channel: String,
        id: String,
        author: String? = nil,
        authorName: String? = nil,
        content: String? = nil,
        createdAt: Timestamp? = nil,
        editedAt: Timestamp? = nil,
        replyTo: String? = nil,
        tags: [String]? = nil,
        attachments: [JSONValue]? = nil,
        version: Timestamp? = nil,
        reactions: [Reaction]? = nil,
        cleared: Set<Member> = []
    ) {
        (self.channel, self.id, self.author, self.authorName) = (channel, id, author, authorName)
        (self.content, self.createdAt, self.editedAt, self.replyTo) = (content, createdAt, editedAt, replyTo)
        (self.tags, self.attachments, self.version) = (tags, attachments, version)
        (self.reactions, self.cleared) = (reactions, cleared)
    }
}

extension ChangeBuilder {
    /// A new message; changes none that is known. It must have a content.
    ///
    /// - Parameter own: The id of the event itself, by which `retract` takes it back and edits name it; an event with an id
    ///   counts once.
    public mutating func make(_ message: MessageStatement, as own: String? = nil, in set: ThingSet? = nil) {
        apply(stating(.make, message, own, set))
    }

    /// States some members of a message; others stay. Makes a new message only if the event tells the `required` members.
    ///
    /// - Parameter changing: The members that a known message takes over; all that are told if `nil`.
    public mutating func patch(
        _ message: MessageStatement,
        requiring required: [MessageStatement.Member] = [.content],
        changing: Set<MessageStatement.Member>? = nil,
        as own: String? = nil,
        in set: ThingSet? = nil
    ) {
        var effect = stating(.patch, message, own, set)
        effect.needs = required.compactMap { DecoderName($0.rawValue) }
        effect.changes = changing.map { Set($0.compactMap { DecoderName($0.rawValue) }) }
        apply(effect)
    }

    /// States the whole message. It must have a content.
    public mutating func replace(_ message: MessageStatement, as own: String? = nil, in set: ThingSet? = nil) {
        apply(stating(.replace, message, own, set))
    }

    /// The text of the message is what a streamed one goes on with; the other members that are given count as in a patch. Makes a
    /// message that is not known if it has what `required` lists.
    public mutating func append(
        _ message: MessageStatement,
        requiring required: [MessageStatement.Member] = [.content],
        in set: ThingSet? = nil
    ) {
        var effect = stating(.append, message, nil, set)
        effect.needs = required.compactMap { DecoderName($0.rawValue) }
        apply(effect)
    }

    /// A patch by an event with an id of its own. It waits until its message, made by an event whose id is the message's,
    /// comes; counts only by the same author; and can be taken back. It must have a version.
    public mutating func edit(
        _ message: MessageStatement,
        as own: String,
        changing: Set<MessageStatement.Member>? = nil
    ) {
        var effect = stating(.edit, message, own, nil)
        effect.changes = changing.map { Set($0.compactMap { DecoderName($0.rawValue) }) }
        apply(effect)
    }

    /// The message is deleted; for ever, or until it is stated again.
    ///
    /// - Parameters:
    ///   - user: The id of the one who deleted it; `nil` if the remote does not tell.
    ///   - time: When that was, by the remote's clock.
    public mutating func deleteMessage(
        _ id: String,
        in channel: String,
        isForEver: Bool = true,
        by user: String? = nil,
        at time: Timestamp? = nil,
        as own: String? = nil,
        of set: ThingSet? = nil
    ) {
        var effect = EffectText(.delete, .message)
        effect.ids = ["channel": .text(channel), "id": .text(id)]
        effect.state("by", user)
        effect.state("deletedAt", time)
        (effect.isForEver, effect.own, effect.set) = (isForEver, own, set)
        apply(effect)
    }

    /// Takes back what the event with an id made, edited or added; one that has not come yet then never counts. `user` and `time` tell
    /// who deleted a message so, and when.
    public mutating func retract(_ event: String, by user: String? = nil, at time: Timestamp? = nil) {
        var effect = EffectText(.retract, .event)
        effect.ids = ["id": .text(event)]
        effect.state("by", user)
        effect.state("deletedAt", time)
        apply(effect)
    }

    /// A user puts a reaction on a message that is known; with an `own` id it waits for its message.
    public mutating func addReaction(
        _ emoji: String,
        by user: String,
        to message: String,
        in channel: String,
        as own: String? = nil
    ) {
        reaction(.add, emoji, user, message, channel, own)
    }

    /// A user takes a reaction away.
    public mutating func removeReaction(_ emoji: String, by user: String, to message: String, in channel: String) {
        reaction(.remove, emoji, user, message, channel, nil)
    }

    /// All reactions to a message are taken away, or all of one emoji, or of one user.
    public mutating func clearReactions(
        _ emoji: String? = nil,
        by user: String? = nil,
        to message: String,
        in channel: String
    ) {
        reaction(.clear, emoji, user, message, channel, nil)
    }

    private mutating func reaction(
        _ operation: DecoderEffect.Operation,
        _ emoji: String?,
        _ user: String?,
        _ message: String,
        _ channel: String,
        _ own: String?
    ) {
        var effect = EffectText(operation, .reaction)
        effect.ids = ["channel": .text(channel), "id": .text(message)]
        if let emoji { effect.ids["emoji"] = .text(emoji) }
        if let user { effect.ids["user"] = .text(user) }
        effect.own = own
        apply(effect)
    }

    private func stating(
        _ operation: DecoderEffect.Operation,
        _ message: MessageStatement,
        _ own: String?,
        _ set: ThingSet?
    ) -> EffectText {
        var effect = EffectText(operation, .message)
        effect.ids = ["channel": .text(message.channel), "id": .text(message.id)]
        effect.state("author", message.author)
        effect.state("authorName", message.authorName)
        effect.state("content", message.content)
        effect.state("createdAt", message.createdAt)
        effect.state("editedAt", message.editedAt)
        effect.state("replyTo", message.replyTo)
        effect.state("version", message.version)
        if let tags = message.tags { effect.state("tags", json: .array(tags.map { .string($0) })) }
        if let attachments = message.attachments { effect.state("attachments", json: .array(attachments)) }
        for member in message.cleared { effect.state(member.rawValue, json: .null) }
        effect.reactions = message.reactions
        effect.needs = [.content]
        (effect.own, effect.set) = (own, set)
        return effect
    }
}
