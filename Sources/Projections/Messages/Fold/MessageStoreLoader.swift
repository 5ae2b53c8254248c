/// Loads a store from the pieces of one saving, or of consecutive ones.
///
/// Accepts any bytes: nothing in a loaded store points outside the store or in a circle. Ids are handles, which have a
/// meaning only with the `Names` saved beside the store; they are not checked here.
struct MessageStoreLoader {
    private struct Malformed: Error {}

    private var store = MessageStore()
    /// The hash of each cell, for the table, which `load` builds once.
    private var hashes: [UInt64] = []
    /// For each cell, whether its message may answer another one. Spares `load` the look at most messages' entries.
    private var mayAnswer: [Bool] = []
    /// True if the current saving was read to its end.
    private var isWhole = false

    init() {}

    /// Begins the next saving, whose `start` must equal the extent loaded so far.
    mutating func begin() {
        isWhole = false
    }

    /// Reads the next piece.
    ///
    /// - Throws: if the piece does not fit. The loader must not be used then.
    mutating func take(_ kind: MessageStore.PieceKind, _ bytes: UnsafeRawBufferPointer) throws {
        switch kind {
        case .start, .end:
            isWhole = kind == .end
            // The saved extent must equal the real one at both ends: at the start it shows a missing base, at the end a
            // missing piece.
            store.noteSaved()
            guard bytes.elementsEqual(store.saved.bytes) else { throw Malformed() }
        case .channels:
            try forEach(in: bytes) {
                let id = EntityID(saved: try $0.readNumber(UInt64.self))
                _ = store.addedChannel(id, isOfServer: try $0.readTruth())
            }
        case .authors: try forEach(in: bytes) { try store.authors.add(from: $0) }
        case .editors: try forEach(in: bytes) { _ = store.editors.place(of: try $0.readText()) }
        case .texts:
            guard bytes.count >= 4 else { throw Malformed() }
            let page = Int(UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)))
            guard store.texts.append(UnsafeRawBufferPointer(rebasing: bytes[4...]), page: page) else {
                throw Malformed()
            }
        case .entries:
            var reader = PackedEntryReader(bytes)
            while !reader.isAtEnd { try addEntry(reader.entry()) }
        case .records: try forEach(in: bytes) { try takeRecord(from: $0) }
        case .listPlaces: try forEach(in: bytes) { store.listPlaces.append(try $0.readNumber(UInt32.self)) }
        // The table comes last, in `load`: adding hashes one by one would read it all over.
        case .cells:
            var reader = PackedEntryReader(bytes)
            while !reader.isAtEnd {
                let cell = try checked(reader.cell(), at: store.count)
                hashes.append(store.appendUnindexed(cell))
                mayAnswer.append(cell.mayAnswer)
            }
        case .changedCells:
            var reader = PackedEntryReader(bytes)
            while !reader.isAtEnd {
                guard let place = reader.place().map({ Int($0) }) else { throw Malformed() }
                try changeCell(at: place, to: checked(reader.cell(), at: place))
            }
        case .emojis: try forEach(in: bytes) { _ = store.reactions.addEmoji(try $0.readText()) }
        case .reactions: try forEach(in: bytes) { try takeReaction(from: $0) }
        }
    }

    /// Moves the loaded store into a fold without one, and finds out which messages answer which. O(messages).
    ///
    /// - Throws: if the last saving is incomplete.
    consuming func load(into messages: inout Messages) throws {
        guard isWhole, store.listPlaces.count <= store.count else { throw Malformed() }
        store.index(hashes)
        messages.store = store
        messages.findAnswers { mayAnswer[$0] }
    }

    private func forEach(in bytes: UnsafeRawBufferPointer, _ body: (StateDecoder) throws -> Void) throws {
        try StateDecoder.value(from: Array(bytes)) { decoder in
            while !decoder.isAtEnd { try body(decoder) }
        }
    }

    private mutating func addEntry(_ entry: PackedEntry?) throws {
        // The previous entry must be an earlier one, so that histories contain no circle.
        guard let entry, entry.previous <= store.entries.count, holds(entry.version) else { throw Malformed() }
        store.entries.append(entry)
    }

    /// Replaces a known record or appends the next one; any other index is malformed.
    private mutating func takeRecord(from decoder: StateDecoder) throws {
        let place = Int(try decoder.readNumber(UInt32.self))
        let record = try MessageRecord.read(from: decoder)
        guard place <= store.records.count else { throw Malformed() }
        if place == store.records.count { store.records.append(record) } else { store.records[place] = record }
    }

    /// Sets a known reaction or adds a new one.
    private mutating func takeReaction(from decoder: StateDecoder) throws {
        let message = Int(try decoder.readNumber(UInt32.self))
        let emoji = try decoder.readNumber(UInt32.self)
        guard message < store.count, emoji < store.reactions.emojis.count else { throw Malformed() }
        _ = store.reactions.set(
            to: message,
            emoji: emoji,
            user: try .read(from: decoder),
            sequence: try decoder.readNumber(UInt64.self),
            isPresent: try decoder.readTruth()
        )
        store.cells[message].hasReactions = true
    }

    private mutating func changeCell(at place: Int, to cell: MessageCell) throws {
        guard place < store.count, store.cells[place].id == cell.id else { throw Malformed() }
        if store.cells[place].channel != cell.channel {
            let channels = [store.cells[place].channel, cell.channel]
            guard channels.allSatisfy({ store.channels[Int($0)].isOfServer }) else { throw Malformed() }
            store.rehome(place, to: Int(cell.channel))
        }
        var cell = cell
        // The written cell has neither: the links come from the order of the cells, the other from the reactions.
        (cell.next, cell.hasReactions) = (store.cells[place].next, store.cells[place].hasReactions)
        store.cells[place] = cell
        mayAnswer[place] = cell.mayAnswer
    }

    private func checked(_ cell: MessageCell?, at place: Int) throws -> MessageCell {
        guard let cell, cell.channel < store.channels.count, holds(cell),
            cell.form != .listed || place < store.listPlaces.count
        else { throw Malformed() }
        return cell
    }

    /// Whether a cell refers only to what the store has.
    private func holds(_ cell: MessageCell) -> Bool {
        switch cell.form {
        case .record: Int(cell.last) < store.records.count
        case .packed: Int(cell.last) <= store.entries.count && cell.first.map { holds($0.version) } ?? true
        case .listed:
            Int(cell.last) <= store.entries.count && (cell.last > 0 || cell.first != nil)
                && cell.first.map { holds($0.version) } ?? true
        case .written:
            cell.first.map { first in
                let text = first.version.text
                return Int(first.version.author) <= store.editors.count && text.flags == 0 && store.texts.holds(text)
                    && store.holdsEnd(ofWritten: cell)
            } ?? false
        }
    }

    /// Whether a version refers only to known texts and authors. `PackedVersion.none` has author 0, which need not
    /// exist.
    private func holds(_ version: PackedVersion) -> Bool {
        store.texts.holds(version.text) && version.author < max(1, store.authors.count)
    }
}

extension MessageCell {
    /// False if the cell alone shows that the message answers none.
    fileprivate var mayAnswer: Bool {
        form == .record || last > 0 || first.map { $0.version.replyTo != .none } ?? false
    }
}

extension Messages {
    private enum CodingKeys: CodingKey { case compacted, fates, circles }

    /// Decodes everything but the store, which a `MessageStoreLoader` loads.
    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init()
        compacted = try members.decode(CompactedMessages.self, forKey: .compacted)
        fates = try members.decode(ChannelFates.self, forKey: .fates)
        circles = try members.decode(ReplyCircles.self, forKey: .circles)
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(compacted, forKey: .compacted)
        try members.encode(fates, forKey: .fates)
        try members.encode(circles, forKey: .circles)
    }
}
