import EventLog

/// The history of one row, oldest entry first.
///
/// An entry keeps only what its event changed, so the memory grows with the changes, not with rows times columns. The
/// row after an event follows from the entries up to it, from the last `added` or the last base on.
///
/// An entry shows the whole row after its event, unless the row is far larger than what the event stated
/// (`RowColumns.replaced`): then it is partial, and shows what changed. So all entries together are not far larger than the
/// events (I34).
struct RowHistory: Codable, Sendable {
    /// One event that changed the row.
    struct Entry: Codable {
        let sequence: SequenceNumber
        let recordedAt: Timestamp
        let committedAt: Timestamp
        let kinds: RowKinds
        let values: Values
        /// The marks that came and went; `nil` if none did. Of an `added` row, those that it has.
        let marks: RowMarksChange?

        /// The values that differ, if the entry does not show the whole row; `nil` if it does.
        var partial: [PartialChange]? {
            switch values {
            case .partial(let changes): changes
            case .late(let late): late.partial
            case .whole, .kept, .listed: nil
            }
        }

        var isPartial: Bool { partial != nil }
    }

    /// A place from which on rows are made without the entries before it.
    struct Base {
        let place: Int
        /// The first entry to apply: that behind the place, or an `added` one at it.
        let next: Int
        let columns: [(name: String, value: StoredJSON)]
        let marks: RowColumns.Marks
    }

    /// The values that an event gave a row.
    enum Values {
        /// All values of an `added` row, which the row shares as long as it has them.
        case whole(RowRecord)
        /// The values that differ from those of the entry before.
        case kept(KeptColumns)
        /// The same, or all values of an `added` row, or values that it lost.
        case listed([RowEffect.ColumnChange])
        /// The values that differ, of a row that the entry does not show whole.
        case partial([PartialChange])
        /// Those of a change that came late.
        indirect case late(LateChange)

        /// The columns with their new values, `nil` for one that the row lost.
        var columns: [RowEffect.ColumnChange] {
            switch self {
            case .late(let late): late.columns
            case .kept(let columns): columns.columns
            case .listed(let columns): columns
            case .partial(let changes): changes.map { RowEffect.ColumnChange(name: $0.name, value: $0.after) }
            case .whole(let record):
                record.shape.sorted.map { RowEffect.ColumnChange(name: record.shape.names[$0], value: record[$0]) }
            }
        }
    }

    /// A column of a partial entry.
    struct PartialChange: Codable {
        let name: String
        let before: StoredJSON?
        let after: StoredJSON?

        /// Changed columns with their values before, which are among those that the change states. Both lists are in the
        /// order of the names.
        static func list(
            _ changed: [RowEffect.ColumnChange],
            replaced: [RowEffect.ColumnChange]
        ) -> [PartialChange] {
            var rest = replaced[...]
            return changed.map { column in
                while let next = rest.first, ExactText.precedes(next.name, column.name) { rest.removeFirst() }
                let before = rest.first.flatMap { ExactText.areSame($0.name, column.name) ? $0.value : nil }
                return PartialChange(name: column.name, before: before, after: column.value?.detached)
            }
        }
    }

    /// A change that came late.
    struct LateChange: Codable {
        let operation: RowChange.Operation
        /// What the change states, with texts of its own.
        let stated: [RowEffect.ColumnChange]
        /// The names of columns that it does not state.
        let unknown: [String]
        /// The values of the known row that it changed; `nil` for a value that the row lost.
        let columns: [RowEffect.ColumnChange]
        /// Whether it changed the known row.
        let changesRow: Bool
        /// The changed values with those before, of a row that the entry does not show whole; `nil` for any other.
        let partial: [PartialChange]?

        init(_ change: RowChange, _ effect: RowEffect?) {
            operation = change.operation
            let shape = change.record.shape
            stated = shape.sorted.map {
                RowEffect.ColumnChange(name: shape.names[$0], value: change.record[$0].detached)
            }
            let names = Set(shape.names.map { ExactText($0) })
            unknown = change.columns.names.filter { !names.contains(ExactText($0)) }.sorted(by: ExactText.precedes)
            changesRow = effect?.hasChangedRow ?? false
            let changed = changesRow ? (effect?.changed.columns ?? []).map(\.detached) : []
            columns = changed
            partial = changesRow ? effect?.replaced.map { PartialChange.list(changed, replaced: $0) } : nil
        }

        /// What the change states as the row that it would be alone; `nil` for a DELETE.
        var row: SettledRow? {
            guard operation.givesRow else { return nil }
            let members = stated.compactMap { column in
                column.value.map { JSONObject.Member(name: column.name, value: $0.value) }
            }
            return SettledRow(record: JSONObject(distinct: members), unknownColumns: unknown, staleColumns: [])
        }

        var change: String {
            switch operation {
            case .insert: "added"
            case .update: "changed"
            case .delete: "removed"
            }
        }
    }

    private(set) var changes: [Entry] = []
    /// In the order of their places. Not saved.
    private(set) var bases: [Base] = []
    /// The place of the last base, or of the first entry.
    private var lastStart = 0
    /// A whole entry so many places behind the last base, or more, gets one.
    private static let baseDistance = 64

    init() {}

