import EventLog

extension MessageStore {
    /// The record that equals a packed message with a place in the remote's order (I18): the one that the general way would have
    /// made of the same frames.
    func unpacked(_ cell: MessageCell, _ order: MessageOrder) -> MessageRecord {
        let key = MessageKey(channel: channels[Int(cell.channel)].id, id: cell.id)
        var history: [MessageRecord.Entry] = []
        var arrivals = PackedArrivals()
        forEachEntryInOrder(of: cell) { history.append(entry($0, arrivals.next($0), of: key, order)) }
        let current = version(of: cell).map { MessageRevision(write(of: key, $0, order)) }
        return MessageRecord(key: key, standing: standing(of: cell), current: current, entries: history)
    }

    /// The `MessageRecord.revisionCount` of the message at a place.
    func revisionCount(at place: Int) -> Int { revisionCount(of: cells[place]) }

    private func standing(of cell: MessageCell) -> MessageRecord.Standing {
        switch cell.standing {
        case .nowhere: .nowhere
        case .live: .live
        case .deleted: deletion(of: cell).map { .deleted($0) } ?? .nowhere
        }
    }

    /// A packed entry as a record has it. Packed histories contain no moves and no replaced versions.
    private func entry(
        _ packed: PackedEntry,
        _ arrival: MessageRecord.Entry.Arrival,
        of key: MessageKey,
        _ order: MessageOrder
    ) -> MessageRecord.Entry {
        let write = packed.happening.hasVersion ? write(of: key, packed.version, order) : nil
        return MessageRecord.Entry(
            event: packed.event,
            happening: packed.happening.word.happening(at: packed.event),
            revision: write.map(MessageRevision.init),
            isNewRevision: packed.happening.isNewRevision,
            arrival: arrival,
            // A gateway's deletion has neither a time nor an author.
            remoteTime: packed.happening.isWrite ? write?.remoteTime : nil,
            by: packed.happening.isWrite ? write?.by : nil
        )
    }

    /// A version as the decoder would have returned it: what `PlainFrame.change` gives, read from the store. The text
    /// was checked when it was scanned; the members behind it are parsed here.
    private func write(of key: MessageKey, _ version: PackedVersion, _ order: MessageOrder) -> MessageWrite {
        let author = String(authors.id(version.author))
        let rest = texts.withObject(version.text) { PackedRest($0) }
        return MessageWrite(
            key: key,
            version: version.editedAt.timestamp,
            order: order,
            saying: MessageSaying(
                text: MessageText(texts.string(version.text)),
                author: author,
                authorName: authors.name(version.author),
                createdAt: version.createdAt.timestamp,
                editedAt: version.editedAt.timestamp,
                replyTo: version.replyTo == .none ? nil : version.replyTo,
                attachments: rest.attachments,
                extra: rest.extra
            ),
            remoteTime: version.editedAt.timestamp ?? version.createdAt.timestamp,
            by: author
        )
    }
}

/// Finds the late versions among the entries of a packed message, which do not store it: they follow from the versions that
/// count and the deletions, as in `MessageRule.judge`.
struct PackedArrivals {
    private var isGone = false

    init() {}

    /// Whether the version of the next entry is late.
    @inline(__always)
    mutating func next(_ entry: PackedEntry) -> MessageRecord.Entry.Arrival {
        guard entry.happening.isWrite else {
            isGone = true
            return .inTime
        }
        if !entry.happening.counts { return .late }
        // A packed version that counts has another content than the one before: a repeat makes no entry.
        return isGone ? .lateAndKnown : .inTime
    }
}

// MARK: - Reading without unpacking

extension MessageStore {
    /// The newest entry of a packed message for which `isWanted` is true. O(entries); the one in the cell is the
    /// oldest.
    @inline(__always)
    func newestEntry(of cell: MessageCell, where isWanted: (PackedEntry) -> Bool) -> PackedEntry? {
        assert(cell.form.isPacked, "of a record, `last` is no place of an entry")
        var last = cell.last
        while last > 0 {
            let entry = entries[Int(last) - 1]
            assert(entry.previous < last, "each entry refers to an earlier one, so the walk ends")
            if isWanted(entry) { return entry }
            last = entry.previous
        }
        return cell.first.flatMap { isWanted($0) ? $0 : nil }
    }

    /// Calls a closure with each entry of a packed message, the newest first.
    @inline(__always)
    func forEachEntry(of cell: MessageCell, _ body: (PackedEntry) -> Void) {
        _ = newestEntry(of: cell) {
            body($0)
            return false
        }
    }

    /// Calls a closure with each entry of a packed message, the oldest first.
    @inline(__always)
    func forEachEntryInOrder(of cell: MessageCell, _ body: (PackedEntry) throws -> Void) rethrows {
        // The usual message has one entry, which lies in its cell.
        if cell.last == 0 {
            if let first = cell.first { try body(first) }
            return
        }
        var entries: [PackedEntry] = []
        forEachEntry(of: cell) { entries.append($0) }
        for entry in entries.reversed() { try body(entry) }
    }

    /// The current version of a packed message; of a deleted message, the last one; `nil` if only deletions named the
    /// message.
    @inline(__always)
    func version(of cell: MessageCell) -> PackedVersion? {
        newestEntry(of: cell) { $0.happening.counts }?.version
    }

