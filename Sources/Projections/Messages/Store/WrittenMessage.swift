import EventLog

/// A message that was written once, in its cell alone: the first entry of its history, whose version is the current one.
/// Commits, rows and gateway frames that are not plain give such messages.
///
/// The fields of the cell's first entry mean: `createdAt` the remote's time of the write, `author` a place in
/// `MessageStore.editors` counted from 1 (0 for none), `text` a packed `MessageSaying`. If the next change deletes the message by
/// name, that is a packed entry (`WrittenEnd`); any other change makes a record.
struct WrittenMessage: BitwiseCopyable {
    /// The version of the write.
    enum VersionMark: UInt8 {
        case none
        /// Its remote time.
        case remoteTime
        /// The `editedAt` of its content.
        case editedAt
    }

    let happening: PackedHappening
    let recordedAt: Int64
    let remoteTime: PackedTime
    let version: VersionMark
    let order: UInt32

    /// `nil` if a cell has no room for the write: a time outside of `PackedTime.years`, another version, or a place in
    /// the remote's list from 2^32 - 2 on.
    init?(_ write: MessageWrite, _ happening: PackedHappening, at event: EventReference) {
        guard let remoteTime = PackedTime(exactly: write.remoteTime), let version = VersionMark(of: write) else {
            return nil
        }
        self.init(remoteTime, version, write.order, happening, at: event)
    }

    fileprivate init?(
        _ remoteTime: PackedTime,
        _ version: VersionMark,
        _ order: MessageOrder,
        _ happening: PackedHappening,
        at event: EventReference
    ) {
        guard event.isPackable, let order = Self.number(of: order) else { return nil }
        self.happening = happening
        recordedAt = event.recordedAt.microseconds
        self.remoteTime = remoteTime
        self.version = version
        self.order = order
    }

    private static func number(of order: MessageOrder) -> UInt32? {
        switch order {
        case .byID: 0
        case .byCreation: 1
        case .at(let place): place >= 0 ? UInt32(exactly: place).flatMap { $0 < .max - 1 ? $0 + 2 : nil } : nil
        }
    }
}

extension WrittenMessage.VersionMark {
    fileprivate init?(of write: MessageWrite) {
        guard let version = write.version else {
            self = .none
            return
        }
        if version == write.remoteTime {
            self = .remoteTime
        } else if version == write.saying.editedAt {
            self = .editedAt
        } else {
            return nil
        }
    }
}

extension MessageCell {
    /// Makes the cell of a written message.
    init(
        id: EntityID,
        channel: UInt32,
        standing: Standing,
        _ written: WrittenMessage,
        by editor: UInt32,
        replyTo: EntityID?,
        text: PooledText
    ) {
        self.init(id: id, channel: channel, form: .written, standing: standing)
        let version = PackedVersion(
            createdAt: written.remoteTime,
            editedAt: .none,
            replyTo: replyTo ?? .none,
            text: text,
            author: editor
        )
        let hasRoom = put(written.happening, recordedAt: written.recordedAt, version)
        assert(hasRoom, "the cell has room for a version without `editedAt`")
        versionMark = written.version
        last = written.order
    }

}

extension WrittenMessage {
    /// The order that a cell's number means.
    fileprivate static func order(_ number: UInt32) -> MessageOrder {
        switch number {
        case 0: .byID
        case 1: .byCreation
        default: .at(Int(number) - 2)
        }
    }
}

// MARK: - Adding

