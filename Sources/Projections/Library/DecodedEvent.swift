public import EventLog

/// One event with the changes and issues that its decoder made of it.
public struct DecodedEvent: Hashable, Sendable {
    /// The event, without its bytes.
    public let envelope: Envelope
    /// The changes that the remote stated, in the payload's order. Late changes and duplicates are among them, as only
    /// folds sort these out; but a dispatch that repeats an earlier one of its gateway connection has none.
    public let changes: [DecodedChange]
    /// What the deletions among the changes state beside, of the things that they delete, where a decoder file reads it: the text of a
    /// message, for example. Nobody takes it, but the log holds it.
    public let told: [DecodedChange]
    /// The texts among these that a decoder file joined, with the strings of the payload of which it made each.
    package let joined: [ExactText: [String]]
    /// The reasons of the issues: parts of the payload that could not be decoded, in a few words each.
    public let issues: [String]
}

/// One change as a remote stated it. Ids are the remote's own texts; what it left out is `nil`.
public enum DecodedChange: Hashable, Sendable {
    /// A version of a message arrived.
    case message(Message)
    /// A message was deleted by name, or vanished from its place.
    case messageDeleted(MessageName, by: String?, at: Timestamp?)
    /// A message has another channel or id now.
    case messageMoved(from: MessageName, to: MessageName, by: String?, at: Timestamp?)
    /// A user put a reaction on a message, or took it away.
    case reaction(MessageName, emoji: String, user: String, isPresent: Bool)
    /// A version of a message was taken back.
    case messageWithdrawn(MessageName, version: Timestamp)
    /// All reactions to a message were taken away, or all of one emoji.
    case reactionsCleared(MessageName, emoji: String?, user: String?)
    /// All reactions to a message were stated.
    case reactionsStand(MessageName, [Reaction])
    /// A branch was set to another commit, which has this version of a message (`nil`: none). Nobody wrote it just now.
    case messageStands(MessageName, Message?)
    /// A channel was stated whole.
    case channel(Channel)
    /// Some members of a channel were stated: those that are listed.
    case channelPatched(Channel, members: [String])
    /// Something else named a channel, and perhaps its guild.
    case channelNamed(String, guild: String?)
    /// A channel is gone, and its messages with it.
    case channelDeleted(String)
    /// A branch was set to another commit, which has the channel or has it not.
    case channelStands(String, isPresent: Bool)
    /// A change around a guild or its users.
    case community(Community)
    /// A list of items was stated; it replaces the list if `isWhole`.
    case items(list: String, [Item], isWhole: Bool)
    /// One item of a list was stated.
    case item(list: String, Item)
    /// Some members of an item were stated: those that are listed. The list is `nil` if the event names none and no earlier one did.
    case itemPatched(list: String?, Item, members: [String])
    /// One item left its list.
    case itemRemoved(list: String, id: String)
    /// A session's status was observed.
    case session(Session)
    /// A session's file or record is gone.
    case sessionRemoved(String)
    /// A prompt was observed.
    case prompt(Prompt)
    /// A prompt was expected, but what was found cannot be read.
    case promptUnreadable(String)
    /// A prompt is gone.
    case promptRemoved(String)
    /// A row of a table changed.
    case row(Row)
}
