import EventLog

extension RowHistory {
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
}

extension RowHistory {
    /// The row after some entries.
    struct ShownRow {
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

extension RowHistory.Entry {
    /// The place in the order of commits.
    fileprivate var position: RowRegister.Position? {
        RowRegister.Position(committedAt: committedAt, sequence: sequence.rawValue)
    }

    var isLate: Bool { values.late != nil }

    /// False for a late change that left the row as it was.
    fileprivate var tellsRow: Bool { values.late?.changesRow ?? true }
}