extension MessageStore {
    /// Adds a message with its first version as a written one; false if a cell has no room for it.
    mutating func addWritten(_ write: MessageWrite, at event: EventReference) -> Bool {
        let verdict =
            write.revisesByArrival
            ? MessageRule.judgeByArrival(isFirst: true, .nowhere, repeatsCurrent: false, changesText: false)
            : MessageRule.judge(.first, .nowhere, isKnown: false, repeatsKnown: false, changesText: false)
        guard event.isPackable, let happening = PackedHappening(verdict, at: event),
            let written = WrittenMessage(write, happening, at: event), let text = storedText(of: write)
        else { return false }
        let cell = MessageCell(
            id: write.key.id,
            channel: UInt32(truncatingIfNeeded: addedChannel(write.key.channel, isOfServer: write.isOfServer)),
            standing: verdict.becomesLive ? .live : .nowhere,
            written,
            by: write.by.map { editors.place(of: $0) + 1 } ?? 0,
            replyTo: write.saying.replyTo,
            text: text
        )
        _ = add(cell)
        return true
    }

    /// The packed content of a write, added if no decoder has; `nil` if it is too long.
    private mutating func storedText(of write: MessageWrite) -> PooledText? {
        if let stored = write.stored { return stored }
        var bytes: [UInt8] = []
        // Room for the text and the few members that most messages have.
        bytes.reserveCapacity(write.saying.text.string.utf8.count + 64)
        // Packing fails only where memory has a limit, and this has none.
        guard (try? write.saying.pack(into: &bytes)) != nil else { return nil }
        return texts.add(packed: bytes)
    }
}

// MARK: - Deleting

/// The deletion of a written message by name, as a packed entry at the place `last` of the cell, whose standing is `deleted`.
///
/// The fields of the entry's version mean: `createdAt` the remote's time, `replyTo` the place of the deleting person in
/// `MessageStore.editors` counted from 1 (0 for none) above the number of the message's order, which was in the cell.
struct WrittenEnd {
    let end: MessageRecord.End
    fileprivate let order: UInt32

    /// Packs a deletion; `nil` if an entry has no room for it: it is one with the channel, has a version, or is
    /// of a time outside of `PackedTime.years`.
    fileprivate static func entry(_ end: MessageRecord.End, order: UInt32, by editor: UInt32) -> PackedEntry? {
        guard end.cause == .deleted, end.version == nil, end.since.isPackable,
            let deletedAt = PackedTime(exactly: end.deletedAt)
        else {
            return nil
        }
        var version = PackedVersion.none
        version.createdAt = deletedAt
        version.replyTo = EntityID(saved: UInt64(editor) << 32 | UInt64(order))
        let happening = PackedHappening(
            .deleted,
            at: end.since.sequence.rawValue,
            hasVersion: true,
            counts: end.permanence == .forever
        )
        return PackedEntry(
            happening: happening,
            recordedAt: end.since.recordedAt.microseconds,
            version: version,
            previous: 0
        )
    }

    fileprivate init(_ entry: PackedEntry, _ editors: TextTable) {
        let editor = Self.editor(entry)
        order = UInt32(truncatingIfNeeded: entry.version.replyTo.rawValue)
        end = MessageRecord.End(
            cause: .deleted,
            permanence: entry.happening.counts ? .forever : .untilWritten,
            deletedAt: entry.version.createdAt.timestamp,
            deletedBy: editor == 0 ? nil : editors.text(editor - 1),
            since: entry.event
        )
    }

    fileprivate static func editor(_ entry: PackedEntry) -> UInt32 {
        UInt32(truncatingIfNeeded: entry.version.replyTo.rawValue >> 32)
    }
}

extension MessageStore {
    /// Deletes a live written message by name; false, without a change, if it is none or an entry has no room.
    mutating func deleteWritten(at place: Int, _ end: MessageRecord.End) -> Bool {
        let cell = cells[place]
        guard cell.form == .written, cell.standing == .live else { return false }
        let editor = end.deletedBy.map { editors.place(of: $0) + 1 } ?? 0
        guard let entry = WrittenEnd.entry(end, order: cell.last, by: editor) else { return false }
        entries.append(entry)
        saved.noteCell(place)
        cells[place].last = UInt32(truncatingIfNeeded: entries.count)
        cells[place].standing = .deleted
        return true
    }

