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
    fileprivate struct Entry: Codable {
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
    private struct Base {
        let place: Int
        /// The first entry to apply: that behind the place, or an `added` one at it.
        let next: Int
        let columns: [(name: String, value: StoredJSON)]
        let marks: RowColumns.Marks
    }

    /// The values that an event gave a row.
    fileprivate enum Values {
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
    fileprivate struct PartialChange: Codable {
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
    fileprivate struct LateChange: Codable {
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

    private var changes: [Entry] = []
    /// In the order of their places. Not saved.
    private var bases: [Base] = []
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

    /// All entries. Cost: O(changes), and O(columns) for each entry that is not partial.
    func entries() -> [HistoryEntry] {
        entries(in: changes.indices)
    }

    /// The entries at some places; places beyond the ends are left out. Cost: O(changes) from the last base before the first
    /// place that is not partial, and O(columns) for each entry that is not.
    func entries(in places: Range<Int>) -> [HistoryEntry] {
        let places = places.clamped(to: changes.indices)
        // Which version a late one is follows from all before it.
        let isAnyLate = changes[places].contains(where: \.isLate)
        let numbered = isAnyLate ? changes[..<places.upperBound] : []
        let lates = LateVersion.places(of: numbered.map(\.position)) { numbered[$0].isLate }
        var walk = Walk()
        var lastTold = changes[..<places.lowerBound].lastIndex(where: \.tellsRow)
        return places.map { place in
            let change = changes[place]
            defer { if change.tellsRow { lastTold = place } }
            if case .partial(let columns) = change.values { return Self.entry(change, columns) }
            if let late = change.values.late, let number = lates[place] {
                let known = Self.known(after: late, change) {
                    walk.go(to: place, of: self)
                    return walk.row.members
                }
                return Self.entry(change, late, number, known)
            }
            // Behind a partial entry, nobody could tell the row before otherwise.
            var before: JSONObject?
            if let lastTold, changes[lastTold].isPartial {
                walk.go(to: place - 1, of: self)
                before = walk.row.members
            }
            walk.go(to: place, of: self)
            var entry = walk.row.entry(change)
            entry.before = before
            return entry
        }
    }

    /// A row on its way through the entries.
    private struct Walk {
        private(set) var row = ShownRow()
        /// The place behind the last applied entry.
        private var next = 0

        mutating func go(to place: Int, of history: RowHistory) {
            let base = history.bases.partitioningIndex { $0.place > place } - 1
            if base >= 0, history.bases[base].next > next {
                row = ShownRow(history.bases[base].columns, history.bases[base].marks)
                next = history.bases[base].next
            }
            while next <= place {
                RowColumns.look(at: 1)
                row.apply(history.changes[next])
                next += 1
            }
        }
    }

    /// What the entries of one event, the last ones, say: the row's members before and after it. `nil` if the event made no
    /// entry, or one that is not partial.
    func partialMembers(at sequence: SequenceNumber) -> (before: JSONObject, after: JSONObject)? {
        let own = changes.reversed().prefix { $0.sequence == sequence }.reversed()
        if own.isEmpty { return nil }
        var (before, after) = (JSONObject(), JSONObject())
        for change in own {
            guard let columns = change.partial else { return nil }
            for column in columns {
                if after[column.name] == nil, let value = column.before { before[column.name] = value.value }
                after[column.name] = column.after?.value
            }
        }
        // The value may be again what it was.
        for name in after.members.map(\.name) where before[name].map({ $0.isSameJSON(as: after[name]) }) ?? false {
            (before[name], after[name]) = (nil, nil)
        }
        var members = (
            before: ["record": .object(before)] as JSONObject, after: ["record": .object(after)] as JSONObject
        )
        let marks = own.compactMap(\.marks)
        members.before["unknownColumns"] = Self.names(marks.flatMap(\.seen))
        members.after["unknownColumns"] = Self.names(marks.flatMap(\.unknown))
        members.before["staleColumns"] = Self.names(marks.flatMap(\.settled))
        members.after["staleColumns"] = Self.names(marks.flatMap(\.stale))
        return members
    }

    /// A late entry: what the version stated, and what is known of the row after it if it changed that.
    private static func entry(
        _ change: Entry,
        _ late: LateChange,
        _ place: LateVersion.Place,
        _ known: (after: JSONObject, before: JSONObject?)?
    ) -> HistoryEntry {
        var entry = HistoryEntry(
            at: EventReference(sequence: change.sequence, recordedAt: change.recordedAt),
            change: late.change,
            remoteTime: change.committedAt,
            kinds: change.kinds.names,
            fields: late.row?.members ?? JSONObject(),
            late: LateVersion(number: place.number, of: place.count, known: known?.after)
        )
        entry.before = known?.before
        return entry
    }

    /// The row after a late change; `nil` if that left the row as it was. Of a row that is not shown whole, what changed,
    /// and what that was before.
    private static func known(
        after late: LateChange,
        _ change: Entry,
        _ members: () -> JSONObject
    ) -> (after: JSONObject, before: JSONObject?)? {
        guard late.changesRow else { return nil }
        guard let columns = late.partial else { return (members(), nil) }
        let entry = entry(change, columns)
        return (entry.fields, entry.before)
    }

    private static func names(_ names: [String]) -> JSONValue { .array(names.map { .string($0) }) }

    /// A partial entry: the columns that the event changed, before and after, and the marks that came or went.
    private static func entry(_ change: Entry, _ columns: [PartialChange]) -> HistoryEntry {
        func record(_ value: (PartialChange) -> StoredJSON?) -> JSONValue {
            .object(
                JSONObject(
                    distinct: columns.compactMap { column in
                        value(column).map { JSONObject.Member(name: column.name, value: $0.value) }
                    }
                )
            )
        }
        func state(isDeleted: Bool) -> JSONValue? {
            let changes = !change.kinds.isDisjoint(with: [.softDeleted, .restored])
            return changes ? .string(isDeleted ? "soft_deleted" : "live") : nil
        }
        func list(_ names: [String]?) -> JSONValue? { names.flatMap { $0.isEmpty ? nil : Self.names($0) } }
        let isDeletion = change.kinds.contains(.softDeleted)
        var entry = HistoryEntry(
            at: EventReference(sequence: change.sequence, recordedAt: change.recordedAt),
            change: change.kinds.change,
            remoteTime: change.committedAt,
            kinds: change.kinds.names,
            fields: [
                "state": state(isDeleted: isDeletion), "record": record(\.after),
                "unknownColumns": list(change.marks?.unknown), "staleColumns": list(change.marks?.stale),
                "partial": .bool(true),
            ]
        )
        entry.before = [
            "state": state(isDeleted: !isDeletion), "record": record(\.before),
            "unknownColumns": list(change.marks?.seen), "staleColumns": list(change.marks?.settled),
            "partial": .bool(true),
        ]
        return entry
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
                    "unknown": (change.marks?.unknown).map { Self.names($0) },
                    "stale": (change.marks?.stale).map { Self.names($0) },
                    "seen": (change.marks?.seen).map { Self.names($0) },
                    "settled": (change.marks?.settled).map { Self.names($0) },
                    "late": change.values.late?.normalForm,
                ])
            }
        )
    }
}

