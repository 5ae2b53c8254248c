import EventLog

extension SourceState {
    /// Applies one plain frame of this source, with the result of `apply` for its envelope (I18). Must be used only if
    /// `ReadingRules.takesPlainFrames`.
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
        context.rules = frameRules
        if !frameRules.isEmpty { return applySeen(frame, connection: connection) }
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

    /// Applies a plain frame as a client sees it. In the order of the long way, as above.
    @inline(never)
    private mutating func applySeen(_ frame: PlainFrame, connection: String?) {
        rowRules.formUnion(frameRules)
        client?.noteFrame(on: connection)
        let isRepeat = parts.gateway.isRepeat(frame, on: connection, at: context.event.sequence)
        if isRepeat, !frameRules.contains(.repeatsAreReadAgain) { return finish(remoteTime: nil) }
        let isKnown = nameSeen(frame)
        var remoteTime: Timestamp?
        if let place = parts.gateway.listed(frame, frameRules) {
            remoteTime = frame.remoteTime
            if !isKnown { parts.channels.apply(.channel(.named(frame.channel, guild: nil)), in: &context) }
            if !parts.messages.takeSeen(frame, inListAt: place, in: &context) {
                var write = frame.write
                (write.order, write.revisesByArrival) = (.at(place), true)
                parts.messages.apply(.message(.written(write)), in: &context)
            }
            if !isKnown, let channel = parts.messages.store.channel(frame.channel) {
                parts.messages.store.channels[channel].isKnown = true
            }
        } else {
            for change in parts.gateway.seen(frame, context: &context) {
                if let time = change.remoteTime { remoteTime = max(remoteTime ?? time, time) }
                spread(change)
            }
        }
        let author = EntityID(number: frame.author)
        if frame.isCreated, frameRules.contains(.messageEndsTyping), let author {
            parts.community.apply(.community(.typing(channel: frame.channel, user: author, .ends)), in: &context)
        }
        finish(remoteTime: remoteTime)
    }

    /// Tells the folds of a frame's guild, and of its channel there, unless the last frames named the same: as `name`, for a client,
    /// whose store may not know the channel yet. True if the fold of channels knows the channel.
    private mutating func nameSeen(_ frame: PlainFrame) -> Bool {
        let place = parts.messages.store.channel(frame.channel)
        let isKnown = place.map { parts.messages.store.channels[$0].isKnown } ?? false
        if frame.guild == .none { return isKnown }
        if let place, isKnown, parts.messages.store.channels[place].named == frame.guild {
            // As each change does.
            parts.messages.circles.repeatKnown(in: &context)
            return true
        }
        spread(.community(.guildNamed(frame.guild)))
        spread(.channel(.named(frame.channel, guild: frame.guild)))
        if let place {
            parts.messages.store.channels[place].named = frame.guild
            parts.messages.store.channels[place].isKnown = true
        }
        return true
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
