import EventLog

/// The short way: what `apply` does with the change that a plain frame means, on packed messages and without building
/// anything. Both ways give the same state.
extension Messages {
    /// Applies a plain frame; false, and nothing has changed, where the message or its channel needs the long way.
    @inline(__always)
    mutating func takePlain(_ frame: PlainFrame, at spot: MessageSpot, in context: inout FoldContext) -> Bool {
        let event = context.event
        guard event.isPackable, fates.fate(of: frame.channel) == nil else { return false }
        if let place = spot.place ?? store.place(of: frame.id, at: spot) {
            guard store.cells[place].form == .packed,
                store.newestSequence(of: store.cells[place]) <= event.sequence.rawValue
            else { return false }
            circles.repeatKnown(in: &context)
            change(place, by: frame, in: &context)
            return true
        }
        circles.repeatKnown(in: &context)
        if !compacted.isEmpty, compacted.contains(frame.key) { return true }
        switch frame.happening {
        case .written: addWritten(frame, at: spot, in: &context)
        case .deleted: addDeleted(frame, at: spot, in: &context)
        }
        return true
    }

    private mutating func addWritten(_ frame: PlainFrame, at spot: MessageSpot, in context: inout FoldContext) {
        var cell = MessageCell(
            id: frame.id,
            channel: UInt32(spot.channel),
            form: .packed,
            happening: PackedHappening(
                .created,
                at: context.event.sequence.rawValue,
                hasVersion: true,
                isNewRevision: true
            ),
            recordedAt: context.event.recordedAt.microseconds,
            version: store.added(frame)
        )
        cell.standing = .live
        cell.current = 0
        let place = store.add(cell, at: spot)
        touch(frame.key, in: &context)
        touchAnswers(to: frame.key, in: &context)
        if frame.replyTo != .none { connect(place, frame.key, to: frame.replyTo, in: &context) }
    }

    private mutating func addDeleted(_ frame: PlainFrame, at spot: MessageSpot, in context: inout FoldContext) {
        var cell = MessageCell(
            id: frame.id,
            channel: UInt32(spot.channel),
            form: .packed,
            happening: PackedHappening(.deleted, at: context.event.sequence.rawValue, hasVersion: false),
            recordedAt: context.event.recordedAt.microseconds,
            version: .none
        )
        cell.standing = .deleted
        _ = store.add(cell, at: spot)
        touch(frame.key, in: &context)
        touchAnswers(to: frame.key, in: &context)
    }

    private mutating func change(_ place: Int, by frame: PlainFrame, in context: inout FoldContext) {
        let before = store.cells[place]
        let answered = store.replyTo(at: place)
        switch frame.happening {
        case .written: write(frame, over: before, at: place, context.event)
        case .deleted: delete(before, at: place, context.event)
        }
        touch(frame.key, in: &context)
        if store.cells[place].standing != before.standing { touchAnswers(to: frame.key, in: &context) }
        if let replyTo = store.replyTo(at: place), replyTo != answered {
            connect(place, frame.key, to: replyTo, in: &context)
        }
    }

    /// As `MessageRecord.writeByVersion`.
    private mutating func write(_ frame: PlainFrame, over cell: MessageCell, at place: Int, _ event: EventReference) {
        let current = store.version(of: cell)
        let wins = current.map { frame.editedAt.rawValue >= $0.editedAt.rawValue } ?? true
        let same = store.newestWrite(of: cell, editedAt: frame.editedAt)
        if let same, store.isSame(same, frame) { return }
        var word = PackedHappening.Word.created
        if let current { word = store.texts.isSame(current.text, frame.content) ? .linked : .edited }
        let happening = PackedHappening(
            word,
            at: event.sequence.rawValue,
            hasVersion: true,
            isNewRevision: same == nil
        )
        store.enter(happening, store.added(frame), at: place, event)
        guard wins else { return }
        store.cells[place].current = store.cells[place].last
        if cell.standing != .deleted { store.cells[place].standing = .live }
    }

    /// As `delete(_:in:)`: the first deletion by name counts.
    private mutating func delete(_ cell: MessageCell, at place: Int, _ event: EventReference) {
        guard cell.standing != .deleted else { return }
        let current = store.version(of: cell)
        let happening = PackedHappening(.deleted, at: event.sequence.rawValue, hasVersion: current != nil)
        store.enter(happening, current ?? .none, at: place, event)
        store.cells[place].standing = .deleted
    }
}

extension MessageStore {
    /// Copies what a frame says.
    @inline(__always)
    fileprivate mutating func added(_ frame: PlainFrame) -> PackedVersion {
        PackedVersion(
            createdAt: frame.createdAt,
            editedAt: frame.editedAt,
            replyTo: frame.replyTo,
            text: texts.add(frame.content),
            author: authors.place(id: frame.author, name: frame.authorName)
        )
    }

    /// The version of the newest entry that brought a version of this time.
    fileprivate func newestWrite(of cell: MessageCell, editedAt: PackedTime) -> PackedVersion? {
        var last = cell.last
        while last > 0 {
            let entry = entries[Int(last) - 1]
            if entry.happening.isWrite, entry.version.editedAt == editedAt { return entry.version }
            last = entry.previous
        }
        return cell.happening.isWrite && cell.version.editedAt == editedAt ? cell.version : nil
    }

    @inline(__always)
    fileprivate func newestSequence(of cell: MessageCell) -> UInt64 {
        cell.last > 0 ? entries[Int(cell.last) - 1].happening.sequence : cell.happening.sequence
    }

    fileprivate func isSame(_ version: PackedVersion, _ frame: PlainFrame) -> Bool {
        version.createdAt == frame.createdAt && version.editedAt == frame.editedAt && version.replyTo == frame.replyTo
            && authors.isSame(version.author, id: frame.author, name: frame.authorName)
            && texts.isSame(version.text, frame.content)
    }

    /// Adds an entry at the end of a packed message's history.
    fileprivate mutating func enter(
        _ happening: PackedHappening,
        _ version: PackedVersion,
        at place: Int,
        _ event: EventReference
    ) {
        let entry = PackedEntry(
            happening: happening,
            recordedAt: event.recordedAt.microseconds,
            version: version,
            previous: cells[place].last
        )
        entries.append(entry)
        cells[place].last = UInt32(entries.count)
    }

    /// Enters the end that its channel gave a packed message, as `MessageRecord.fall`; false where the message needs to
    /// be a record for that.
    mutating func fallPacked(at place: Int, _ fate: ChannelFates.Fate) -> Bool {
        let cell = cells[place]
        guard cell.form == .packed, fate.cause != .deleted, fate.event.isPackable else { return false }
        if cell.standing == .deleted { return true }
        guard newestSequence(of: cell) <= fate.event.sequence.rawValue else { return false }
        let current = version(of: cell)
        let happening = PackedHappening(
            fate.cause == .channelDeleted ? .channelDeleted : .guildDeleted,
            at: fate.event.sequence.rawValue,
            hasVersion: current != nil
        )
        enter(happening, current ?? .none, at: place, fate.event)
        return true
    }
}

extension EventReference {
    /// Whether a packed entry can hold it to the last digit.
    var isPackable: Bool {
        sequence.rawValue <= PackedHappening.sequenceMax
            && Timestamp(microseconds: recordedAt.microseconds) == recordedAt
    }
}
