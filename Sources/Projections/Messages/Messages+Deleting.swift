import EventLog

extension Messages {
    /// A message was deleted by name, or vanished.
    mutating func delete(_ deletion: MessageDeletion, in context: inout FoldContext) {
        guard let slot = slot(for: deletion.key) else { return }
        let end = MessageRecord.End(deletion, since: context.event)
        change(slot, in: &context) { record in
            guard record.isEnded(by: end) else { return }
            record.enter(.deletion(end, of: record.current, at: end.since))
            record.standing = .deleted(end)
        }
    }

    /// A channel vanished for now: so do the messages in it.
    mutating func empty(_ channel: EntityID, cause: MessageDeletion.Cause, in context: inout FoldContext) {
        for slot in store.places(in: channel) where state(at: slot) == .live {
            delete(MessageDeletion(key: store.key(at: slot), cause: cause, permanence: .untilWritten), in: &context)
        }
    }

    /// A channel went for ever: so did the messages in it.
    mutating func fall(_ channel: EntityID, in context: inout FoldContext) {
        guard let fate = fates.fate(of: channel) else { return }
        for slot in store.places(in: channel) where store.wasWritten(at: slot) {
            // The fate already tells the state; what is left is the history and the rows.
            if !store.fallPacked(at: slot, fate) { store.change(at: slot) { $0.fall(fate) } }
            let key = store.key(at: slot)
            touch(key, in: &context)
            touchAnswers(to: key, in: &context)
        }
    }

    /// A message stands under another key: its past goes with it, and stays to be read under the old key too.
    mutating func move(
        from: MessageKey,
        to: MessageKey,
        remoteTime: Timestamp?,
        by: String?,
        in context: inout FoldContext
    ) {
        guard from != to else { return }
        let event = context.event
        let origin = slot(for: from)
        let past = origin.map { store.record(at: $0) }
        let entry = MessageRecord.Entry(
            event: event,
            happening: .moved(from: from, to: to),
            revision: past?.current,
            remoteTime: remoteTime,
            by: by
        )
        if let destination = slot(for: to) {
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
}

extension MessageRecord {
    /// Whether a deletion says something new: the first one, one for ever after one until written, and one by name after
    /// one with the channel.
    fileprivate func isEnded(by end: End) -> Bool {
        guard case .deleted(let known) = standing else { return true }
        if known.permanence == .forever, end.permanence == .untilWritten { return false }
        if known.permanence != end.permanence { return true }
        return known.cause != .deleted && end.cause == .deleted
    }

    /// Enters the end that its channel gave it, at that event's place in the log. A message that was deleted by name
    /// has its end already.
    mutating func fall(_ fate: ChannelFates.Fate) {
        if case .deleted(let end) = standing, end.cause == .deleted { return }
        let end = End(cause: fate.cause, permanence: .forever, since: fate.event)
        enter(.deletion(end, of: current, at: fate.event))
    }
}

extension MessageRecord.Entry {
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
    /// The end that a deletion brings at an event.
    init(_ deletion: MessageDeletion, since: EventReference) {
        self.init(
            cause: deletion.cause,
            permanence: deletion.permanence,
            deletedAt: deletion.deletedAt,
            deletedBy: deletion.deletedBy,
            since: since
        )
    }
}
