import EventLog

extension Messages {
    /// Applies a version that arrived, in whatever order versions and deletions come. Does nothing for a message that a
    /// compaction dropped.
    mutating func write(_ write: MessageWrite, in context: inout FoldContext) {
        guard let place = place(for: write.key) else { return }
        let event = context.event
        let fate = fates.fate(of: write.key.channel)
        change(place, in: &context) { record in
            // `fall(_:in:)` passed over this message because it had not been written. Entering the end now, at its
            // place in the log, gives the history that the other order of arrival gives.
            if !record.wasWritten, let fate { record.fall(fate) }
            if write.revisesByArrival {
                record.writeByArrival(write, at: event)
            } else {
                record.writeByVersion(write, at: event)
            }
        }
    }

    /// Adds or removes a reaction. The message need not be known: it becomes a record without a version, which may yet
    /// arrive.
    mutating func react(
        _ key: MessageKey,
        emoji: String,
        user: EntityID,
        isPresent: Bool,
        in context: inout FoldContext
    ) {
        guard let place = place(for: key) else { return }
        let sequence = context.event.sequence.rawValue
        // `store.change` suffices: a reaction changes neither the message's state nor its `replyTo`.
        let changes = store.change(at: place) { record in
            record.react(emoji: ExactText(emoji), user: user, isPresent: isPresent, sequence: sequence)
        }
        if changes { touch(key, in: &context) }
    }

    /// Applies the move of a branch's tip: another known standing becomes current, without a history entry. Only
    /// commits give such changes.
    mutating func stand(_ key: MessageKey, _ standing: MessageStanding, in context: inout FoldContext) {
        guard let place = place(for: key) else { return }
        change(place, in: &context) { record in
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
    /// Commits: the later write in the log wins, and a write with a new content is a revision. A write that repeats the
    /// content of a live message only places it; of a message that is not live, it enters the history without a
    /// revision.
    fileprivate mutating func writeByArrival(_ write: MessageWrite, at event: EventReference) {
        let revision = MessageRevision(write)
        let saysNew = current?.saying != revision.saying
        if case .live = standing, !saysNew { return place(revision, at: event) }
        var entry = entry(for: write, revision, at: event)
        entry.isNewRevision = saysNew
        enter(entry)
        take(revision, at: event)
    }

    /// Gateways and rows: the greatest version wins, and the revisions are the distinct versions. A version that loses
    /// still enters the history.
    fileprivate mutating func writeByVersion(_ write: MessageWrite, at event: EventReference) {
        let revision = MessageRevision(write)
        if let version = write.replacesVersion { replace(version) }
        // Of equal versions the later in the log counts, so a repeat is compared with the last one.
        let same = lastWrite(of: revision.version)
        let wins = current.map { revision.wins(over: $0) } ?? true
        let isRepeat = same?.revision?.saying == revision.saying
        // A repeat adds nothing, unless it brings back a message that was deleted until written.
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

    /// Makes a version the current one and the message live, unless it was deleted for ever: then the version is its
    /// last text.
    private mutating func take(_ revision: MessageRevision, at event: EventReference) {
        current = revision
        place(revision, at: event)
        if case .deleted(let end) = standing, end.permanence == .forever { return }
        standing = .live
    }

    /// Notes the message's place in the remote's own list. A new place makes no revision. Other orders follow from the
    /// version itself.
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

    /// The word for a write, judged before it is applied: `created` for the first version known, `linked` if only the
    /// surroundings of the text changed.
    private func happening(of write: MessageWrite, _ revision: MessageRevision) -> Entry.Happening {
        guard let current else { return .created }
        if isGone { return .restored }
        // A message that left the tip of a branch and came back as it was.
        if case .nowhere = standing, write.revisesByArrival, current.saying == revision.saying { return .restored }
        return write.changesContent && current.saying.text != revision.saying.text ? .edited : .linked
    }
}
