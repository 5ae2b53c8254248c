import EventLog

extension Messages {
    /// Applies a version that arrived, in whatever order versions and deletions come. Does nothing for a message that a
    /// compaction dropped.
    mutating func write(_ write: MessageWrite, in context: inout FoldContext) {
        if addWritten(write, in: &context) { return }
        guard let place = place(for: write.key, isOfServer: write.isOfServer) else { return }
        let event = context.event
        let fate = fates.fate(of: write.key.channel)
        change(place, in: &context) { record in
            // `fall(_:in:)` passed over this message because it had not been written. It was not known before this event.
            if !record.wasWritten, let fate { record.fall(fate, at: event) }
            if write.revisesByArrival {
                record.writeByArrival(write, at: event)
            } else {
                record.writeByVersion(write, isGone: fate != nil, at: event)
            }
        }
    }

    /// Adds or removes a reaction, which changes neither the message's state nor its `replyTo`. The message need not be
    /// known: it becomes a record without a version, which may yet arrive.
    mutating func react(
        _ key: MessageKey,
        emoji: String,
        user: EntityID,
        isPresent: Bool,
        in context: inout FoldContext
    ) {
        // Only a gateway's frames tell of reactions.
        guard let place = place(for: key, isOfServer: true) else { return }
        let sequence = context.event.sequence.rawValue
        let changes = store.react(at: place, emoji: emoji, user: user, isPresent: isPresent, sequence: sequence)
        if changes { touch(key, in: &context) }
    }

    /// Applies the move of a branch's tip: another known standing becomes current, without a history entry unless the
    /// message became unreadable. Only commits give such changes, and the late rows of a conversation.
    mutating func stand(_ key: MessageKey, _ standing: MessageStanding, in context: inout FoldContext) {
        guard let place = place(for: key) else { return }
        let event = context.event
        change(place, in: &context) { record in
            switch standing {
            case .version(let write):
                record.current = MessageRevision(write)
                record.standing = .live
            case .deleted(let deletion, let since, let last):
                record.current = last.map(MessageRevision.init) ?? record.current
                record.deleteAgain(MessageRecord.End(deletion, since: since))
            case .nowhere:
                // The last known version is the one written last, whichever versions tips selected in between.
                record.current = record.entries.last { $0.revision != nil }?.revision
                record.standing = .nowhere
            case .unreadable(let remoteTime, let by):
                record.becomeUnreadable(remoteTime: remoteTime, by: by, at: event)
            }
        }
    }
}

extension MessageRecord {
    /// The standing as `MessageRule` knows it.
    private var judgedStanding: MessageRule.Standing {
        switch standing {
        case .nowhere: .nowhere
        case .live: .live
        case .deleted(let end): end.permanence == .forever ? .deletedForever : .deletedUntilWritten
        }
    }

    /// Takes a version as `MessageRule.judgeByArrival` has it.
    fileprivate mutating func writeByArrival(_ write: MessageWrite, at event: EventReference) {
        let revision = MessageRevision(write)
        let verdict = MessageRule.judgeByArrival(
            isFirst: current == nil,
            judgedStanding,
            repeatsCurrent: current?.saying == revision.saying,
            changesText: changesText(write, revision)
        )
        if verdict.entry != nil { enterSelection(at: event) }
        carryOut(verdict, write, revision, at: event)
    }

    /// Takes a version as `MessageRule.judge` has it.
    fileprivate mutating func writeByVersion(_ write: MessageWrite, isGone: Bool, at event: EventReference) {
        let revision = MessageRevision(write)
        if let version = write.replacesVersion { replace(version) }
        // Of equal versions the later in the log counts, so a repeat is compared with the last one.
        let same = lastWrite(of: revision.version)
        let verdict = MessageRule.judge(
            MessageRule.Relation(of: revision.rank, to: current?.rank),
            judgedStanding,
            isGone: isGone,
            isBehind: write.isBehind,
            isKnown: same != nil,
            repeatsKnown: same?.revision?.saying == revision.saying,
            changesText: changesText(write, revision)
        )
        carryOut(verdict, write, revision, at: event)
    }

    /// Whether a version changes the text, not only its surroundings.
    private func changesText(_ write: MessageWrite, _ revision: MessageRevision) -> Bool {
        write.changesContent && current?.saying.text != revision.saying.text
    }

    private mutating func carryOut(
        _ verdict: MessageRule.Verdict,
        _ write: MessageWrite,
        _ revision: MessageRevision,
        at event: EventReference
    ) {
        if let entry = verdict.entry {
            enter(
                Entry(
                    event: event,
                    happening: Entry.Happening(entry.word),
                    revision: revision,
                    isNewRevision: entry.isNewRevision,
                    arrival: Entry.Arrival(entry, changesKnown: verdict.wins && current?.saying != revision.saying),
                    remoteTime: write.remoteTime,
                    by: write.by
                )
            )
            if verdict.wins { current = revision }
        }
        if verdict.wins { place(revision, at: event) }
        if verdict.becomesLive { standing = .live }
    }

    /// Notes the message's place in the remote's own list. A new place makes no revision. Other orders follow from the
    /// version itself.
    private mutating func place(_ revision: MessageRevision, at event: EventReference) {
        guard case .at = revision.order else { return }
        current?.order = revision.order
        placedBy = event.sequence.rawValue
    }
}

extension MessageRecord.Entry.Arrival {
    /// - Parameter changesKnown: Whether the version becomes the current one and has another content. Evaluated only if the
    ///   version is late.
    fileprivate init(_ entry: MessageRule.Entry, changesKnown: @autoclosure () -> Bool) {
        self = !entry.isLate ? .inTime : changesKnown() ? .lateAndKnown : .late
    }
}

extension MessageRecord.Entry.Happening {
    fileprivate init(_ word: MessageRule.Word) {
        switch word {
        case .created: self = .created
        case .edited: self = .edited
        case .linked: self = .linked
        case .restored: self = .restored
        }
    }
}

// MARK: - Written messages

extension Messages {
    /// Adds the message of a plain frame, with a place in a client's list, as `addWritten` adds the frame's write.
    mutating func addSeen(_ frame: PlainFrame, inListAt place: Int, in context: inout FoldContext) -> Bool {
        guard store.place(of: frame.key) == nil, fates.fate(of: frame.channel) == nil,
            compacted.isEmpty || !compacted.contains(frame.key)
        else { return false }
        guard store.addWritten(frame, inListAt: place, at: context.event) else { return false }
        circles.repeatKnown(in: &context)
        touch(frame.key, in: &context)
        touchAnswers(to: frame.key, in: &context)
        if frame.replyTo != .none { connect(store.count - 1, frame.key, to: frame.replyTo, in: &context) }
        return true
    }

    /// Adds a message with its first version as a written one; false, without a change, if the message is known or its
    /// channel is gone, if a compaction dropped it, or if a cell has no room for it. Takes the steps of `change(_:in:_:)`.
    mutating func addWritten(_ write: MessageWrite, in context: inout FoldContext) -> Bool {
        guard store.place(of: write.key) == nil, fates.fate(of: write.key.channel) == nil,
            compacted.isEmpty || !compacted.contains(write.key), store.addWritten(write, at: context.event)
        else { return false }
        touch(write.key, in: &context)
        touchAnswers(to: write.key, in: &context)
        if let replyTo = write.saying.replyTo { connect(store.count - 1, write.key, to: replyTo, in: &context) }
        return true
    }
}
