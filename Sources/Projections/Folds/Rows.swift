import EventLog

/// The rows of realtime tables, other than conversations and tasks, and their histories.
///
/// A row is folded from its distinct changes in commit order; see `RowRegister`. Its history has an entry for each
/// event that changed it, in order of arrival: `added`, `changed` or `removed`. `kinds` names the columns:
/// `soft_deleted` and `restored` (`deleted_at`), `opened` (`last_opened_at` alone), `retitled` (`title`), `updated`
/// (any other).
///
/// So the order of arrival does not change a row, and does change its history.
struct Rows: Fold {
    /// A row as it is kept. Most rows of a table that is being filled have one change, which says all that a register and a
    /// history would say, in a third of the memory.
    private enum Entry: Codable {
        /// The row's only change, and its event.
        case once(RowChange, EventReference)
        /// The index in `folded`.
        case often(table: EntityID, id: EntityID, UInt32)

        @inline(__always)
        var key: EntityKey {
            switch self {
            case .once(let change, _): EntityKey(.rows, change.table, change.id)
            case .often(let table, let id, _): EntityKey(.rows, table, id)
            }
        }
    }

    /// In the order in which they became known. A deleted row stays, since an older change may still come and must not
    /// revive it.
    private var entries: [Entry] = []
    /// The rows that more than one change came for.
    private var folded: [FoldedRow] = []
    /// The index of each row in `entries`.
    private var places = PlaceTable()
    /// The server's list of files, from which one client fetches. Only that client's profile uses it.
    var fileList = RowsFileList()

    init() {}

    mutating func apply(_ change: Change, in context: inout FoldContext) {
        guard case .row(let change) = change else { return }
        if context.rules.isEmpty { return apply(change, in: &context) }
        for change in seen(change, in: &context) { apply(change, in: &context) }
    }

    private mutating func apply(_ change: RowChange, in context: inout FoldContext) {
        let key = EntityKey(.rows, change.table, change.id)
        let isChanged =
            if let place = place(of: key) {
                apply(change, at: context.event, place: place)
            } else {
                add(change, as: key, at: context.event)
            }
        if isChanged { context.touch(key) }
    }

    /// Adds a row with its first change, which always has an effect: nothing newer is known. Whether the row shows.
    private mutating func add(_ change: RowChange, as key: EntityKey, at event: EventReference) -> Bool {
        if places.isFull(for: entries.count) {
            let known = self
            places.grow(for: entries.count) { known.hash(of: known.entries[$0].key) }
        }
        places.add(hash(of: key), place: entries.count)
        // By a quarter and not by double, as the memory of very many rows counts.
        if entries.count == entries.capacity { entries.reserveCapacity(entries.count + entries.count / 4 + 8) }
        entries.append(.once(change, event))
        return change.givesRow
    }

    /// Applies a change to a known row. Whether the row shows another way then.
    private mutating func apply(_ change: RowChange, at event: EventReference, place: Int) -> Bool {
        switch entries[place] {
        case .once(let first, let firstEvent):
            // A repeat has no effect, as in `RowRegister.apply`.
            if !change.isPlacedByArrival, change.identity == first.identity { return false }
            var row = FoldedRow(first, at: firstEvent)
            let isChanged = row.apply(change, at: event)
            entries[place] = .often(table: first.table, id: first.id, UInt32(truncatingIfNeeded: folded.count))
            folded.append(row)
            return isChanged
        case .often(_, _, let index):
            // The row changes where it is stored, without a copy.
            return folded[Int(index)].apply(change, at: event)
        }
    }

    private func hash(of key: EntityKey) -> UInt64 { places.hash(key.first.rawValue, key.second.rawValue) }

    private func place(of key: EntityKey) -> Int? {
        places.find(hash(of: key)) { entries[$0].key == key }
    }

    /// The row of a key; `nil` if none is known. Cost: O(columns) for a row of one change.
    subscript(key: EntityKey) -> FoldedRow? { place(of: key).map { row(entries[$0]) } }

    private func row(_ entry: Entry) -> FoldedRow {
        switch entry {
        case .once(let change, let event): FoldedRow(change, at: event)
        case .often(_, _, let index): folded[Int(index)]
        }
    }

    /// The keys of the rows for which a condition holds, in any order.
    func keys(where isWanted: (EntityKey, FoldedRow) -> Bool) -> [EntityKey] {
        entries.compactMap { isWanted($0.key, row($0)) ? $0.key : nil }
    }

    @inline(__always)
    private func isPresent(_ entry: Entry) -> Bool {
        switch entry {
        case .once(let change, _): change.givesRow
        case .often(_, _, let index): folded[Int(index)].register.isPresent
        }
    }

    func keys(in section: Section, names: Names) -> [EntityKey] {
        unsortedKeys(in: section, names: names).sorted { names.precedes($0, $1) }
    }

    func unsortedKeys(in section: Section, names: Names) -> [EntityKey] {
        guard section == .rows else { return [] }
        // Through a pointer, so that no entry is copied.
        return entries.withUnsafeBufferPointer { entries in
            entries.indices.compactMap { isPresent(entries[$0]) ? entries[$0].key : nil }
        }
    }

    func knownKeys(in section: Section, names: Names) -> [EntityKey] {
        section == .rows ? entries.map(\.key).sorted { names.precedes($0, $1) } : []
    }

