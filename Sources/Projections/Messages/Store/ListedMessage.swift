import EventLog

/// Listed messages: packed ones of a client that keeps messages in the order of arrival, takes the version that arrives last, and
/// lets a deleted message come back. Only plain frames make one; what its entries cannot express makes it a record.
extension MessageStore {
    /// The order of a listed message.
    @inline(__always)
    func order(ofListed place: Int) -> MessageOrder { .at(Int(listPlaces[place])) }

    /// Notes the place in the client's list of the message that was added last.
    mutating func note(listPlace: UInt32, at place: Int) {
        assert(place >= listPlaces.count, "a message is listed once")
        while listPlaces.count < place { listPlaces.append(0) }
        listPlaces.append(listPlace)
    }

    /// Adds the message of a plain frame, whose place in the client's list is given, as the frame's write would be added; false,
    /// without a change, if an entry has no room for it.
    mutating func addListed(_ frame: PlainFrame, inListAt listPlace: Int, at event: EventReference) -> Bool {
        let verdict = MessageRule.judgeByArrival(isFirst: true, .nowhere, repeatsCurrent: false, changesText: false)
        guard event.isPackable, let listPlace = UInt32(exactly: listPlace),
            let happening = PackedHappening(verdict, at: event)
        else { return false }
        let channel = addedChannel(frame.channel, isOfServer: false)
        var cell = MessageCell(
            id: frame.id,
            channel: UInt32(truncatingIfNeeded: channel),
            form: .listed,
            standing: verdict.becomesLive ? .live : .nowhere
        )
        let version = added(frame, author: nil)
        let hasRoom = cell.put(happening, recordedAt: event.recordedAt.microseconds, version)
        let place = add(cell)
        note(listPlace: listPlace, at: place)
        if !hasRoom { enter(happening, version, at: place, event) }
        return true
    }

    /// Takes a version of a live listed message, at the place that it has in the client's list; false, without a change, if an
    /// entry cannot express that, or if the version repeats the current one, which makes no entry and yet places the message.
    mutating func writeListed(
        _ frame: PlainFrame,
        inListAt listPlace: Int,
        at place: Int,
        _ event: EventReference
    ) -> Bool {
        let cell = cells[place]
        guard cell.form == .listed, cell.standing == .live, Int(listPlaces[place]) == listPlace, event.isPackable,
            newestSequence(of: cell) <= event.sequence.rawValue, let current = version(of: cell),
            !isSame(current, frame)
        else { return false }
        let verdict = MessageRule.judgeByArrival(
            isFirst: false,
            .live,
            repeatsCurrent: false,
            changesText: !texts.isSame(current.text, frame.content)
        )
        guard let happening = PackedHappening(verdict, at: event) else { return false }
        enter(happening, added(frame, author: nil), at: place, event)
        return true
    }

    /// Deletes a live listed message by name until it is written again; false, without a change, if it is none or the deletion is
    /// another one.
    mutating func deleteListed(at place: Int, _ end: MessageRecord.End) -> Bool {
        let cell = cells[place]
        guard cell.form == .listed, cell.standing == .live, end.cause == .deleted, end.permanence == .untilWritten,
            end.deletedAt == nil, end.deletedBy == nil, end.version == nil, end.since.isPackable,
            newestSequence(of: cell) <= end.since.sequence.rawValue, let current = version(of: cell)
        else { return false }
        let happening = PackedHappening(.deletedUntilWritten, at: end.since.sequence.rawValue, hasVersion: true)
        enter(happening, current, at: place, end.since)
        cells[place].standing = .deleted
        return true
    }

    /// The record that equals a listed message (I18). Each of its versions named its place in the client's list.
    func record(ofListed cell: MessageCell, at place: Int) -> MessageRecord {
        var record = unpacked(cell, order(ofListed: place))
        record.placedBy = newestEntry(of: cell) { $0.happening.isWrite }?.happening.sequence
        return record
    }
}
