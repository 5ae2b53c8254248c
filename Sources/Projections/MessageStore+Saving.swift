/// A store is saved as it lies in memory, field by field: cells, packed entries, authors, texts, and records where there
/// are any. Tables and lists are built anew when it is loaded. Nothing in a loaded store points outside it or in a
/// circle.
extension MessageStore: Codable {
    private struct Malformed: Error {}

    init(from decoder: any Decoder) throws {
        guard let decoder = decoder as? StateDecoder else { throw Malformed() }
        self.init()
        records = try [MessageRecord](from: decoder)
        texts = try TextPool(from: decoder)
        authors = try AuthorTable(from: decoder)
        for _ in 0..<(try decoder.readNumber(UInt32.self)) {
            _ = addedChannel(EntityID(saved: try decoder.readNumber(UInt64.self)))
        }
        for _ in 0..<(try decoder.readNumber(UInt32.self)) { entries.append(try entry(from: decoder)) }
        for _ in 0..<(try decoder.readNumber(UInt32.self)) { _ = add(try cell(from: decoder)) }
    }

    func encode(to encoder: any Encoder) throws {
        guard let encoder = encoder as? StateEncoder else { throw Malformed() }
        try records.encode(to: encoder)
        texts.write(to: encoder)
        authors.write(to: encoder)
        encoder.writeNumber(UInt32(channels.count))
        for channel in channels { encoder.writeNumber(channel.id.rawValue) }
        encoder.writeNumber(UInt32(entries.count))
        for index in 0..<entries.count { entries[index].write(to: encoder) }
        encoder.writeNumber(UInt32(count))
        for place in 0..<count { cells[place].write(to: encoder) }
    }

    private func entry(from decoder: StateDecoder) throws -> PackedEntry {
        let entry = PackedEntry(
            happening: PackedHappening(saved: try decoder.readNumber(UInt64.self)),
            recordedAt: try decoder.readNumber(Int64.self),
            version: try version(from: decoder),
            previous: try decoder.readNumber(UInt32.self)
        )
        // Only what was entered earlier can be the one before.
        guard entry.previous <= entries.count else { throw Malformed() }
        return entry
    }

    private func cell(from decoder: StateDecoder) throws -> MessageCell {
        let cell = try MessageCell(from: decoder)
        let lastMax = cell.form == .record ? records.count - 1 : entries.count
        guard cell.channel < channels.count, Int(cell.last) <= lastMax, cell.first.map({ holds($0.version) }) ?? true
        else { throw Malformed() }
        return cell
    }

    private func version(from decoder: StateDecoder) throws -> PackedVersion {
        let version = PackedVersion(
            createdAt: PackedTime(saved: try decoder.readNumber(Int64.self)),
            editedAt: PackedTime(saved: try decoder.readNumber(Int64.self)),
            replyTo: EntityID(saved: try decoder.readNumber(UInt64.self)),
            text: try PooledText(from: decoder),
            author: try decoder.readNumber(UInt32.self)
        )
        guard holds(version) else { throw Malformed() }
        return version
    }

    /// The version that stands for none has an author's place, too.
    private func holds(_ version: PackedVersion) -> Bool {
        texts.holds(version.text) && version.author < max(1, authors.count)
    }
}

extension Messages {
    private enum CodingKeys: CodingKey { case store, compacted, fates, circles }

    /// Which messages answer which follows from the messages.
    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init()
        store = try members.decode(MessageStore.self, forKey: .store)
        compacted = try members.decode(Set<MessageKey>.self, forKey: .compacted)
        fates = try members.decode(ChannelFates.self, forKey: .fates)
        circles = try members.decode(ReplyCircles.self, forKey: .circles)
        findAnswers()
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(store, forKey: .store)
        try members.encode(compacted, forKey: .compacted)
        try members.encode(fates, forKey: .fates)
        try members.encode(circles, forKey: .circles)
    }
}

extension PackedEntry {
    fileprivate func write(to encoder: StateEncoder) {
        encoder.writeNumber(happening.bits)
        encoder.writeNumber(recordedAt)
        version.write(to: encoder)
        encoder.writeNumber(previous)
    }
}

extension PackedVersion {
    fileprivate func write(to encoder: StateEncoder) {
        encoder.writeNumber(createdAt.rawValue)
        encoder.writeNumber(editedAt.rawValue)
        encoder.writeNumber(replyTo.rawValue)
        text.write(to: encoder)
        encoder.writeNumber(author)
    }
}