    /// The deletion of a written message; `nil` if it was not deleted.
    func end(ofWritten cell: MessageCell) -> WrittenEnd? {
        cell.standing == .deleted ? WrittenEnd(entries[Int(cell.last) - 1], editors) : nil
    }

    /// Whether a loaded written message was not deleted, or its deletion is one of the entries.
    func holdsEnd(ofWritten cell: MessageCell) -> Bool {
        guard cell.standing == .deleted else { return true }
        guard cell.last > 0, cell.last <= entries.count else { return false }
        return Int(WrittenEnd.editor(entries[Int(cell.last) - 1])) <= editors.count
    }

    /// The order of a written message.
    func order(ofWritten cell: MessageCell) -> MessageOrder {
        WrittenMessage.order(end(ofWritten: cell)?.order ?? cell.last)
    }
}

// MARK: - Reading

extension MessageStore {
    /// The record that equals a written message.
    func record(ofWritten cell: MessageCell) -> MessageRecord {
        let key = MessageKey(channel: channels[Int(cell.channel)].id, id: cell.id)
        guard let first = cell.first else { return MessageRecord(key: key) }
        let saying = saying(ofWritten: cell)
        let remoteTime = first.version.createdAt.timestamp
        let revision = MessageRevision(
            version: version(ofWritten: cell, remoteTime, saying),
            order: order(ofWritten: cell),
            saying: saying
        )
        let entry = MessageRecord.Entry(
            event: first.event,
            happening: first.happening.word.happening(at: first.event),
            revision: revision,
            isNewRevision: first.happening.isNewRevision,
            remoteTime: remoteTime,
            by: first.version.author == 0 ? nil : editors.text(first.version.author - 1)
        )
        let standing = cell.standing == .live ? MessageRecord.Standing.live : .nowhere
        var record = MessageRecord(key: key, standing: standing, current: revision, entries: [entry])
        if case .at = revision.order { record.placedBy = first.happening.sequence }
        if let end = end(ofWritten: cell)?.end { record.delete(end) }
        return record
    }

    func version(ofWritten cell: MessageCell) -> Timestamp? {
        switch cell.versionMark {
        case .none: nil
        case .remoteTime: cell.first?.version.createdAt.timestamp
        case .editedAt: saying(ofWritten: cell).editedAt
        }
    }

    private func version(
        ofWritten cell: MessageCell,
        _ remoteTime: Timestamp?,
        _ saying: MessageSaying
    ) -> Timestamp? {
        switch cell.versionMark {
        case .none: nil
        case .remoteTime: remoteTime
        case .editedAt: saying.editedAt
        }
    }

    /// The content of a written message.
    func saying(ofWritten cell: MessageCell) -> MessageSaying {
        let saying = cell.first.flatMap { first in
            texts.withPacked(first.version.text) { MessageSaying(packed: $0) }
        }
        // Only bytes of another build could be no content, and those are not loaded.
        return saying ?? MessageSaying(text: MessageText(""))
    }

    /// The time at which a written message was created.
    func createdAt(ofWritten cell: MessageCell) -> Timestamp? {
        cell.first.flatMap { first in texts.withPacked(first.version.text) { MessageSaying.createdAt(packed: $0) } }
    }

    /// The id that a written message replies to.
    func replyTo(ofWritten cell: MessageCell) -> EntityID? {
        cell.first.flatMap { $0.version.replyTo == .none ? nil : $0.version.replyTo }
    }
}

extension PackedTime {
    /// A time or none; `nil` if it is outside of `years`.
    fileprivate init?(exactly time: Timestamp?) {
        guard let time else {
            self = .none
            return
        }
        guard Self.seconds.contains(time.seconds) else { return nil }
        self.init(seconds: time.seconds, nanoseconds: Int64(time.nanoseconds))
    }

    /// The seconds of the years 1700 to 2199, a few days less at either end.
    private static let seconds: ClosedRange<Int64> = -8_520_000_000...7_258_000_000
}
