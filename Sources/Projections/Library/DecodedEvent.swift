public import EventLog

/// One event and what its decoder read out of it.
public struct DecodedEvent: Hashable, Sendable {
    /// The event, without its bytes.
    public let envelope: Envelope
    /// What the remote said has changed, in the payload's order. Duplicates and late frames are not sorted out: that is
    /// what folds are for.
    public let changes: [DecodedChange]
    /// What could not be made sense of, in a few words each.
    public let issues: [String]
}

/// One change as a remote stated it. Ids are the remote's own texts; what it left out is `nil`.
public enum DecodedChange: Hashable, Sendable {
    /// A version of a message arrived.
    case message(Message)
    /// A message was deleted by name, or vanished from where it stood.
    case messageDeleted(MessageName, by: String?, at: Timestamp?)
    /// A message stands under another channel or id now.
    case messageMoved(from: MessageName, to: MessageName, by: String?, at: Timestamp?)
    /// A user put a reaction on a message, or took it away.
    case reaction(MessageName, emoji: String, user: String, isPresent: Bool)
    /// A branch was set to another commit: this version stands now (`nil`: none), though nobody wrote it now.
    case messageStands(MessageName, Message?)
    /// A channel was stated whole.
    case channel(Channel)
    /// Another thing named a channel, and perhaps its guild.
    case channelNamed(String, guild: String?)
    /// A channel is gone, and its messages with it.
    case channelDeleted(String)
    /// A branch was set to another commit: the channel stands now, or does not.
    case channelStands(String, isPresent: Bool)
    /// Something around a guild.
    case community(Community)
    /// A list of items was stated; it replaces the list if `isWhole`.
    case items(list: String, [Item], isWhole: Bool)
    /// One item of a list was stated.
    case item(list: String, Item)
    /// One item left its list.
    case itemRemoved(list: String, id: String)
    /// A session's status was observed.
    case session(Session)
    /// A session's file or record is gone.
    case sessionRemoved(String)
    /// A prompt was observed.
    case prompt(Prompt)
    /// Something stands where a prompt was expected, and cannot be read.
    case promptUnreadable(String)
    /// A prompt is gone.
    case promptRemoved(String)
    /// A row of a table changed.
    case row(Row)
}