    /// Adds an entry for a change that came late.
    ///
    /// - Parameter effect: What it changed all the same; `nil` for a change without effect.
    mutating func add(late change: RowChange, _ effect: RowEffect?, of register: RowRegister, at event: EventReference)
    {
        let late = LateChange(change, effect)
        let marks = effect.map {
            $0.wasPresent ? $0.marks : RowMarksChange(from: RowColumns.Marks(), to: register.marks)
        }
        changes.append(
            Entry(
                sequence: event.sequence,
                recordedAt: event.recordedAt,
                committedAt: change.committedAt,
                kinds: late.changesRow ? effect.map { RowKinds($0) } ?? [] : [],
                values: .late(late),
                marks: marks?.isEmpty == false ? marks : nil
            )
        )
    }

    /// Adds an entry for a change that altered the row as it shows.
    mutating func add(_ effect: RowEffect, of register: RowRegister, _ change: RowChange, at event: EventReference) {
        let kinds = RowKinds(effect)
        // A removed row keeps its last fields, which say what is gone.
        let isRemoved = kinds.contains(.removed)
        let marks = effect.wasPresent ? effect.marks : RowMarksChange(from: RowColumns.Marks(), to: register.marks)
        changes.append(
            Entry(
                sequence: event.sequence,
                recordedAt: event.recordedAt,
                committedAt: change.committedAt,
                kinds: kinds,
                values: isRemoved ? .listed([]) : Self.values(effect, of: register),
                marks: isRemoved || marks.isEmpty ? nil : marks
            )
        )
        addBase { (register.values, register.marks) }
    }

    /// Makes the last entry a base if it may be one and the last is far behind.
    private mutating func addBase(_ row: () -> (columns: [(name: String, value: StoredJSON)], marks: RowColumns.Marks))
    {
        guard let last = changes.last else { return }
        let place = changes.count - 1
        let isDue = place - lastStart >= Self.baseDistance
        if last.kinds.contains(.added) {
            if !isDue { return }
            bases.append(Base(place: place, next: place, columns: [], marks: RowColumns.Marks()))
            lastStart = place
        } else if isDue, !last.isPartial, !last.kinds.contains(.removed) {
            let row = row()
            bases.append(Base(place: place, next: place + 1, columns: row.columns, marks: row.marks))
            lastStart = place
        }
    }

    private static func values(_ effect: RowEffect, of register: RowRegister) -> Values {
        // A changed value gets a text of its own, or it would keep the values of its whole record.
        if effect.wasPresent {
            if let replaced = effect.replaced {
                return .partial(PartialChange.list(effect.changed.columns, replaced: replaced))
            }
            return switch effect.changed {
            case .stated(let columns): .kept(KeptColumns(columns))
            case .listed(let columns): .listed(columns.map(\.detached))
            }
        }
        if let record = register.onlyRecord { return .whole(record) }
        return .listed(register.values.map { RowEffect.ColumnChange(name: $0.name, value: $0.value.detached) })
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
                    "isPartial": .bool(change.isPartial),
                    "unknown": (change.marks?.unknown).map { .array($0.map { .string($0) }) },
                    "stale": (change.marks?.stale).map { .array($0.map { .string($0) }) },
                    "seen": (change.marks?.seen).map { .array($0.map { .string($0) }) },
                    "settled": (change.marks?.settled).map { .array($0.map { .string($0) }) },
                    "late": change.values.late?.normalForm,
                ])
            }
        )
    }
}

extension RowHistory {
    private enum CodingKeys: CodingKey { case changes }

    /// Makes the bases again, which are where they were.
    init(from decoder: any Decoder) throws {
        let saved = try decoder.container(keyedBy: CodingKeys.self).decode([Entry].self, forKey: .changes)
        var row = ShownRow()
        for change in saved {
            changes.append(change)
            row.apply(change)
            if !change.isLate { addBase { (row.columns, row.marks) } }
        }
    }
}

extension RowHistory.LateChange {
    /// Everything but what the entry's own members have.
    fileprivate var normalForm: JSONValue {
        .object([
            "operation": .string(operation.rawValue), "changes": .bool(changesRow), "isPartial": .bool(partial != nil),
            "stated": .array(stated.map { .array([.string($0.name), $0.value?.value ?? .null]) }),
            "unknown": .array(unknown.map { .string($0) }),
        ])
    }
}

extension RowHistory.Values: Codable {
    private enum CodingKeys: CodingKey { case whole, listed, partial, late }

    /// The late change; `nil` for any other.
    var late: RowHistory.LateChange? { if case .late(let late) = self { late } else { nil } }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let record = try container.decodeIfPresent(RowRecord.self, forKey: .whole) {
            self = .whole(record)
        } else if let changes = try container.decodeIfPresent([RowHistory.PartialChange].self, forKey: .partial) {
            self = .partial(changes)
        } else if let late = try container.decodeIfPresent(RowHistory.LateChange.self, forKey: .late) {
            self = .late(late)
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
        if whole != nil { return }
        var partial: [RowHistory.PartialChange]?
        if case .partial(let changes) = self { partial = changes }
        try container.encodeIfPresent(partial, forKey: .partial)
        if partial != nil { return }
        try container.encodeIfPresent(late, forKey: .late)
        if late == nil { try container.encode(columns, forKey: .listed) }
    }
}
