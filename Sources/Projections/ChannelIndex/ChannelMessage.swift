public import EventLog

/// One message, from the events of its channel alone.
public struct ChannelMessage: Sendable {
    /// Its full name.
    public let reference: EntityReference
    /// The message's history, oldest first.
    public let history: [HistoryEntry]
    /// The events that may have changed the message, or the state of the message that it answers, ascending.
    public let touches: [SequenceNumber]

    /// The message that a fold has watched; `nil` if nothing but reactions happened to it.
    ///
    /// - Parameters:
    ///   - id: the watched message's id.
    ///   - fold: has folded all events of the channel.
    ///   - clock: the clock of the whole state, which the fold of one channel does not know.
    init?(_ id: String, of fold: ChannelFold, clock: Timestamp?) {
        let source = fold.state
        guard let handle = source.context.names.find(id),
            let history = source.parts.messages.history(
                of: EntityKey(.messages, fold.channel, handle),
                context: source.rowContext(asOf: clock)
            )
        else { return nil }
        reference = EntityReference(kind: .message, parts: [source.name.rawValue, fold.id, id])
        self.history = history
        touches = fold.touches
    }
}