extension RowHistory {
    /// The row after some entries.
    private struct ShownRow {
        /// Sorted by name.
        private(set) var columns: [(name: String, value: StoredJSON)] = []
        private(set) var marks = RowColumns.Marks()

        init() {}

        init(_ columns: [(name: String, value: StoredJSON)], _ marks: RowColumns.Marks) {
            self.columns = columns
            self.marks = marks
        }

        mutating func apply(_ change: Entry) {
            if change.kinds.contains(.added) { (columns, marks) = ([], RowColumns.Marks()) }
            for column in change.values.columns { set(column) }
            if let marks = change.marks { self.marks.take(marks) }
        }

        private mutating func set(_ column: RowEffect.ColumnChange) {
            let place = columns.partitioningIndex { !ExactText.precedes($0.name, column.name) }
            let isKnown = place < columns.count && ExactText.areSame(columns[place].name, column.name)
            switch (column.value, isKnown) {
            case (let value?, true): columns[place].value = value
            case (let value?, false): columns.insert((column.name, value), at: place)
            case (nil, true): columns.remove(at: place)
            case (nil, false): break
            }
        }

        var members: JSONObject {
            let record = JSONObject(distinct: columns.map { JSONObject.Member(name: $0.name, value: $0.value.value) })
            return SettledRow(record: record, unknownColumns: marks.unknown, staleColumns: marks.stale).members
        }

        func entry(_ change: Entry) -> HistoryEntry {
            let event = EventReference(sequence: change.sequence, recordedAt: change.recordedAt)
            return HistoryEntry(
                at: event,
                change: change.kinds.change,
                remoteTime: change.committedAt,
                kinds: change.kinds.names,
                fields: members
            )
        }
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

extension RowHistory.Entry {
    /// The place in the order of commits.
    fileprivate var position: RowRegister.Position? {
        RowRegister.Position(committedAt: committedAt, sequence: sequence.rawValue)
    }

    fileprivate var isLate: Bool { values.late != nil }

    /// False for a late change that left the row as it was.
    fileprivate var tellsRow: Bool { values.late?.changesRow ?? true }
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