    func row(for key: EntityKey, context: RowContext) -> JSONValue? {
        guard let register = self[key]?.register, let row = register.settled else { return nil }
        var members = row.members
        members["state"] = .string(standing(register.isSoftDeleted, in: key.first, context))
        members["table"] = .string(context.names.text(key.first))
        members["id"] = .string(context.names.text(key.second))
        return .object(members)
    }

    /// Writes what `row(for:context:)` makes, its members in canonical order.
    func digestRow(for key: EntityKey, context: RowContext) -> Hash256? {
        guard let entry = place(of: key).map({ entries[$0] }), isPresent(entry) else { return nil }
        switch entry {
        case .once(let change, _):
            let marks = RowColumns.Marks(unknown: change.columnsWithoutValue)
            return digestRow(key, marks, change.record.isSoftDeleted, context) { change.record.write(to: &$0) }
        case .often(_, _, let index):
            let register = folded[Int(index)].register
            return digestRow(key, register.marks, register.isSoftDeleted, context) { text in
                if let record = register.onlyRecord { record.write(to: &text) } else { text.object(register.values) }
            }
        }
    }

    private func digestRow(
        _ key: EntityKey,
        _ marks: RowColumns.Marks,
        _ isSoftDeleted: Bool,
        _ context: RowContext,
        writeRecord: (inout CanonicalText) -> Void
    ) -> Hash256 {
        var text = CanonicalText()
        text.raw("{\"id\":")
        text.string(context.names.text(key.second))
        text.raw(",\"record\":")
        writeRecord(&text)
        text.raw(",\"staleColumns\":")
        text.array(marks.stale)
        text.raw(",\"state\":")
        text.string(standing(isSoftDeleted, in: key.first, context))
        text.raw(",\"table\":")
        text.string(context.names.text(key.first))
        text.raw(",\"unknownColumns\":")
        text.array(marks.unknown)
        text.raw("}")
        return text.hash
    }

    /// The row's `state`.
    private func standing(_ isSoftDeleted: Bool, in table: EntityID, _ context: RowContext) -> String {
        // Here and not in the register, because the client knows of the deletion and lists the row all the same.
        isSoftDeleted && !staysListed(in: table, context) ? "soft_deleted" : "live"
    }

    func history(of key: EntityKey, context: RowContext) -> [HistoryEntry]? {
        key.section == .rows ? self[key]?.history.entries() : nil
    }

    func history(of key: EntityKey, in places: Range<Int>, context: RowContext) -> ArraySlice<HistoryEntry> {
        guard key.section == .rows, let history = self[key]?.history else { return [] }
        return history.entries(in: places)[...]
    }

    /// Drops nothing: of rows, a compaction drops only repeats and changes that came too late to have an effect.
    mutating func retain(_ policy: RetentionPolicy, names: Names) {}

    /// Adds the changes that had an effect; every history entry comes from one of them.
    func collectNeeded(into sequences: inout SequenceSet) {
        for entry in entries {
            switch entry {
            case .once(_, let event): sequences.insert(event.sequence.rawValue)
            case .often(_, _, let index): sequences.formUnion(folded[Int(index)].register.changedAt)
            }
        }
    }

    func normalForm(names: Names, into take: (JSONValue) -> Void) {
        for key in knownKeys(in: .rows, names: names) {
            let row = self[key]
            take(
                .object([
                    "table": .string(names.text(key.first)),
                    "id": .string(names.text(key.second)),
                    "register": row?.register.normalForm(),
                    "history": row?.history.normalForm(),
                ])
            )
        }
    }

    func facts(keeping kept: SequenceSet, names: Names) -> JSONValue { .null }

    mutating func load(facts: JSONValue, names: inout Names) throws {}
}

extension Rows: Codable {
    private enum CodingKeys: CodingKey { case entries, folded, fileList }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        entries = try container.decode([Entry].self, forKey: .entries)
        folded = try container.decode([FoldedRow].self, forKey: .folded)
        fileList = try container.decode(RowsFileList.self, forKey: .fileList)
        let hasRows = entries.allSatisfy { entry in
            if case .often(_, _, let index) = entry { Int(index) < folded.count } else { true }
        }
        guard hasRows else {
            throw DecodingError.dataCorruptedError(
                forKey: .entries,
                in: container,
                debugDescription: "a row is missing"
            )
        }
        places = PlaceTable(hashes: entries.map { hash(of: $0.key) })
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(entries, forKey: .entries)
        try container.encode(folded, forKey: .folded)
        try container.encode(fileList, forKey: .fileList)
    }
}

/// A row and its history.
struct FoldedRow: Codable, Sendable {
    private(set) var register = RowRegister()
    private(set) var history = RowHistory()

    /// The row after its first change.
    fileprivate init(_ first: RowChange, at event: EventReference) {
        _ = apply(first, at: event)
    }

    /// Applies a change. Whether the row shows another way then: a change may have an effect on the register alone, such as
    /// a newer position of an equal value.
    fileprivate mutating func apply(_ change: RowChange, at event: EventReference) -> Bool {
        guard let effect = register.apply(change, at: event.sequence.rawValue), effect.hasChangedRow else {
            return false
        }
        history.add(effect, of: register, change, at: event)
        return true
    }
}
