import EventLog

extension Messages {
    /// Deletes a message, by name or because it vanished. An unknown message becomes a tombstone without a text: if it
    /// was deleted for ever, a version that arrives later stays deleted.
    mutating func delete(_ deletion: MessageDeletion, in context: inout FoldContext) {
        let place = place(for: deletion.key, isOfServer: deletion.isOfServer)
        let end = MessageRecord.End(deletion, since: context.event)
        // A written or listed message lies in no channel that is gone, so its state changes.
        if store.deleteWritten(at: place, end) || store.deleteListed(at: place, end) {
            touch(deletion.key, in: &context)
            return touchAnswers(to: deletion.key, in: &context)
        }
        let takesLate = context.rules.contains(.lateVersionReplaces)
        change(place, in: &context) { record in
            if !takesLate, record.isNewer(than: end) { return }
            guard MessageRule.takesEffect(end.rule, after: record.deletion) || record.isDeletedLater(end) else {
                return
            }
            if !deletion.isOfChannel, record.current?.order == .byCreation { record.enterSelection(at: end.since) }
            record.delete(end)
        }
    }

    /// Deletes the live messages of a channel that vanished, until they are written again. O(messages of the channel that changed
    /// since it vanished before).
    mutating func empty(_ channel: EntityID, cause: MessageDeletion.Cause, in context: inout FoldContext) {
        for place in store.placesPerhapsLive(in: channel) where state(at: place) == .live {
            delete(MessageDeletion(key: store.key(at: place), cause: cause, permanence: .untilWritten), in: &context)
        }
        store.noteEmptied(channel)
    }

    /// Records the end of the messages in a channel that is gone for ever, at the event that told of it: the channel's guild
    /// may have gone before. Messages that were never written get no entry: if they are written later, `write` enters the
    /// end then. O(messages of the channel).
    mutating func fall(_ channel: EntityID, in context: inout FoldContext) {
        guard let fate = fates.fate(of: channel) else { return }
        let event = context.event
        for place in store.places(in: channel) where store.wasWritten(at: place) {
            // `state(at:)` already sees the fate. Only the history and the touched rows are missing.
            if !store.fallPacked(at: place, fate, event) { store.change(at: place) { $0.fall(fate, at: event) } }
            let key = store.key(at: place)
            touch(key, in: &context)
            touchAnswers(to: key, in: &context)
        }
    }

    /// Moves a message to another key. Its history goes with it and also stays readable under the old key.
    ///
    /// The new key's standing is `live` afterwards, even if it had been deleted: the remote shows the message there. An
    /// unknown message moves too, without a version. One that a compaction dropped counts as one revision where it arrives.
    mutating func move(
        from: MessageKey,
        to: MessageKey,
        remoteTime: Timestamp?,
        by: String?,
        in context: inout FoldContext
    ) {
        guard from != to else { return }
        let event = context.event
        let comesDropped = !compacted.isEmpty && isDropped(from, at: event)
        let origin = comesDropped ? nil : place(for: from)
        if let origin { store.change(at: origin) { $0.enterSelection(at: event) } }
        // The history before the move. The move's own entry is entered on both sides below.
        let past = origin.map { store.record(at: $0) }
        let entry = MessageRecord.Entry(
            event: event,
            happening: .moved(from: from, to: to),
            revision: past?.current,
            isNewRevision: comesDropped,
            remoteTime: remoteTime,
            by: by
        )
        if compacted.isEmpty || !isDropped(to, at: event) || isRevived(to, at: event) {
            let destination = place(for: to)
            if let origin { store.takeReactions(from: origin, at: destination) }
            change(destination, in: &context) { record in
                if let past { record.inherit(past) }
                record.relate(to: from)
                record.enter(entry)
                record.standing = .live
            }
        }
        guard let origin else { return }
        change(origin, in: &context) { record in
            record.relate(to: to)
            record.enter(entry)
            record.standing = .nowhere
        }
    }

    /// Whether a compaction dropped a message, or that is all that an event finds of it.
    private func isDropped(_ key: MessageKey, at event: EventReference) -> Bool {
        guard let drop = compacted.drop(of: key) else { return false }
        return event.sequence.rawValue <= drop.decidedAt || store.place(of: key) == nil
    }

    /// Whether a move to the key of a dropped message makes it live again.
    private func isRevived(_ key: MessageKey, at event: EventReference) -> Bool {
        guard let drop = compacted.drop(of: key) else { return false }
        return event.sequence.rawValue > drop.decidedAt && !drop.isDeletedForGood
            && fates.fate(of: key.channel) == nil
    }
}

extension MessageRecord {
    /// The deletion that the message has by its own events.
    fileprivate var deletion: MessageRule.Deletion? {
        if case .deleted(let end) = standing { return end.rule }
        return nil
    }

    /// Deletes the message by an event that is newer than all entries.
    mutating func delete(_ end: End) {
        enter(.deletion(end, of: current, at: end.since))
        standing = .deleted(end)
    }

    /// Whether a version of the message is greater than that of a deletion until written.
    fileprivate func isNewer(than end: End) -> Bool {
        guard end.permanence == .untilWritten, let version = end.version, let known = current?.version else {
            return false
        }
        return known > version
    }

    /// Whether a deletion until written has a greater version than the one that the message has: of versions the greatest counts.
    fileprivate func isDeletedLater(_ end: End) -> Bool {
        guard case .deleted(let known) = standing, known.permanence == .untilWritten, let version = end.version else {
            return false
        }
        return known.version.map { $0 < version } ?? true
    }

    /// Sets the deletion without an entry, but for a message of a conversation: a late row may tell another time or cause of the
    /// deletion that is known.
    mutating func deleteAgain(_ end: End) {
        if case .deleted(let known) = standing, case .at = current?.order,
            known.cause != end.cause || known.deletedAt != end.deletedAt
        {
            enter(.deletion(end, of: current, at: end.since))
        }
        standing = .deleted(end)
    }

    /// Enters the end of its channel, if `MessageRule.channelEndEnters`, at the event by which it became known.
    mutating func fall(_ fate: ChannelFates.Fate, at event: EventReference) {
        guard MessageRule.channelEndEnters(after: deletion) else { return }
        let end = End(cause: fate.cause, permanence: .forever, since: fate.event)
        enter(.deletion(end, of: current, at: event))
    }
}

extension MessageRecord.Entry {
    /// The entry of a deletion. It contains the version known then, so that the history shows the text that was
    /// deleted.
    fileprivate static func deletion(
        _ end: MessageRecord.End,
        of revision: MessageRevision?,
        at event: EventReference
    ) -> MessageRecord.Entry {
        MessageRecord.Entry(
            event: event,
            happening: .deleted(end),
            revision: revision,
            remoteTime: end.deletedAt,
            by: end.deletedBy
        )
    }
}

extension MessageRecord.End {
    /// The end as `MessageRule` knows it.
    fileprivate var rule: MessageRule.Deletion { MessageRule.Deletion(cause: cause, permanence: permanence) }

    /// The end that a deletion brings at an event.
    init(_ deletion: MessageDeletion, since: EventReference) {
        self.init(
            cause: deletion.cause,
            permanence: deletion.permanence,
            deletedAt: deletion.deletedAt,
            deletedBy: deletion.deletedBy,
            version: deletion.permanence == .untilWritten ? deletion.version : nil,
            since: since
        )
    }
}
