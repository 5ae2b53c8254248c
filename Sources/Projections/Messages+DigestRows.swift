import EventLog

/// The rows of packed messages as the digest sees them, written without building values. What they say is what
/// `row(for:context:)` says, without the sequence of a deletion.
extension Messages {
    /// The place of a message's row, if the message is packed.
    func packedPlace(of key: EntityKey) -> Int? {
        guard key.section == .messages || key.section == .deletedMessages,
            let place = store.place(of: MessageKey(channel: key.first, id: key.second)),
            store.cells[place].form == .packed
        else { return nil }
        return place
    }

    /// Whether a row would be that of a packed message which was first heard of after an event.
    func isPacked(_ key: EntityKey, addedAfter last: SequenceNumber) -> Bool {
        guard let place = packedPlace(of: key) else { return false }
        var oldest: UInt64 = 0
        store.forEachEntry(of: store.cells[place]) { oldest = $0.happening.sequence }
        return oldest > last.rawValue
    }

    /// Writes the row of a packed message; false, and nothing is written, where it has none in this section.
    func writeDigestRow(
        of section: Section,
        packedAt place: Int,
        to writer: inout CanonicalWriter,
        _ names: Names
    ) -> Bool {
        let cell = store.cells[place]
        switch (section, state(at: place)) {
        case (.messages, .live):
            guard let version = store.version(of: cell) else { return false }
            writeLive(cell, version, to: &writer, names)
        case (.deletedMessages, .deleted): writeDeleted(cell, store.version(of: cell), to: &writer, names)
        default: return false
        }
        return true
    }

    private func writeLive(
        _ cell: MessageCell,
        _ version: PackedVersion,
        to writer: inout CanonicalWriter,
        _ names: Names
    ) {
        let channel = store.channels[Int(cell.channel)].id
        write("{\"author\":", author: version.author, to: &writer)
        store.authors.withName(version.author) { name in
            guard let name else { return }
            writer.raw(",\"authorName\":")
            writer.string(name)
        }
        write(",\"channel\":", channel, to: &writer, names)
        writer.raw(",\"content\":")
        store.texts.withText(version.text) { writer.string($0) }
        write(",\"createdAt\":", version.createdAt, to: &writer)
        write(",\"editedAt\":", version.editedAt, to: &writer)
        write(",\"id\":", cell.id, to: &writer, names)
        if version.replyTo != .none {
            write(",\"replyTo\":{\"id\":", version.replyTo, to: &writer, names)
            writer.raw(",\"state\":\"")
            writer.raw(state(of: MessageKey(channel: channel, id: version.replyTo)).rawValue)
            writer.raw("\"}")
        }
        writer.raw(",\"revisions\":")
        writer.number(store.revisionCount(of: cell))
        writer.raw("}")
    }

    private func writeDeleted(
        _ cell: MessageCell,
        _ version: PackedVersion?,
        to writer: inout CanonicalWriter,
        _ names: Names
    ) {
        let channel = store.channels[Int(cell.channel)].id
        writer.raw("{")
        if let version {
            write("\"author\":", author: version.author, to: &writer)
            writer.raw(",")
        }
        writer.raw("\"cause\":\"")
        let fate = cell.standing == .deleted ? nil : fates.fate(of: channel)
        writer.raw((fate?.cause ?? .deleted).rawValue)
        write("\",\"channel\":", channel, to: &writer, names)
        if let version {
            writer.raw(",\"content\":")
            store.texts.withText(version.text) { writer.string($0) }
            write(",\"createdAt\":", version.createdAt, to: &writer)
        }
        write(",\"id\":", cell.id, to: &writer, names)
        writer.raw("}")
    }

    private func write(_ name: StaticString, author place: UInt32, to writer: inout CanonicalWriter) {
        writer.raw(name)
        writer.raw("\"")
        writer.number(store.authors.id(place))
        writer.raw("\"")
    }

    private func write(_ name: StaticString, _ id: EntityID, to writer: inout CanonicalWriter, _ names: Names) {
        writer.raw(name)
        guard let number = id.number else {
            return writer.raw(JSONValue.string(names.text(id)).canonicalText)
        }
        writer.raw("\"")
        writer.number(number)
        writer.raw("\"")
    }

    private func write(_ name: StaticString, _ time: PackedTime, to writer: inout CanonicalWriter) {
        guard let time = time.timestamp else { return }
        writer.raw(name)
        writer.time(time)
    }
}

extension MessageStore {
    /// The number of distinct versions of a packed message.
    fileprivate func revisionCount(of cell: MessageCell) -> UInt64 {
        var count: UInt64 = 0
        forEachEntry(of: cell) { count += $0.happening.isNewRevision ? 1 : 0 }
        return count
    }
}
