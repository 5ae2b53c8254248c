import EventLog

/// What messages that compactions dropped take of the changes that come since (`docs/semantics.md`, "Compaction"). A message
/// that is live again is a record like any other, whose history begins with the event that stated it; all that is known from
/// before is its `CompactedMessages.Drop`, which stays as long as the message does.
///
/// Decides by the drop, the event's sequence and the record alone, so that a compacted log and the whole one come to the same
/// state with any later events (I13).
extension Messages {
    /// What a change leaves to do; `nil` if it changes no more. The share's other messages pass. Moves pass, too: `move` knows
    /// both keys.
    mutating func admitted(_ change: MessageChange, in context: inout FoldContext) -> MessageChange? {
        if case .moved = change { return change }
        let key = change.key
        guard store.share == .whole || store.share.contains(key.channel) else { return change }
        guard let known = dropped(key, isOfServer: change.serverKey != nil) else { return change }
        // Another share may have the message live again.
        if store.share != .whole, known.key.channel != key.channel { crossesShares = true }
        if context.event.sequence.rawValue <= known.drop.decidedAt { return nil }
        let place = change.serverKey == nil ? store.place(of: key) : store.placeOnServer(of: key.id)
        if let place { return admitted(change, to: place, known.drop) }
        switch change {
        case .written(let write): return isRevived(key, by: write, known.drop) ? change : nil
        case .deleted(let deletion) where deletion.permanence == .forever && !known.drop.isDeletedForGood:
            compacted.noteDeletedForGood(known.key)
            touchAnswers(to: known.key, in: &context)
            return nil
        case .deleted, .moved, .reaction, .withdrawn, .reactions, .stands: return nil
        }
    }

    /// The drop of a message, found as the store finds the message.
    private func dropped(
        _ key: MessageKey,
        isOfServer: Bool
    ) -> (key: MessageKey, drop: CompactedMessages.Drop)? {
        if isOfServer { return compacted.onServer(key.id) }
        return compacted.drop(of: key).map { (key, $0) }
    }

    /// Whether a version states a dropped message again: a whole one that is newer than what was dropped.
    private func isRevived(_ key: MessageKey, by write: MessageWrite, _ drop: CompactedMessages.Drop) -> Bool {
        guard case .replaces = write.meeting, !drop.isDeletedForGood, fates.fate(of: key.channel) == nil else {
            return false
        }
        return write.revisesByArrival ? write.isStated : drop.rank.isLess(than: write.version)
    }

    /// A change of a message that is live again, or was.
    private func admitted(_ change: MessageChange, to place: Int, _ drop: CompactedMessages.Drop) -> MessageChange? {
        switch change {
        case .written(let write) where write.revisesByArrival:
            // A text from before is not known to a compacted log.
            return write.isStated ? change : .stands(write.key, known(.version(write), at: place, drop))
        case .written(let write):
            if case .patches(let members, _) = write.meeting, !members.contains(.version) { return change }
            return drop.rank.isLess(than: write.version) ? change : nil
        case .deleted(let deletion) where deletion.permanence == .untilWritten:
            // On this line it is as it was dropped.
            return store.record(at: place).isNowhere ? nil : change
        case .stands(let key, let standing): return .stands(key, known(standing, at: place, drop))
        case .deleted, .moved, .reaction, .withdrawn, .reactions: return change
        }
    }

    /// A standing at a branch's tip as far as it is known: `nowhere` if the tip has what was dropped.
    private func known(
        _ standing: MessageStanding,
        at place: Int,
        _ drop: CompactedMessages.Drop
    ) -> MessageStanding {
        let record = store.record(at: place)
        switch standing {
        case .version(let write): return record.knows(write.saying) || record.awaitsVersion ? standing : .nowhere
        case .deleted(_, let since, let last):
            guard since.sequence.rawValue > drop.decidedAt else { return .nowhere }
            if let last { return record.knows(last.saying) ? standing : .nowhere }
            // Only rows state a deletion without the text.
            if case .at = record.current?.order { return standing }
            return .nowhere
        case .nowhere, .unreadable: return standing
        }
    }
}

extension MessageChange {
    /// The message that the change names; of a move, the one that is left.
    var key: MessageKey {
        switch self {
        case .written(let write): write.key
        case .deleted(let deletion): deletion.key
        case .moved(let from, _, _, _): from
        case .reaction(let key, _, _, _), .stands(let key, _), .reactions(let key, _), .withdrawn(let key, _): key
        }
    }
}

extension MessageRecord {
    /// Whether the message is neither live nor deleted by its own events.
    fileprivate var isNowhere: Bool { if case .nowhere = standing { true } else { false } }

