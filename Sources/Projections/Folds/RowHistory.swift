import EventLog

/// The history of one row, oldest entry first.
///
/// An entry keeps only what its event changed, so the memory grows with the changes, not with rows times columns. The
/// row after an event follows from all entries up to it.
struct RowHistory: Codable, Sendable {
    /// One event that changed the row.
    private struct Entry: Codable {
        let sequence: SequenceNumber
        let recordedAt: Timestamp
        let committedAt: Timestamp
        let kinds: RowKinds
        let values: Values
        /// The unknown and the stale columns; `nil` if they are those of the entry before.
        let marks: RowColumns.Marks?
    }

    /// The values that an event gave a row.
    fileprivate enum Values {
        /// All values of an `added` row, which the row shares as long as it has them.
        case whole(RowRecord)
        /// The values that differ from those of the entry before.
        case kept(KeptColumns)
        /// The same, or all values of an `added` row, or values that it lost.
        case listed([RowEffect.ColumnChange])

        /// The columns with their new values, `nil` for one that the row lost.
        var columns: [RowEffect.ColumnChange] {
            switch self {
            case .kept(let columns): columns.columns
            case .listed(let columns): columns
            case .whole(let record):
                record.shape.sorted.map { RowEffect.ColumnChange(name: record.shape.names[$0], value: record[$0]) }
            }
        }
    }

    private var changes: [Entry] = []

    init() {}

    /// Adds an entry for a change that altered the row as it shows.
    mutating func add(_ effect: RowEffect, of register: RowRegister, _ change: RowChange, at event: EventReference) {
        let kinds = RowKinds(effect)
        // A removed row keeps its last fields, which say what is gone.
        let isRemoved = kinds.contains(.removed)
        let hasMarks = !isRemoved && (effect.hasNewMarks || !effect.wasPresent)
        changes.append(
            Entry(
                sequence: event.sequence,
                recordedAt: event.recordedAt,
                committedAt: change.committedAt,
                kinds: kinds,
                values: isRemoved ? .listed([]) : Self.values(effect, of: register),
                marks: hasMarks ? register.marks : nil
            )
        )
    }

    private static func values(_ effect: RowEffect, of register: RowRegister) -> Values {
        // A changed value gets a text of its own, or it would keep the values of its whole record.
        if effect.wasPresent {
            return switch effect.changed {
            case .stated(let columns): .kept(KeptColumns(columns))
            case .listed(let columns): .listed(columns.map(\.detached))
            }
        }
        if let record = register.onlyRecord { return .whole(record) }
        return .listed(register.values.map { RowEffect.ColumnChange(name: $0.name, value: $0.value.detached) })
    }

    /// All entries with the row's fields after each. Cost: O(entries times columns).
    func entries() -> [HistoryEntry] {
        entries(in: changes.indices)
    }

    /// The entries at some places; places beyond the ends are left out. Cost: O(changes up to the last place), and
    /// O(columns) for each entry.
    func entries(in places: Range<Int>) -> [HistoryEntry] {
        let places = places.clamped(to: changes.indices)
        var row = ShownRow()
        return changes[..<places.upperBound].enumerated().compactMap { place, change in
            row.apply(change)
            return place >= places.lowerBound ? row.entry(change) : nil
        }
    }

    /// Everything, for normal forms.
    func normalForm() -> JSONValue {
        .array(
            changes.map { change in
                .object([
                    "sequence": .int(change.sequence.rawValue),
                    "recordedAt": change.recordedAt.normalFormText,
                    "committedAt": change.committedAt.normalFormText,
                    "kinds": .int(change.kinds.rawValue),
                    "values": .array(
                        change.values.columns.map { .array([.string($0.name)] + ($0.value.map { [$0.value] } ?? [])) }
                    ),
                    "unknown": (change.marks?.unknown).map { .array($0.map { .string($0) }) },
                    "stale": (change.marks?.stale).map { .array($0.map { .string($0) }) },
                ])
            }
        )
    }
}

