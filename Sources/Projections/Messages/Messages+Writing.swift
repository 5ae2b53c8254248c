import EventLog

extension Messages {
    /// Applies a version that arrived.
    mutating func write(_ write: MessageWrite, in context: inout FoldContext) {
        guard let slot = slot(for: write.key) else { return }
        let event = context.event
        let fate = fates.fate(of: write.key.channel)
        change(slot, in: &context) { record in
            if !record.wasWritten, let fate { record.fall(fate) }
            if write.revisesByArrival {
                record.writeByArrival(write, at: event)
            } else {
                record.writeByVersion(write, at: event)
            }
        }
    }

    /// Adds or removes a reaction.
    mutating func react(
        _ key: MessageKey,
        emoji: String,
        user: EntityID,
        isPresent: Bool,
        in context: inout FoldContext
    ) {
        guard let slot = slot(for: key) else { return }
        let sequence = context.event.sequence.rawValue
        let changes = store.change(at: slot) { record in
            record.react(emoji: ExactText(emoji), user: user, isPresent: isPresent, sequence: sequence)
        }
        if changes { touch(key, in: &context) }
    }

    /// Applies the move of a branch's tip: another known standing becomes current, without a history entry.
    mutating func stand(_ key: MessageKey, _ standing: MessageStanding, in context: inout FoldContext) {
        guard let slot = slot(for: key) else { return }
        change(slot, in: &context) { record in
            switch standing {
            case .version(let write):
                record.current = MessageRevision(write)
                record.standing = .live
            case .deleted(let deletion, let since, let last):
                record.current = last.map(MessageRevision.init) ?? record.current
                record.standing = .deleted(MessageRecord.End(deletion, since: since))
            case .nowhere:
                // The last known version is the one written last, whichever versions tips selected in between.
                record.current = record.entries.last { $0.revision != nil }?.revision
                record.standing = .nowhere
            }
        }
    }
}

extension MessageRecord {
    /// Commits: the later write in the log wins, and a write with a new content is a revision.
    fileprivate mutating func writeByArrival(_ write: MessageWrite, at event: EventReference) {
        let revision = MessageRevision(write)
        let saysNew = current?.saying != revision.saying
        if case .live = standing, !saysNew { return place(revision, at: event) }
        var entry = entry(for: write, revision, at: event)
        entry.isNewRevision = saysNew
        enter(entry)
        take(revision, at: event)
    }

    /// Gateways and rows: the greatest version wins, and the revisions are the distinct versions.
    fileprivate mutating func writeByVersion(_ write: MessageWrite, at event: EventReference) {
        let revision = MessageRevision(write)
        if let version = write.replacesVersion { replace(version) }
        let same = lastWrite(of: revision.version)
        let wins = current.map { revision.wins(over: $0) } ?? true
        let isRepeat = same?.revision?.saying == revision.saying
        if isRepeat, !(wins && isGone) { return wins ? place(revision, at: event) : () }
        var entry = entry(for: write, revision, at: event)
        entry.isNewRevision = same == nil
        enter(entry)
        if wins { take(revision, at: event) }
    }

    /// Whether the message is deleted until it is written again.
    private var isGone: Bool {
        if case .deleted(let end) = standing { return end.permanence == .untilWritten }
        return false
    }

    private mutating func take(_ revision: MessageRevision, at event: EventReference) {
        current = revision
        place(revision, at: event)
        if case .deleted(let end) = standing, end.permanence == .forever { return }
        standing = .live
    }

    /// Notes the message's place in the remote's own list. A new place makes no revision.
    private mutating func place(_ revision: MessageRevision, at event: EventReference) {
        guard case .at = revision.order else { return }
        current?.order = revision.order
        placedBy = event.sequence.rawValue
    }

    private func entry(for write: MessageWrite, _ revision: MessageRevision, at event: EventReference) -> Entry {
        Entry(
            event: event,
            happening: happening(of: write, revision),
            revision: revision,
            remoteTime: write.remoteTime,
            by: write.by
        )
    }

    private func happening(of write: MessageWrite, _ revision: MessageRevision) -> Entry.Happening {
        guard let current else { return .created }
        if isGone { return .restored }
        if case .nowhere = standing, write.revisesByArrival, current.saying == revision.saying { return .restored }
        return write.changesContent && current.saying.text != revision.saying.text ? .edited : .linked
    }
}
