/// A walk over messages in the document's order jumps through the memory of a store that holds them in order of arrival.
/// So it asks for the messages ahead, in steps: what a step reads, the step before has asked for some messages earlier.
extension Messages {
    /// How many messages ahead of the walk each step is.
    private static let cellsAhead = 24
    private static let entriesAhead = 16
    private static let textsAhead = 8

    /// Asks the processor for the messages behind `index`. Called by a walk over places before it reads each of them.
    @inline(__always)
    func prefetch(_ places: ArraySlice<Int>, after index: Int) {
        let end = places.endIndex
        if index + Self.cellsAhead < end { store.cells.prefetch(places[index + Self.cellsAhead]) }
        if index + Self.entriesAhead < end { store.prefetchEntries(at: places[index + Self.entriesAhead]) }
        if index + Self.textsAhead < end { store.prefetchTexts(at: places[index + Self.textsAhead]) }
    }
}

extension MessageStore {
    /// Asks for the entries outside of the cell at a place, or else for the text of the one in it.
    @inline(__always)
    fileprivate func prefetchEntries(at place: Int) {
        let cell = cells[place]
        guard cell.form.isPacked else { return }
        if cell.last > 0 { entries.prefetch(Int(cell.last) - 1) }
        if let first = cell.first { texts.prefetch(first.version.text) }
    }

    /// Asks for the text of the newest entry of the message at a place, and for the entry before it.
    @inline(__always)
    fileprivate func prefetchTexts(at place: Int) {
        let cell = cells[place]
        guard cell.form.isPacked, cell.last > 0 else { return }
        let entry = entries[Int(cell.last) - 1]
        texts.prefetch(entry.version.text)
        if entry.previous > 0 { entries.prefetch(Int(entry.previous) - 1) }
    }
}
