import EventLog

/// A server gives each message id once, in whatever channel. So an id that is named with two channels is one message, in the
/// channel that its current version names (`docs/semantics.md`, "Messages").
extension Messages {
    /// The channel to which a change of a server's message goes, if that is not the one that it names: where the message is,
    /// unless the change shows that it is in another one now.
    func home(of change: MessageChange) -> EntityID? {
        guard let key = change.serverKey, let place = store.placeOnServer(of: key.id) else { return nil }
        let home = store.key(at: place).channel
        return home == key.channel || placesMessage(change, at: place) ? nil : home
    }

    /// Whether a change decides in which channel the message at a place is: a version that wins does. As long as nothing but
    /// reactions is known, a deletion does, and so does the last reaction. Events that a compaction may drop decide nothing.
    private func placesMessage(_ change: MessageChange, at place: Int) -> Bool {
        switch change {
        case .written(let write):
            let current = store.record(at: place).current
            return MessageRule.Relation(of: MessageRevision(write).rank, to: current?.rank).wins
        case .deleted, .reaction: return !store.hasEntries(at: place)
        case .moved, .stands, .reactions, .withdrawn: return false
        }
    }

    /// The change in the channel to which it goes. A message that is in another one now goes there before.
    mutating func broughtHome(_ change: MessageChange, in context: inout FoldContext) -> MessageChange {
        guard let key = change.serverKey, let place = store.placeOnServer(of: key.id) else { return change }
        let from = store.key(at: place)
        if from.channel == key.channel { return change }
        // Another share may have the one or the other channel.
        if store.share != .whole { crossesShares = true }
        if placesMessage(change, at: place) {
            rehome(place, by: change, in: &context)
            return change
        }
        return change.inChannel(from.channel)
    }

    /// Puts a message into the channel that a change names. One that was written before has moved; the history says so.
    private mutating func rehome(_ place: Int, by change: MessageChange, in context: inout FoldContext) {
        guard let to = change.serverKey else { return }
        // A channel of commits or rows, which were mixed with a gateway's frames in one source.
        let channel = store.addedChannel(to.channel, isOfServer: true)
        guard store.channels[channel].isOfServer else { return }
        let from = store.key(at: place)
        store.rehome(place, to: channel)
        if case .written(let write) = change, store.wasWritten(at: place) {
            let (event, fate) = (context.event, fates.fate(of: to.channel))
            store.change(at: place) { record in
                record.enter(
                    MessageRecord.Entry(
                        event: event,
                        happening: .moved(from: from, to: to),
                        revision: record.current,
                        remoteTime: write.remoteTime,
                        by: write.by
                    )
                )
                if let fate { record.fall(ChannelFates.Fate(cause: fate.cause, event: event), at: event) }
            }
        }
        for key in [from, to] {
            touch(key, in: &context)
            touchAnswers(to: key, in: &context)
        }
        if let replyTo = store.replyTo(at: place) { connect(place, to, to: replyTo, in: &context) }
    }
}

extension MessageChange {
    /// The key that the change names, if it is one of a server's message; see `MessageStore.Channel`.
    var serverKey: MessageKey? {
        switch self {
        case .written(let write): write.isOfServer ? write.key : nil
        case .deleted(let deletion): deletion.isOfServer ? deletion.key : nil
        case .reaction(let key, _, _, _): key
        case .moved, .stands, .reactions, .withdrawn: nil
        }
    }

    var isWritten: Bool { if case .written = self { true } else { false } }

    /// The same change of the message with the same id in another channel.
    func inChannel(_ channel: EntityID) -> MessageChange {
        switch self {
        case .written(var write):
            write.key.channel = channel
            return .written(write)
        case .deleted(var deletion):
            deletion.key.channel = channel
            return .deleted(deletion)
        case .reaction(let key, let emoji, let user, let present):
            let key = MessageKey(channel: channel, id: key.id)
            return .reaction(key, emoji: emoji, user: user, present: present)
        case .moved, .stands, .reactions, .withdrawn: return self
        }
    }
}

extension MessageWrite {
    /// Whether a gateway stated the version: no other remote orders messages by their ids, but those of decoder files.
    var isOfServer: Bool { order == .byID && !revisesByArrival && !isOfChannel }
}

extension MessageDeletion {
    /// Whether a gateway's frame names the message: no other remote deletes for ever, but those of decoder files.
    var isOfServer: Bool { permanence == .forever && !isOfChannel }
}