    /// Whether an event of the history brought a content.
    fileprivate func knows(_ saying: MessageSaying) -> Bool { entries.contains { $0.revision?.saying == saying } }

    /// Whether the last entry is a move that brought a dropped message here, whose content is stated next.
    var awaitsVersion: Bool {
        guard let last = entries.last, case .moved = last.happening else { return false }
        return last.isNewRevision && last.revision == nil
    }

    /// The key that the message had when a compaction dropped it, if it moved here since, and so is known from there on.
    fileprivate func droppedKey(_ compacted: CompactedMessages) -> MessageKey? {
        for entry in entries {
            guard case .moved(let from, _) = entry.happening else { continue }
            if entry.isNewRevision || compacted.contains(from) { return from }
        }
        return nil
    }
}

// MARK: - How it shows

extension Messages {
    /// What a compaction dropped of the message at a place: it is known from a later event on. `nil` for any other message.
    func drop(at place: Int) -> CompactedMessages.Drop? {
        if compacted.isEmpty { return nil }
        let cell = store.cells[place]
        if store.channels[Int(cell.channel)].isOfServer {
            if compacted.contains(id: cell.id), let known = compacted.onServer(cell.id) { return known.drop }
        } else if let known = compacted.drop(of: store.key(at: place)) {
            return known
        }
        guard cell.form == .record, !store.records[Int(cell.last)].relatives.isEmpty else { return nil }
        return store.records[Int(cell.last)].droppedKey(compacted).flatMap { compacted.drop(of: $0) }
    }

    /// The entries of the message at a place as histories tell them: behind a mark, if a compaction dropped what was before, and
    /// with the one for the tip of a branch.
    func toldEntries(at place: Int, tip: EventReference?) -> [MessageRecord.Entry] {
        let record = store.record(at: place)
        var entries = record.history
        if let selection = tip.flatMap({ record.selection(at: $0) }) { entries.append(selection) }
        guard let drop = drop(at: place), let first = entries.first else { return entries }
        // The version that it had before is not known, but it had one.
        if case .created = first.happening { entries[0].happening = .edited }
        let clock = compacted.clocks[drop.decidedAt] ?? first.event.recordedAt
        let decision = EventReference(sequence: SequenceNumber(drop.decidedAt), recordedAt: clock)
        return [MessageRecord.Entry(event: decision, happening: .compacted)] + entries
    }

    /// The event that stated a dropped message again; `nil` if none has.
    func revival(of key: MessageKey, isOfServer: Bool) -> SequenceNumber? {
        let place = isOfServer ? store.placeOnServer(of: key.id) : store.place(of: key)
        return place.flatMap { store.record(at: $0).entries.first?.event.sequence }
    }
}

// MARK: - Dropping

/// A decision which messages a compaction drops.
struct CompactionDecision {
    /// The head of the log.
    let head: SequenceNumber
    /// The log's clock there.
    let clock: Timestamp?
}

extension MessageStore {
    /// What stays known of the message at a place once a compaction has dropped it.
    func drop(at place: Int, _ decision: CompactionDecision) -> CompactedMessages.Drop {
        var drop = CompactedMessages.Drop(decidedAt: decision.head.rawValue)
        let cell = cells[place]
        switch cell.form {
        case .packed, .listed:
            if let version = version(of: cell) { drop.rank = .version(version.editedAt.timestamp) }
            drop.isDeletedForGood = deletion(of: cell)?.permanence == .forever
        case .written:
            drop.rank = .version(version(ofWritten: cell))
            drop.isDeletedForGood = end(ofWritten: cell)?.end.permanence == .forever
        case .record:
            let record = records[Int(cell.last)]
            if let current = record.current { drop.rank = .version(current.version) }
            if case .deleted(let end) = record.standing {
                drop.isDeletedForGood = end.permanence == .forever
                if let version = end.version, drop.rank.isLess(than: version) { drop.rank = .version(version) }
            }
        }
        return drop
    }
}

extension CompactedMessages.Drop {
    /// The drop of a message that was dropped before, and was live again.
    func following(_ earlier: CompactedMessages.Drop?) -> CompactedMessages.Drop {
        guard let earlier else { return self }
        var drop = self
        drop.isDeletedForGood = isDeletedForGood || earlier.isDeletedForGood
        if case .version(let version) = earlier.rank, !earlier.rank.isLess(than: drop.rank.known) {
            drop.rank = .version(version)
        }
        return drop
    }
}

extension CompactedMessages.Rank {
    fileprivate var known: Timestamp? { if case .version(let version) = self { version } else { nil } }
}
