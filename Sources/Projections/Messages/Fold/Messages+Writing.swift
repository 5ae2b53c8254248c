import EventLog

extension Messages {
    /// Applies a version that arrived, in whatever order versions and deletions come.
    mutating func write(_ write: MessageWrite, in context: inout FoldContext) {
        let known = store.place(of: write.key)
        if write.appends, let known, takePiece(write, at: known, in: &context) { return }
        switch met(write, at: known, context.rules) {
        case .changesNothing: break
        case .asItIs: take(write, at: known, in: &context)
        case .joined(let joined): take(joined, at: known, in: &context)
        }
    }

    /// Applies a version as it met its message, which is at a place if it is known.
    private mutating func take(_ write: MessageWrite, at known: Int?, in context: inout FoldContext) {
        if known == nil, addWritten(write, in: &context) { return }
        let place = known ?? store.add(write.key, isOfServer: write.isOfServer)
        let (event, rules) = (context.event, context.rules)
        let fate = fates.fate(of: write.key.channel)
        change(place, in: &context) { record in
            // `fall(_:in:)` passed over this message because it had not been written. It was not known before this event.
            if !record.wasWritten, let fate { record.fall(fate, at: event) }
            if write.revisesByArrival || record.takesLate(write, rules) {
                record.writeByArrival(write, at: event)
            } else {
                record.writeByVersion(write, isGone: fate != nil, rules, at: event)
            }
        }
    }

    /// Takes a piece of a streamed text; false, without a change, where it changes more, or the message needs the long way.
    private mutating func takePiece(_ write: MessageWrite, at place: Int, in context: inout FoldContext) -> Bool {
        guard case .patches(.piece, _) = write.meeting, context.rules.isEmpty, store.cells[place].form == .record,
            fates.fate(of: write.key.channel) == nil
        else { return false }
        // A place in the remote's own list is noted by the long way.
        if case .at = write.order { return false }
        let (text, event) = (write.saying.text.string, context.event)
        Steps.count(text.utf8.count)
        var isTaken = false
        change(place, in: &context) { isTaken = $0.takePiece(text, at: event) }
        return isTaken
    }

    /// How a version meets its message.
    enum Met {
        case changesNothing
        case asItIs
        /// The version has some members; the others are the message's.
        case joined(MessageWrite)
    }

    /// How a version meets the message, which is at a place if it is known.
    func met(_ write: MessageWrite, at place: Int?, _ rules: ReadingRules) -> Met {
        if case .replaces = write.meeting { return .asItIs }
        let known = place.map { store.record(at: $0) }
        guard let known, let current = known.current else {
            guard case .patches(_, makes: false) = write.meeting else { return .asItIs }
            return known == nil && rules.contains(.editOfUnseenMakesAMessage) ? .asItIs : .changesNothing
        }
        guard case .patches(let members, _) = write.meeting else {
            if case .deleted(let end) = known.standing, end.permanence == .untilWritten { return .asItIs }
            return .changesNothing
        }
        let isReplaced = rules.contains(.patchReplacesTheWhole)
        var (patched, saying) = (write, isReplaced ? write.saying : current.saying)
        if members.contains(.author) { saying.author = write.saying.author }
        if members.contains(.authorName) { saying.authorName = write.saying.authorName }
        if members.contains(.appended) {
            Steps.count(write.saying.text.string.utf8.count)
            saying.text = MessageText(current.saying.text.string + write.saying.text.string)
        } else if members.contains(.content) {
            saying.text = write.saying.text
        }
        if members.contains(.createdAt) { saying.createdAt = write.saying.createdAt }
        if members.contains(.editedAt) { saying.editedAt = write.saying.editedAt }
        if members.contains(.replyTo) { saying.replyTo = write.saying.replyTo }
        if members.contains(.tags) { saying.tags = write.saying.tags }
        if members.contains(.attachments) { saying.attachments = write.saying.attachments }
        patched.saying = saying
        if !members.contains(.version) {
            patched.version = current.version
            // It came behind the deletion.
            if case .deleted(let end) = known.standing, let version = end.version, let own = current.version {
                patched.version = max(own, version)
            }
        }
        return .joined(patched)
    }

