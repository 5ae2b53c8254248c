import EventLog

/// A message that was written once and that nothing else happened to, in its cell alone: the first entry of its history,
/// whose version is the current one. Commits, rows and gateway frames that are not plain give such messages.
///
/// The fields of the cell's first entry mean: `createdAt` the remote's time of the write, `author` a place in
/// `MessageStore.editors` counted from 1 (0 for none), `text` a packed `MessageSaying`. The next change makes a record.
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
        guard event.isPackable, let remoteTime = PackedTime(exactly: write.remoteTime),
            let version = VersionMark(of: write), let order = Self.number(of: write.order)
        else { return nil }
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
        } else if version == write.editedAt {
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

    /// The order of a written message.
    var writtenOrder: MessageOrder {
        switch last {
        case 0: .byID
        case 1: .byCreation
        default: .at(Int(last) - 2)
        }
    }
}

// MARK: - Adding

extension Messages {
    /// Adds a message with its first version as a written one; false, without a change, if the message is known or its
    /// channel is gone, if a compaction dropped it, or if a cell has no room for it. Takes the steps of `change(_:in:_:)`.
    mutating func addWritten(_ write: MessageWrite, in context: inout FoldContext) -> Bool {
        guard store.place(of: write.key) == nil, fates.fate(of: write.key.channel) == nil,
            compacted.isEmpty || !compacted.contains(write.key), store.addWritten(write, at: context.event)
        else { return false }
        touch(write.key, in: &context)
        touchAnswers(to: write.key, in: &context)
        if let replyTo = write.replyTo { connect(store.count - 1, write.key, to: replyTo, in: &context) }
        return true
    }
}

extension MessageStore {
    fileprivate mutating func addWritten(_ write: MessageWrite, at event: EventReference) -> Bool {
        let verdict =
            write.revisesByArrival
            ? MessageRule.judgeByArrival(isFirst: true, .nowhere, repeatsCurrent: false, changesText: false)
            : MessageRule.judge(.first, .nowhere, isKnown: false, repeatsKnown: false, changesText: false)
        guard event.isPackable, let happening = PackedHappening(verdict, at: event),
            let written = WrittenMessage(write, happening, at: event), let text = storedText(of: write)
        else { return false }
        let cell = MessageCell(
            id: write.key.id,
            channel: UInt32(truncatingIfNeeded: addedChannel(write.key.channel)),
            standing: verdict.becomesLive ? .live : .nowhere,
            written,
            by: write.by.map { editors.place(of: $0) + 1 } ?? 0,
            replyTo: write.replyTo,
            text: text
        )
        _ = add(cell)
        return true
    }

    /// The packed content of a write, added if no decoder has; `nil` if it is too long.
    private mutating func storedText(of write: MessageWrite) -> PooledText? {
        if let stored = write.stored { return stored }
        var bytes: [UInt8] = []
        // Packing fails only where memory has a limit, and this has none.
        guard (try? write.saying.pack(into: &bytes)) != nil else { return nil }
        return texts.add(packed: bytes)
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
            order: cell.writtenOrder,
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
        if case .at = cell.writtenOrder { record.placedBy = first.happening.sequence }
        return record
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
