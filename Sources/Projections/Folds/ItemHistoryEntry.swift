import EventLog

/// An entry of an item's history. Of an item with many columns it shares those that it did not change with the entry before.
///
/// As an entry of a row, it shows the whole item after its event, unless that is far larger than what the event stated
/// (`RowColumns.isLarge`).
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
        let isPartial: Bool
    }

    let event: EventReference
    let word: Word
    let kinds: [String]
    /// The item after the event; of a removal, the last known one.
    let item: PlacedItem
    /// Whether the entry tells only what differs from the one before. Never the first entry.
    var isPartial = false

    init(at event: EventReference, _ word: Word, kinds: [String] = [], _ item: PlacedItem) {
        (self.event, self.word, self.kinds, self.item) = (event, word, kinds, item)
    }

    var sequence: SequenceNumber { event.sequence }

    var entry: HistoryEntry { HistoryEntry(at: event, change: word.rawValue, kinds: kinds, fields: item.fields) }

    /// Cost: O(columns) for each entry that is not partial, O(d log n) for one that is and changed d of n columns.
    static func entries(of history: [ItemHistoryEntry], in places: Range<Int>) -> [HistoryEntry] {
        places.map { place in
            let kept = history[place]
            guard place > 0, kept.isPartial || history[place - 1].isPartial else { return kept.entry }
            let before = history[place - 1].item
            guard kept.isPartial else {
                // Behind a partial entry, nobody could tell the item before otherwise.
                var entry = kept.entry
                entry.before = before.fields
                return entry
            }
            let part = kept.item.part(since: before)
            var entry = HistoryEntry(at: kept.event, change: kept.word.rawValue, kinds: kept.kinds, fields: part.after)
            (entry.fields["partial"], entry.before) = (.bool(true), part.before)
            entry.before?["partial"] = .bool(true)
            return entry
        }
    }

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
                changes: changes,
                isPartial: entry.isPartial
            )
        }
    }

    static func history(of saved: [Saved]) -> [ItemHistoryEntry] {
        var columns: SharedColumns?
        return saved.map { saved in
            var item = saved.item
            if let changes = saved.changes {
                var next = columns ?? SharedColumns()
                for change in changes { next[change.name] = change.value }
                item = item.with(next)
            }
            columns = item.columns
            let placed = PlacedItem(item: item, place: saved.place)
            var entry = ItemHistoryEntry(at: saved.event, saved.word, kinds: saved.kinds, placed)
            entry.isPartial = saved.isPartial && columns != nil
            return entry
        }
    }

    /// Shows only the columns that differ from those of the entry before, where both have some.
    static func normalForms(of history: [ItemHistoryEntry]) -> [JSONValue] {
        zip(history, saved(history)).map { entry, saved in
            guard let changes = saved.changes else { return entry.entry.normalForm(fields: nil) }
            let columns = changes.map { JSONValue.array([.string($0.name)] + ($0.value.map { [$0.value] } ?? [])) }
            let fields: [JSONValue] = [.object(saved.item.fields(position: saved.place)), .array(columns)]
            let shown = HistoryEntry(at: entry.event, change: entry.word.rawValue, kinds: entry.kinds)
            return shown.normalForm(fields: .array(entry.isPartial ? fields + [.bool(true)] : fields))
        }
    }
}

extension PlacedItem {
    /// Texts of so many bytes stand in every part: a partial entry says of what it tells.
    private static let shortBytesMax = 256

    /// The members of an earlier version and of this one without the columns that neither changes. The other members are there
    /// if they differ, or are short. `null` stands in this one for what it has no more.
    ///
    /// Cost: O(d log n) for d of n columns.
    func part(since earlier: PlacedItem) -> (before: JSONObject, after: JSONObject) {
        var (old, new) = (
            earlier.item.fieldsBesideExtra(position: earlier.place), item.fieldsBesideExtra(position: place)
        )
        let texts = [
            item.text, item.status, item.created, earlier.item.text, earlier.item.status, earlier.item.created,
        ]
        let isShort = texts.reduce(0) { $0 + ($1?.utf8.count ?? 0) } <= Self.shortBytesMax
        for member in old.members where !isShort && new[member.name] == member.value {
            (old[member.name], new[member.name]) = (nil, nil)
        }
        for member in old.members where new[member.name] == nil { new[member.name] = .null }
        let known = earlier.item.columns ?? SharedColumns()
        let changes = item.columns?.changes(since: known) ?? []
        if changes.isEmpty { return (old, new) }
        let values = changes.map { (name: $0.name, before: known[$0.name]?.value, after: $0.value?.value) }
        old["extra"] = .object(
            JSONObject(distinct: values.compactMap { value in value.before.map { .init(name: value.name, value: $0) } })
        )
        new["extra"] = .object(
            JSONObject(distinct: values.map { JSONObject.Member(name: $0.name, value: $0.after ?? .null) })
        )
        return (old, new)
    }
}