    /// Takes a version of a known message back.
    mutating func withdraw(_ version: Timestamp, of key: MessageKey, in context: inout FoldContext) {
        guard let place = store.place(of: key) else { return }
        let event = context.event
        change(place, in: &context) { $0.withdraw(version, at: event) }
    }

    /// Changes the reactions to a live message; those to any other are passed over.
    mutating func react(_ key: MessageKey, _ change: ReactionChange, in context: inout FoldContext) {
        guard let place = store.place(of: key), state(at: place) == .live else { return }
        let sequence = context.event.sequence.rawValue
        var wanted: [(emoji: String, user: EntityID, isPresent: Bool)] = []
        // The event that took all away, or all of one emoji or user, stands for those that it took, whether or not their own
        // events are known: so a compaction keeps it.
        var whole: (emoji: String, user: EntityID)?
        func known() -> [(emoji: String, user: EntityID)] {
            store.sortedReactions(at: place, context.names).filter(\.isPresent).map {
                (emoji: store.reactions.emojis.text($0.emoji), user: $0.user)
            }
        }
        switch change {
        case .set(let reaction, let isPresent): wanted = [(reaction.emoji, reaction.user, isPresent)]
        case .cleared(let emoji, nil):
            whole = (emoji ?? "", .none)
            for reaction in known() where emoji.map({ ExactText.areSame($0, reaction.emoji) }) ?? true {
                wanted.append((reaction.emoji, reaction.user, false))
            }
        case .cleared(let emoji, let user?):
            whole = (emoji ?? "", user)
            // Emojis are few, and users may be many.
            for emoji in emoji.map({ [$0] }) ?? store.reactions.emojis.texts
            where store.reactions.has(emoji, by: user, to: place) {
                wanted.append((emoji, user, false))
            }
        case .stand(let reactions, let statement):
            guard counts(statement, at: place, context) else { return }
            whole = ("", .none)
            var stated: Set<[EntityID]> = []
            var names = Names()
            for reaction in reactions { stated.insert([names.id(reaction.emoji), reaction.user]) }
            for reaction in known() where !stated.contains([names.id(reaction.emoji), reaction.user]) {
                wanted.append((reaction.emoji, reaction.user, false))
            }
            wanted += reactions.map { ($0.emoji, $0.user, true) }
        }
        var changes = false
        for reaction in wanted {
            let isNew = store.react(
                at: place,
                emoji: reaction.emoji,
                user: reaction.user,
                isPresent: reaction.isPresent,
                sequence: reaction.isPresent || whole == nil ? sequence : 0
            )
            changes = changes || isNew
        }
        if let (emoji, user) = whole {
            _ = store.react(at: place, emoji: emoji, user: user, isPresent: false, sequence: sequence)
        }
        if changes { touch(key, in: &context) }
    }

