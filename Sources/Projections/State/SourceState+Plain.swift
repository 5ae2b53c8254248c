import EventLog

extension SourceState {
    /// Applies one plain frame of this source, with the result of `apply` for its envelope (I18). Must not be used if a
    /// client's rules apply to gateway frames.
    ///
    /// - Parameters:
    ///   - connection: the attribute `connection` of the frame's event, for finding repeats.
    ///   - lookup: the place of the frame's message, if looked up in advance.
    @inline(__always)
    mutating func applyPlain(
        _ frame: PlainFrame,
        _ event: EventReference,
        connection: String?,
        lookup: MessageLookup? = nil
    ) {
        begin(event)
        context.rules = .canonical
        // In the order of the general way: a repeat changes nothing, and the guild is named before the message.
        if parts.gateway.isRepeat(frame, on: connection, at: event.sequence) {
            return finish(remoteTime: nil)
        }
        if frame.happening == .deleted, let change = strayDeletion(frame) {
            spread(change)
            return finish(remoteTime: nil)
        }
        if frame.guild != .none { name(frame.guild, with: frame.channel) }
        if !takePlain(frame, lookup: lookup) { spread(frame.change) }
        finish(remoteTime: frame.remoteTime)
    }

    /// Applies a frame to the folds that it concerns: the messages, and the channels once for each channel. False if
    /// the messages need the long way; the channel is known then, which the long way only repeats.
    @inline(__always)
    private mutating func takePlain(_ frame: PlainFrame, lookup: MessageLookup?) -> Bool {
        // `??` would capture the store in a closure and so copy it.
        guard let lookup else { return takePlain(frame, lookup: parts.messages.store.addedLookup(of: frame.key)) }
        let channel = lookup.channel
        if !parts.messages.store.channels[channel].isKnown {
            // Naming a channel again changes nothing, so the fold is told once.
            parts.channels.apply(.channel(.named(frame.channel, guild: nil)), in: &context)
            parts.messages.store.channels[channel].isKnown = true
        }
        if parts.messages.store.channels[channel].isLeftOut {
            // What the long way does before it finds that the message is of another share.
            parts.messages.circles.repeatKnown(in: &context)
            return true
        }
        return parts.messages.takePlain(frame, at: lookup, in: &context)
    }

    /// The deletion of a message in another channel than the one that the frame names; `nil` if it is in none other.
    private func strayDeletion(_ frame: PlainFrame) -> Change? {
        let deletion = MessageChange.deleted(MessageDeletion(key: frame.key, permanence: .forever))
        return parts.messages.home(of: deletion).map { .message(deletion.inChannel($0)) }
    }

    /// Tells the folds a channel's guild, unless the last frames named the same one: naming a known pair again changes
    /// nothing.
    private mutating func name(_ guild: EntityID, with channel: EntityID) {
        let place = parts.messages.store.addedChannel(channel, isOfServer: true)
        guard parts.messages.store.channels[place].named != guild else { return }
        spread(.community(.guildNamed(guild)))
        spread(.channel(.named(channel, guild: guild)))
        parts.messages.store.channels[place].named = guild
    }
}
