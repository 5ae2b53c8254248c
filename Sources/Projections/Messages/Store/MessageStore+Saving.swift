import EventLog

/// The extent of a store at its last saving, and the saved places that have changed since.
///
/// All counts are 0 before the first saving; the next pieces are then the whole store. Texts, authors, entries and
/// channels only grow, so counts suffice for them. Cells and records also change; code that changes one must note it,
/// or a saving would lack the change.
struct SavedExtent: Sendable {
    fileprivate var channelCount = 0
    fileprivate var authorCount = 0
    fileprivate var editorCount = 0
    fileprivate var emojiCount = 0
    fileprivate var reactionCount = 0
    fileprivate var entryCount = 0
    fileprivate var cellCount = 0
    fileprivate var listPlaceCount = 0
    fileprivate var recordCount = 0
    fileprivate var texts = TextPool.Extent()
    /// Places of saved cells, records and reactions that have changed since. May contain duplicates, which `forEachPiece`
    /// removes.
    fileprivate var changedCells: [UInt32] = []
    fileprivate var changedRecords: [UInt32] = []
    fileprivate var changedReactions: [UInt32] = []

    init() {}

    fileprivate init(_ store: MessageStore) {
        channelCount = store.channels.count
        authorCount = store.authors.count
        editorCount = store.editors.count
        emojiCount = store.reactions.emojis.count
        reactionCount = store.reactions.count
        entryCount = store.entries.count
        cellCount = store.cells.count
        listPlaceCount = store.listPlaces.count
        recordCount = store.records.count
        texts = store.texts.extent
    }

    /// Notes a change of a cell, but not of its `next`, which loading restores. New cells need no note.
    @inline(__always)
    mutating func noteCell(_ place: Int) {
        if place < cellCount { changedCells.append(UInt32(truncatingIfNeeded: place)) }
    }

    @inline(__always)
    mutating func noteRecord(_ place: Int) {
        if place < recordCount { changedRecords.append(UInt32(truncatingIfNeeded: place)) }
    }

    @inline(__always)
    mutating func noteReaction(_ place: Int) {
        if place < reactionCount { changedReactions.append(UInt32(truncatingIfNeeded: place)) }
    }
}

/// A store is saved in pieces. After its first saving, the pieces contain only additions and changes since the previous
/// one. Loading rebuilds tables and lists.
extension MessageStore {
    /// The content of a piece. Pieces come in this order, and refer only to earlier ones. The raw value is the piece's
    /// first byte (`SavedState.piece`), so it must differ from the tag of other pieces.
    enum PieceKind: UInt8 {
        /// The extent that the store must have before the following pieces, which shows a missing or foreign base.
        case start
        /// New channels: their ids as handles, and whether they are of a server.
        case channels
        /// New authors; see `AuthorTable.write`.
        case authors
        /// New editors.
        case editors
        /// The number of a page of the pool (4 bytes, little-endian), and the bytes added to the page.
        case texts
        /// New entries, as a `PackedEntryWriter` writes them.
        case entries
        /// Indexes and records: changed ones, then new ones, each ascending.
        case records
        /// New places in clients' lists.
        case listPlaces
        /// New cells.
        case cells
        /// Changed cells, with their places.
        case changedCells
        /// New emojis.
        case emojis
        /// Reactions: changed ones, then new ones, each in the order in which they became known.
        case reactions
        /// The extent of the store after the saving. Without it the saving is incomplete.
        case end
    }

    /// A piece ends at the first entry, cell or record that brings it to this length. Texts come a page at a time.
    private static var pieceBytes: Int { 1 << 20 }

    /// Notes that the store has just been saved or loaded: later pieces contain only later changes.
    mutating func noteSaved() {
        saved = SavedExtent(self)
    }