    /// Whether a statement of all reactions to the message at a place counts.
    private func counts(_ statement: ReactionChange.Statement, at place: Int, _ context: FoldContext) -> Bool {
        switch statement {
        case .change: return true
        case .version(let version):
            if context.rules.contains(.lateVersionReplaces) { return true }
            let current = store.record(at: place).current
            return MessageRule.Relation(of: MessageRevision.Rank(version: version), to: current?.rank).wins
        case .making: return store.record(at: place).entries.last?.event.sequence == context.event.sequence
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
        let place = place(for: key, isOfServer: true)
        let sequence = context.event.sequence.rawValue
        let changes = store.react(at: place, emoji: emoji, user: user, isPresent: isPresent, sequence: sequence)
        if changes { touch(key, in: &context) }
    }

    /// Applies the move of a branch's tip: another known standing becomes current, without a history entry unless the
    /// message became unreadable. Only commits give such changes, and the late rows of a conversation.
    mutating func stand(_ key: MessageKey, _ standing: MessageStanding, in context: inout FoldContext) {
        if case .nowhere = standing, store.place(of: key) == nil { return }
        let place = place(for: key)
        let event = context.event
        change(place, in: &context) { record in
            switch standing {
            case .version(let write):
                if record.awaitsVersion { record.take(MessageRevision(write)) }
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

    /// Whether a client takes a version because it arrives later, though it is older than the current one, or known and
    /// replaced by one that came late.
    fileprivate mutating func takesLate(_ write: MessageWrite, _ rules: ReadingRules) -> Bool {
        guard rules.forgetsVersions, let current else { return false }
        let revision = MessageRevision(write)
        let isOlder = revision.rank < current.rank
        guard isOlder || current.saying != revision.saying else { return false }
        guard isOlder || lastWrite(of: revision.version)?.revision?.saying == revision.saying else { return false }
        return switch judgedStanding {
        case .deletedForever: false
        case .deletedUntilWritten: true
        case .live, .nowhere: rules.contains(.lateVersionReplaces)
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
    fileprivate mutating func writeByVersion(
        _ write: MessageWrite,
        isGone: Bool,
        _ rules: ReadingRules,
        at event: EventReference
    ) {
        let revision = MessageRevision(write)
        if let version = write.replacesVersion { replace(version) }
        // Of equal versions the later in the log counts, so a repeat is compared with the last one.
        let same = lastWrite(of: revision.version)
        let verdict = MessageRule.judge(
            MessageRule.Relation(of: revision.rank, to: current?.rank),
            judgedStanding,
            isGone: isGone,
            isEnded: write.isOfChannel && judgedStanding == .deletedForever,
            isBehind: write.isBehind,
            isDeletedSince: isDeletedSince(write.version) && !rules.contains(.lateVersionReplaces),
            isKnown: same != nil,
            repeatsKnown: same?.revision?.saying == revision.saying,
            changesText: changesText(write, revision)
        )
        carryOut(verdict, write, revision, at: event)
    }

    /// Whether the deletion of the message has a greater version. A version that the remote does not tell counts by arrival.
    private func isDeletedSince(_ version: Timestamp?) -> Bool {
        guard case .deleted(let end) = standing, let deleted = end.version, let version else { return false }
        return version < deleted
    }

    /// Takes a version back. If it is the current one, the greatest of the others is; the history says so. A message that is deleted
    /// for ever keeps the text that it had then.
    fileprivate mutating func withdraw(_ version: Timestamp, at event: EventReference) {
        if judgedStanding == .deletedForever { return }
        replace(version)
        guard current?.version == version else { return }
        var best: MessageRevision?
        for entry in entries where entry.isStandingWrite {
            guard let revision = entry.revision, best.map({ $0.rank <= revision.rank }) ?? true else { continue }
            best = revision
        }
        guard let best else { return }
        current = best
        guard case .live = standing else { return }
        enter(Entry(event: event, happening: .edited, revision: best, remoteTime: nil, by: nil))
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
            var made = Entry(
                event: event,
                happening: Entry.Happening(entry.word),
                revision: revision,
                isNewRevision: entry.isNewRevision,
                arrival: Entry.Arrival(entry, changesKnown: verdict.wins && current?.saying != revision.saying),
                remoteTime: write.remoteTime,
                by: write.by
            )
            if write.appends, verdict.wins { made.appended = [] }
            enter(made)
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
    /// Takes the version of a plain frame, with a place in a client's list, as `write` takes the frame's write (I18); false,
    /// without a change, if the message or its channel needs the long way. Takes the steps of `change(_:in:_:)`.
    mutating func takeSeen(_ frame: PlainFrame, inListAt place: Int, in context: inout FoldContext) -> Bool {
        guard fates.fate(of: frame.channel) == nil, compacted.isEmpty || !compacted.contains(id: frame.id) else {
            return false
        }
        if let known = store.place(of: frame.key) {
            guard store.writeListed(frame, inListAt: place, at: known, context.event) else { return false }
            circles.repeatKnown(in: &context)
            touch(frame.key, in: &context)
            return true
        }
        guard store.addListed(frame, inListAt: place, at: context.event) else { return false }
        circles.repeatKnown(in: &context)
        touch(frame.key, in: &context)
        touchAnswers(to: frame.key, in: &context)
        return true
    }

    /// Adds a message that is not known with its first version as a written one; false, without a change, if its channel is
    /// gone, or if a cell has no room for it. Takes the steps of `change(_:in:_:)`.
    fileprivate mutating func addWritten(_ write: MessageWrite, in context: inout FoldContext) -> Bool {
        guard fates.fate(of: write.key.channel) == nil, store.addWritten(write, at: context.event) else { return false }
        touch(write.key, in: &context)
        touchAnswers(to: write.key, in: &context)
        if let replyTo = write.saying.replyTo { connect(store.count - 1, write.key, to: replyTo, in: &context) }
        return true
    }
}