    /// The first deletion by name of a packed message; `nil` if there was none. Deletions of the channel do not count.
    func deletion(of cell: MessageCell) -> MessageRecord.End? {
        var first: MessageRecord.End?
        forEachEntry(of: cell) { entry in
            let word = entry.happening.word
            // The walk goes from the newest to the oldest, so the last one found is the first.
            if word == .deleted || word == .deletedUntilWritten,
                case .deleted(let end) = word.happening(at: entry.event)
            {
                first = end
            }
        }
        return first
    }

    /// Whether anything but reactions happened to the message at a place.
    func hasEntries(at place: Int) -> Bool {
        let cell = cells[place]
        return switch cell.form {
        case .record: !records[Int(cell.last)].entries.isEmpty
        case .written: true
        case .packed, .listed: cell.last > 0 || cell.first != nil
        }
    }

    /// Whether a version of the message at a place is known.
    func hasCurrent(at place: Int) -> Bool {
        let cell = cells[place]
        return switch cell.form {
        case .record: records[Int(cell.last)].current != nil
        case .written: true
        case .packed, .listed: version(of: cell) != nil
        }
    }

    /// Calls a closure with the sequence of each event that the message at a place remembers, in any order, perhaps
    /// repeated. A compaction keeps these events.
    func forEachSequence(at place: Int, _ body: (UInt64) -> Void) {
        let cell = cells[place]
        // 0: the event of an entry that stands for all of a kind took the reaction away.
        if cell.hasReactions { reactions.forEach(to: place) { if $0.sequence > 0 { body($0.sequence) } } }
        if cell.form.isPacked { return forEachEntry(of: cell) { body($0.happening.sequence) } }
        if cell.form == .written {
            body(cell.first?.happening.sequence ?? 0)
            return end(ofWritten: cell).map { body($0.end.since.sequence.rawValue) } ?? ()
        }
        let record = records[Int(cell.last)]
        for entry in record.entries {
            for piece in entry.appended ?? [] { body(piece.event.sequence.rawValue) }
            body(entry.event.sequence.rawValue)
        }
        if let placedBy = record.placedBy { body(placedBy) }
    }

    /// The id that the current version of the message at a place replies to.
    /// Of a deleted message, the id that its last version replies to.
    func replyTo(at place: Int) -> EntityID? {
        let cell = cells[place]
        if cell.form == .record { return records[Int(cell.last)].current?.saying.replyTo }
        if cell.form == .written { return replyTo(ofWritten: cell) }
        return version(of: cell).flatMap { $0.replyTo == .none ? nil : $0.replyTo }
    }

    /// Whether a version of the message at a place was ever seen, as `MessageRecord.wasWritten`.
    func wasWritten(at place: Int) -> Bool {
        let cell = cells[place]
        return switch cell.form {
        case .record: records[Int(cell.last)].wasWritten
        case .written: true
        // The first version of a packed message always becomes current.
        case .packed, .listed: version(of: cell) != nil
        }
    }

    /// The keys that the message moved from or to; a packed or written message never moved.
    func relatives(at place: Int) -> [MessageKey] {
        let cell = cells[place]
        return cell.form == .record ? records[Int(cell.last)].relatives : []
    }

    /// The order of the first message in a channel that has a version; `nil` if none has one. Cost: O(1) unless many
    /// messages without a version come first.
    func firstOrder(in channel: EntityID) -> MessageOrder? {
        var next = self.channel(channel).map { channels[$0].first } ?? 0
        while next > 0 {
            let cell = cells[Int(next) - 1]
            if cell.form == .packed, version(of: cell) != nil { return .byID }
            if cell.form == .listed { return order(ofListed: Int(next) - 1) }
            if cell.form == .written { return order(ofWritten: cell) }
            if cell.form == .record, let current = records[Int(cell.last)].current { return current.order }
            next = cell.next
        }
        return nil
    }
}

extension MessageStore {
    /// Whether the message with a cell is ordered by its id.
    @inline(__always)
    func isByID(_ cell: MessageCell) -> Bool {
        switch cell.form {
        case .packed: true
        case .listed: false
        case .written: order(ofWritten: cell) == .byID
        case .record: records[Int(cell.last)].current?.order == .byID
        }
    }
}

extension PackedEntry {
    /// The event that made the entry.
    /// Exactly the reference that was packed; see `EventReference.isPackable`.
    var event: EventReference {
        EventReference(
            sequence: SequenceNumber(happening.sequence),
            recordedAt: Timestamp(microseconds: recordedAt)
        )
    }
}

extension PackedHappening.Word {
    /// The same change as a record has it, made by an event. Gateways delete for ever, clients until written; neither gives time or
    /// author.
    func happening(at event: EventReference) -> MessageRecord.Entry.Happening {
        switch self {
        case .created: .created
        case .edited: .edited
        case .linked: .linked
        case .deleted: .deleted(Self.end(.deleted, event))
        case .channelDeleted: .deleted(Self.end(.channelDeleted, event))
        case .guildDeleted: .deleted(Self.end(.guildDeleted, event))
        case .deletedUntilWritten: .deleted(Self.end(.deleted, event, .untilWritten))
        }
    }

    private static func end(
        _ cause: MessageDeletion.Cause,
        _ event: EventReference,
        _ permanence: Permanence = .forever
    ) -> MessageRecord.End {
        MessageRecord.End(cause: cause, permanence: permanence, since: event)
    }
}