extension RowHistory {
    /// The row after some entries.
    private struct ShownRow {
        /// Sorted by name.
        private var columns: [(name: String, value: JSONValue)] = []
        private var marks = RowColumns.Marks()

        mutating func apply(_ change: Entry) {
            if change.kinds.contains(.added) { columns = [] }
            for column in change.values.columns { set(column) }
            if let marks = change.marks { self.marks = marks }
        }

        private mutating func set(_ column: RowEffect.ColumnChange) {
            let place = columns.partitioningIndex { !ExactText.precedes($0.name, column.name) }
            let isKnown = place < columns.count && ExactText.areSame(columns[place].name, column.name)
            switch (column.value?.value, isKnown) {
            case (let value?, true): columns[place].value = value
            case (let value?, false): columns.insert((column.name, value), at: place)
            case (nil, true): columns.remove(at: place)
            case (nil, false): break
            }
        }

        func entry(_ change: Entry) -> HistoryEntry {
            let record = JSONObject(distinct: columns.map { JSONObject.Member(name: $0.name, value: $0.value) })
            let row = SettledRow(record: record, unknownColumns: marks.unknown, staleColumns: marks.stale)
            let event = EventReference(sequence: change.sequence, recordedAt: change.recordedAt)
            return HistoryEntry(
                at: event,
                change: change.kinds.change,
                remoteTime: change.committedAt,
                kinds: change.kinds.names,
                fields: row.members
            )
        }
    }
}

/// What happened to a row: that it came or went, or the kinds of a change in between.
struct RowKinds: OptionSet, Codable, Sendable {
    let rawValue: UInt8

    static let added = RowKinds(rawValue: 1)
    static let removed = RowKinds(rawValue: 2)
    static let softDeleted = RowKinds(rawValue: 4)
    static let restored = RowKinds(rawValue: 8)
    static let opened = RowKinds(rawValue: 16)
    static let retitled = RowKinds(rawValue: 32)
    static let updated = RowKinds(rawValue: 64)

    /// The names of the kinds, in the order in which a history lists them.
    private static let named: [(RowKinds, String)] = [
        (.softDeleted, "soft_deleted"), (.restored, "restored"), (.opened, "opened"), (.retitled, "retitled"),
        (.updated, "updated"),
    ]

    init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The kinds of a change that altered the row.
    init(_ effect: RowEffect) {
        if !effect.wasPresent {
            self = .added
        } else if !effect.isPresent {
            self = .removed
        } else {
            self = Self.kinds(of: effect)
        }
    }

    private static func kinds(of effect: RowEffect) -> RowKinds {
        var kinds: RowKinds = []
        if effect.wasSoftDeleted != effect.isSoftDeleted { kinds = effect.isSoftDeleted ? .softDeleted : .restored }
        let changed = effect.changed.meanings
        // An opening writes no other column; `updated_at` beside it makes it an update.
        if changed == .lastOpenedAt { return .opened }
        if changed.contains(.title) { kinds.insert(.retitled) }
        return changed.contains(.others) || kinds.isEmpty ? kinds.union(.updated) : kinds
    }

    /// The word for the change in a history.
    var change: String { contains(.added) ? "added" : contains(.removed) ? "removed" : "changed" }

    /// The finer words.
    var names: [String] { Self.named.filter { contains($0.0) }.map(\.1) }
}

extension RowHistory.Values: Codable {
    private enum CodingKeys: CodingKey { case whole, listed }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let record = try container.decodeIfPresent(RowRecord.self, forKey: .whole) {
            self = .whole(record)
        } else {
            self = .listed(try container.decode([RowEffect.ColumnChange].self, forKey: .listed))
        }
    }

    /// Kept columns are saved as listed ones.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        var whole: RowRecord?
        if case .whole(let record) = self { whole = record }
        try container.encodeIfPresent(whole, forKey: .whole)
        if whole == nil { try container.encode(columns, forKey: .listed) }
    }
}
