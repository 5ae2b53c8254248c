import EventLog

/// How far a store was when it was last saved, and what of that has changed since.
struct SavedExtent: Sendable {
    fileprivate var channelCount = 0
    fileprivate var authorCount = 0
    fileprivate var entryCount = 0
    fileprivate var cellCount = 0
    fileprivate var recordCount = 0
    fileprivate var texts = TextPool.Extent()
    /// Places of cells and of records that are no longer as they were saved; one may stand here several times.
    fileprivate var changedCells: [UInt32] = []
    fileprivate var changedRecords: [UInt32] = []

    init() {}

    fileprivate init(_ store: MessageStore) {
        channelCount = store.channels.count
        authorCount = store.authors.count
        entryCount = store.entries.count
        cellCount = store.cells.count
        recordCount = store.records.count
        texts = store.texts.extent
    }

    /// Notes that the cell at a place changes, other than by being followed by another one of its channel.
    @inline(__always)
    mutating func noteCell(_ place: Int) {
        if place < cellCount { changedCells.append(UInt32(truncatingIfNeeded: place)) }
    }

    @inline(__always)
    mutating func noteRecord(_ place: Int) {
        if place < recordCount { changedRecords.append(UInt32(truncatingIfNeeded: place)) }
    }
}

/// A store is saved piece by piece; where it was saved before, as what has come since and what has changed. Tables and
/// lists are built anew when it is loaded.
extension MessageStore {
    /// What a piece holds. Pieces come in this order, and refer only to what came before.
    enum PieceKind: UInt8 {
        /// How far the store must be for what follows.
        case start
        case channels
        case authors
        /// The number of a page of the pool, and what was added to it.
        case texts
        case entries
        /// Places and records.
        case records
        /// Cells that are new.
        case cells
        /// Cells that were there before, with their places.
        case changedCells
        /// How far the store is now.
        case end
    }

    /// A piece is about so long at most, unless one record in it is longer.
    private static var pieceBytes: Int { 4 << 20 }

    /// Notes that the store was saved, or loaded, as it is.
    mutating func noteSaved() {
        saved = SavedExtent(self)
    }

    /// Gives the pieces from which a `MessageStoreLoader` makes this store out of the one that was last saved or, where all
    /// of it is wanted, out of an empty one.
    func forEachPiece(whole: Bool, _ body: (PieceKind, [UInt8]) throws -> Void) throws {
        let since = whole ? SavedExtent() : saved
        try body(.start, since.bytes)
        let encoder = StateEncoder()
        for channel in channels[since.channelCount...] { encoder.writeNumber(channel.id.rawValue) }
        try body(.channels, encoder.takeBytes())
        authors.write(from: since.authorCount, to: encoder)
        try body(.authors, encoder.takeBytes())
        try texts.forEachPage(since: since.texts) { page, added in
            encoder.writeNumber(UInt32(page))
            encoder.writeBytes(added)
            try body(.texts, encoder.takeBytes())
        }
        try forEachPiece(since.entryCount..<entries.count, { $1.add(entries[$0]) }) { try body(.entries, $0) }
        try forEachRecordPiece(since) { try body(.records, $0) }
        try forEachPiece(since.cellCount..<count, { $1.add(cells[$0]) }) { try body(.cells, $0) }
        let changed = Set(since.changedCells).sorted().map { Int($0) }
        try forEachPiece(changed, { $1.add(cells[$0], at: $0) }) { try body(.changedCells, $0) }
        try body(.end, SavedExtent(self).bytes)
    }

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

    private func forEachRecordPiece(_ since: SavedExtent, _ body: ([UInt8]) throws -> Void) throws {
        let encoder = StateEncoder()
        let changed = Set(since.changedRecords).sorted().map { Int($0) }
        for place in changed + Array(since.recordCount..<records.count) {
            encoder.writeNumber(UInt32(place))
            try records[place].write(to: encoder)
            if encoder.bytes.count >= Self.pieceBytes { try body(encoder.takeBytes()) }
        }
        try body(encoder.takeBytes())
    }
}

extension SavedExtent {
    /// The counts, one after another.
    var bytes: [UInt8] {
        let encoder = StateEncoder()
        for count in [channelCount, authorCount, entryCount, cellCount, recordCount] {
            encoder.writeNumber(UInt64(count))
        }
        withUnsafeBytes(of: texts) { encoder.writeBytes($0) }
        return encoder.bytes
    }
}
