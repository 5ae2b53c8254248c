import EventLog

/// An entry of an item's history. Of an item with many columns it shares those that it did not change with the entry before.
struct ItemHistoryEntry: KeptHistoryEntry {
    enum Word: String, Codable {
        case added, changed, removed
    }

    /// An entry as it is saved.
    struct Saved: Codable {
        let event: EventReference
        let word: Word
        let kinds: [String]
        let place: Int
        /// The item. If `changes` is not `nil`, without its columns.
        let item: ItemFields
        /// The columns that differ from those of the entry before; `nil` if one of the two items has no columns.
        let changes: [RowEffect.ColumnChange]?
    }

    let event: EventReference
    let word: Word
    let kinds: [String]
    /// The item after the event; of a removal, the last known one.
    let item: PlacedItem

    init(at event: EventReference, _ word: Word, kinds: [String] = [], _ item: PlacedItem) {
        (self.event, self.word, self.kinds, self.item) = (event, word, kinds, item)
    }

    var sequence: SequenceNumber { event.sequence }

    var entry: HistoryEntry { HistoryEntry(at: event, change: word.rawValue, kinds: kinds, fields: item.fields) }

    static func saved(_ history: [ItemHistoryEntry]) -> [Saved] {
        var before: SharedColumns?
        return history.map { entry in
            let columns = entry.item.item.columns
            defer { before = columns }
            let changes = before.flatMap { columns?.changes(since: $0, byText: true) }
            return Saved(
                event: entry.event,
                word: entry.word,
                kinds: entry.kinds,
                place: entry.item.place,
                item: changes == nil ? entry.item.item : entry.item.item.with(SharedColumns()),
                changes: changes
            )
        }
    }

    static func history(of saved: [Saved]) -> [ItemHistoryEntry] {
        var columns: SharedColumns?
        return saved.map { entry in
            var item = entry.item
            if let changes = entry.changes {
                var next = columns ?? SharedColumns()
                for change in changes { next[change.name] = change.value }
                item = item.with(next)
            }
            columns = item.columns
            let placed = PlacedItem(item: item, place: entry.place)
            return ItemHistoryEntry(at: entry.event, entry.word, kinds: entry.kinds, placed)
        }
    }

    /// Shows only the columns that differ from those of the entry before, where both have some.
    static func normalForms(of history: [ItemHistoryEntry]) -> [JSONValue] {
        zip(history, saved(history)).map { entry, saved in
            guard let changes = saved.changes else { return entry.entry.normalForm(fields: nil) }
            let columns = changes.map { JSONValue.array([.string($0.name)] + ($0.value.map { [$0.value] } ?? [])) }
            let fields = saved.item.fields(position: saved.place)
            let shown = HistoryEntry(at: entry.event, change: entry.word.rawValue, kinds: entry.kinds)
            return shown.normalForm(fields: .array([.object(fields), .array(columns)]))
        }
    }
}
