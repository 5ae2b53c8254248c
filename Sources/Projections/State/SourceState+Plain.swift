import EventLog

extension SourceState {
    /// Applies one plain frame of this source: as `apply` with the envelope that it came in. Not where gateway frames are
    /// read by rules of a client.
    @inline(__always)
    mutating func applyPlain(
        _ frame: PlainFrame,
        _ event: EventReference,
        connection: String?,
        spot: MessageSpot? = nil
    ) {
        begin(event)
        context.rules = []
        if parts.gateway.isRepeat(frame, on: connection, at: event.sequence) {
            return finish(remoteTime: nil)
        }
        if frame.guild != .none { name(frame.guild, with: frame.channel) }
        if !takePlain(frame, spot: spot) { spread(frame.change) }
        finish(remoteTime: frame.remoteTime)
    }

    /// Gives a frame to the folds that it concerns: the channels once for each channel, the messages.
    @inline(__always)
    private mutating func takePlain(_ frame: PlainFrame, spot: MessageSpot?) -> Bool {
        // Not as `??`, whose closure would have the whole store copied.
        guard let spot else { return takePlain(frame, spot: parts.messages.store.addedSpot(of: frame.key)) }
        let channel = spot.channel
        if !parts.messages.store.channels[channel].isKnown {
            // Whatever the fold makes of a channel's name, it makes nothing more of the same name again.
            parts.channels.apply(.channel(.named(frame.channel, guild: nil)), in: &context)
            parts.messages.store.channels[channel].isKnown = true
        }
        return parts.messages.takePlain(frame, at: spot, in: &context)
    }

    /// Tells the folds which guild a channel was named with, once for as long as that stays the same.
    private mutating func name(_ guild: EntityID, with channel: EntityID) {
        let place = parts.messages.store.addedChannel(channel)
        guard parts.messages.store.channels[place].named != guild else { return }
        spread(.community(.guildNamed(guild)))
        spread(.channel(.named(channel, guild: guild)))
        parts.messages.store.channels[place].named = guild
    }
}