    /// Gives the pieces from which a `MessageStoreLoader` makes this store: from the last saved one or, if `whole`,
    /// from an empty one. Does not call `noteSaved`, as the caller may discard the pieces.
    func forEachPiece(whole: Bool, _ take: (PieceKind, SavedPiece) throws -> Void) throws {
        func body(_ kind: PieceKind, _ bytes: [UInt8]) throws { try take(kind, SavedPiece(bytes)) }
        let since = whole ? SavedExtent() : saved
        try body(.start, since.bytes)
        let encoder = StateEncoder()
        for channel in channels[since.channelCount...] {
            encoder.writeNumber(channel.id.rawValue)
            encoder.writeTruth(channel.isOfServer)
        }
        try body(.channels, encoder.takeBytes())
        authors.write(from: since.authorCount, to: encoder)
        try body(.authors, encoder.takeBytes())
        for editor in editors.texts[since.editorCount...] { encoder.writeText(editor) }
        try body(.editors, encoder.takeBytes())
        try texts.forEachPage(since: since.texts) { page, added in
            encoder.writeNumber(UInt32(page))
            try take(.texts, SavedPiece(head: encoder.takeBytes(), added))
        }
        try forEachPiece(since.entryCount..<entries.count, { $1.add(entries[$0]) }) { try body(.entries, $0) }
        try forEachPiece(Self.places(since.changedRecords, since.recordCount..<records.count)) { place, encoder in
            encoder.writeNumber(UInt32(place))
            try records[place].write(to: encoder)
        } _: {
            try body(.records, $0)
        }
        for place in since.listPlaceCount..<listPlaces.count { encoder.writeNumber(listPlaces[place]) }
        try body(.listPlaces, encoder.takeBytes())
        try forEachPiece(since.cellCount..<count, { $1.add(cells[$0]) }) { try body(.cells, $0) }
        let changed = Set(since.changedCells).sorted().map { Int($0) }
        // Sorted, because the order of a set differs from run to run.
        try forEachPiece(changed, { $1.add(cells[$0], at: $0) }) { try body(.changedCells, $0) }
        for emoji in reactions.emojis.texts[since.emojiCount...] { encoder.writeText(emoji) }
        try body(.emojis, encoder.takeBytes())
        try forEachPiece(Self.places(since.changedReactions, since.reactionCount..<reactions.count)) { place, encoder in
            reactions[place].write(to: encoder)
        } _: {
            try body(.reactions, $0)
        }
        try body(.end, SavedExtent(self).bytes)
    }

    /// Writes the values at some places into pieces. Each piece has a writer of its own, as its differences begin at
    /// zero. Gives one empty piece if there are no places.
    private func forEachPiece(
        _ places: some Sequence<Int>,
        _ add: (Int, inout PackedEntryWriter) -> Void,
        _ body: ([UInt8]) throws -> Void
    ) rethrows {
        var writer = PackedEntryWriter()
        for place in places {
            add(place, &writer)
            guard writer.bytes.count >= Self.pieceBytes else { continue }
            try body(writer.bytes)
            writer = PackedEntryWriter()
        }
        try body(writer.bytes)
    }

    /// Changed places, each once, then new ones, each ascending.
    private static func places(_ changed: [UInt32], _ new: Range<Int>) -> [Int] {
        Set(changed).sorted().map { Int($0) } + Array(new)
    }

    /// Writes the values at some places into pieces; gives one empty piece if there are no places.
    private func forEachPiece(
        _ places: [Int],
        _ write: (Int, StateEncoder) throws -> Void,
        _ body: ([UInt8]) throws -> Void
    ) throws {
        let encoder = StateEncoder()
        for place in places {
            try write(place, encoder)
            if encoder.bytes.count >= Self.pieceBytes { try body(encoder.takeBytes()) }
        }
        try body(encoder.takeBytes())
    }
}

extension ReactionTable.Reaction {
    /// Writes everything but what a `ReactionTable` finds out itself.
    fileprivate func write(to encoder: StateEncoder) {
        encoder.writeNumber(message)
        encoder.writeNumber(emoji)
        user.write(to: encoder)
        encoder.writeNumber(sequence)
        encoder.writeTruth(isPresent)
    }
}

extension SavedExtent {
    /// The counts as bytes, for the start and end of a saving. The changed places are not part of them.
    var bytes: [UInt8] {
        let encoder = StateEncoder()
        let counts = [
            channelCount, authorCount, editorCount, entryCount, cellCount, listPlaceCount, recordCount, emojiCount,
            reactionCount,
        ]
        for count in counts { encoder.writeNumber(UInt64(count)) }
        withUnsafeBytes(of: texts) { encoder.writeBytes($0) }
        return encoder.bytes
    }
}
