import EventLog

/// The digest's rows of packed messages, written without building values. They equal the rows of `row(for:context:)`,
/// without the sequence of a deletion (I12), under the canonical reading only.
///
/// The members are written in canonical order, by name; a new member of a row needs its place here and in
/// `Messages+Rows`.
extension Messages {
    /// The place of the message that a row key names.
    func place(of key: EntityKey) -> Int? {
        store.place(of: MessageKey(channel: key.first, id: key.second))
    }

    /// Whether the remote's own list orders the channel of the message at a place; see `statedOrder`.
    func isInListedChannel(messageAt place: Int) -> Bool {
        let channel = store.channels[Int(store.cells[place].channel)]
        guard channel.first > 0 else { return false }
        // The usual case, without a search: the channel's first message is packed, so ids order the channel.
        let cell = store.cells[Int(channel.first) - 1]
        if cell.form == .packed, store.version(of: cell) != nil { return false }
        guard let order = store.firstOrder(in: channel.id), case .at = order else { return false }
        return true
    }

    /// Writes the row of a packed message; false, without writing, if it has none in this section. Must not be called
    /// for a record.
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
            store.texts.withObject(version.text) { object in
                PlainObject.with(object) { plain in
                    let rest = plain == nil && !object.isEmpty ? PackedRest(object) : nil
                    writeLive(cell, version, plain, rest, to: &writer, names)
                }
            }
        case (.deletedMessages, .deleted): writeDeleted(cell, store.version(of: cell), to: &writer, names)
        default: return false
        }
        return true
    }

    /// Writes the row of a packed message as the document has it: with a deletion's `sequence`, and with `end`, which
    /// closes every row. The message must have a row in the section.
    func writeRow(
        of section: Section,
        packedAt place: Int,
        end: [UInt8],
        to writer: inout CanonicalWriter,
        _ names: Names
    ) {
        assert(store.cells[place].form == .packed, "only packed messages are written from their cell")
        // In canonical order, the members that the digest's row lacks (`sequence`, `source`) come after all of its own,
        // so they replace its closing brace.
        guard writeDigestRow(of: section, packedAt: place, to: &writer, names) else { return }
        writer.dropLast()
        if section == .deletedMessages {
            writer.raw(",\"sequence\":\"")
            writer.number(deletionSequence(at: place))
            writer.raw("\"")
        }
        writer.raw(end)
    }

    /// The sequence of the event that deleted a packed message. Deletion by name wins over the end of the channel, as
    /// in `end(of:)`.
    private func deletionSequence(at place: Int) -> UInt64 {
        let cell = store.cells[place]
        if cell.standing != .deleted, let fate = fates.fate(of: store.channels[Int(cell.channel)].id) {
            return fate.event.sequence.rawValue
        }
        return store.deletion(of: cell)?.since.sequence.rawValue ?? 0
    }

    /// Writes the row of a live message.
    ///
    /// - Parameters:
    ///   - plain: the members kept verbatim, if they are plain.
    ///   - rest: otherwise these members, if there are any.
    private func writeLive(
        _ cell: MessageCell,
        _ version: PackedVersion,
        _ plain: PlainObject?,
        _ rest: PackedRest?,
        to writer: inout CanonicalWriter,
        _ names: Names
    ) {
        let channel = store.channels[Int(cell.channel)].id
        writer.raw("{")
        // Plain members contain no list of attachments.
        if let attachments = rest?.attachments {
            writer.raw("\"attachments\":")
            writer.value(.array(attachments))
            writer.raw(",")
        }
        write("\"author\":", author: version.author, to: &writer)
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
        if let plain {
            _ = plain.writeExtra(behind: ",\"extra\":", to: &writer)
        } else if let extra = rest?.extra, !extra.members.isEmpty {
            writer.raw(",\"extra\":")
            writer.value(.object(extra))
        }
        write(",\"id\":", cell.id, to: &writer, names)
        if version.replyTo != .none {
            write(",\"replyTo\":{\"id\":", version.replyTo, to: &writer, names)
            writer.raw(",\"state\":\"")
            writer.raw(answeredState(version.replyTo, in: cell.channel).rawValue)
            writer.raw("\"}")
        }
        writer.raw(",\"revisions\":")
        writer.number(store.revisionCount(of: cell))
        writer.raw("}")
    }

    /// The state of the message with an id in the channel at an index. Equals `state(of:)` without a search for the
    /// channel.
    private func answeredState(_ id: EntityID, in channel: UInt32) -> State {
        let channel = Int(channel)
        if !compacted.isEmpty, compacted.contains(MessageKey(channel: store.channels[channel].id, id: id)) {
            return .compacted
        }
        return store.place(of: id, channel: channel).map { state(at: $0) } ?? .unknown
    }

    /// Writes the row of a tombstone. A tombstone without a version has neither author nor content.
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

    @inline(__always)
    private func write(_ name: StaticString, author place: UInt32, to writer: inout CanonicalWriter) {
        writer.raw(name)
        writer.raw("\"")
        writer.number(store.authors.id(place))
        writer.raw("\"")
    }

    /// Writes a member's name and an id as text; a number without making a `String`.
    @inline(__always)
    private func write(_ name: StaticString, _ id: EntityID, to writer: inout CanonicalWriter, _ names: Names) {
        writer.raw(name)
        guard let number = id.number else {
            return writer.raw(JSONValue.string(names.text(id)).canonicalText)
        }
        writer.raw("\"")
        writer.number(number)
        writer.raw("\"")
    }

    /// Writes nothing, not even the name, for no time.
    @inline(__always)
    private func write(_ name: StaticString, _ time: PackedTime, to writer: inout CanonicalWriter) {
        guard let time = time.timestamp else { return }
        writer.raw(name)
        writer.time(time)
    }
}

extension MessageStore {
    /// The number of revisions of a packed message.
    fileprivate func revisionCount(of cell: MessageCell) -> UInt64 {
        var count: UInt64 = 0
        forEachEntry(of: cell) { count += $0.happening.isNewRevision ? 1 : 0 }
        return count
    }
}
