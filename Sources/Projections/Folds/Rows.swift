import EventLog

/// The rows of realtime tables, other than conversations and tasks, and their histories.
///
/// A row is folded from its distinct changes in commit order; see `RowRegister`. Its history has an entry for each
/// event that changed it, in order of arrival: `added`, `changed` or `removed`, and one for each change that came late
/// (I33). `kinds` names the columns:
/// `soft_deleted` and `restored` (`deleted_at`), `opened` (`last_opened_at` alone), `retitled` (`title`), `updated`
/// (any other).
///
/// So the order of arrival does not change a row, and does change its history.
struct Rows: Fold {
    /// A row as it is kept. Most rows of a table that is being filled have one change, which says all that a register and a
    /// history would say, in a third of the memory.
    ///
    /// Not an enumeration: reading one member of an element copies that member, and a pattern copies all of them.
    private struct Entry: Codable {
        /// The row's only change. Of a row of several, only its table and id mean something.
        var change: RowChange
        /// The event of the only change.
        let event: EventReference
        /// The place in `folded` of a row of several changes, counted from 1; 0 for any other row.
        var number: UInt32 = 0

        @inline(__always)
        var key: EntityKey { EntityKey(.rows, change.table, change.id) }

        /// The index in `folded`; `nil` for a row of one change.
        @inline(__always)
        var place: Int? { number == 0 ? nil : Int(number) - 1 }
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
                apply(change, at: context.event, place: place, &context.relations)
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
        entries.append(Entry(change: change, event: event))
        return change.operation.givesRow
    }

    /// Applies a change to a known row. Whether the row shows another way then.
    private mutating func apply(
        _ change: RowChange,
        at event: EventReference,
        place: Int,
        _ relations: inout ShapeRelations
    ) -> Bool {
        if let index = entries[place].place {
            // The row changes where it is stored, without a copy.
            return folded[index].apply(change, at: event, &relations)
        }
        // A repeat has no effect, as in `RowRegister.apply`.
        if !change.isPlacedByArrival, change.identity == entries[place].change.identity { return false }
        let index = folded.count
        folded.append(FoldedRow(entries[place].change, at: entries[place].event, &relations))
        (entries[place].change.record, entries[place].change.columns) = (RowRecord(), .empty)
        entries[place].number = UInt32(truncatingIfNeeded: index + 1)
        return folded[index].apply(change, at: event, &relations)
    }

    private func hash(of key: EntityKey) -> UInt64 { places.hash(key.first.rawValue, key.second.rawValue) }

    private func place(of key: EntityKey) -> Int? {
        places.find(hash(of: key)) { entries[$0].key == key }
    }

    /// The row of a key; `nil` if none is known. Cost: O(columns) for a row of one change.
    subscript(key: EntityKey) -> FoldedRow? { place(of: key).map { row(entries[$0]) } }

    private func row(_ entry: Entry) -> FoldedRow {
        if let index = entry.place { return folded[index] }
        var relations = ShapeRelations()
        return FoldedRow(entry.change, at: entry.event, &relations)
    }

    /// The register of a row, without its history.
    private func register(of key: EntityKey) -> RowRegister? {
        guard let place = place(of: key) else { return nil }
        if let index = entries[place].place { return folded[index].register }
        var (register, relations) = (RowRegister(), ShapeRelations())
        let (change, sequence) = (entries[place].change, entries[place].event.sequence.rawValue)
        _ = register.apply(change, at: sequence, comparing: false, noting: false, &relations)
        return register
    }

    /// The keys of the rows for which a condition holds, in any order.
    func keys(where isWanted: (EntityKey, FoldedRow) -> Bool) -> [EntityKey] {
        entries.compactMap { isWanted($0.key, row($0)) ? $0.key : nil }
    }

    /// Whether the row at a place of `entries` exists.
    @inline(__always)
    private func isPresent(at place: Int) -> Bool {
        if let index = entries[place].place { return folded[index].register.isPresent }
        return entries[place].change.operation.givesRow
    }

    func keys(in section: Section, names: Names) -> [EntityKey] {
        guard section == .rows else { return [] }
        let keys = entries.indices.compactMap { isPresent(at: $0) ? entries[$0].key : nil }
        return keys.sorted { names.precedes($0, $1) }
    }

    func knownKeys(in section: Section, names: Names) -> [EntityKey] {
        section == .rows ? entries.map(\.key).sorted { names.precedes($0, $1) } : []
    }

    func row(for key: EntityKey, context: RowContext) -> JSONValue? {
        guard let register = register(of: key), let row = register.settled else { return nil }
        var members = row.members
        members["state"] = .string(standing(register.isSoftDeleted, in: key.first, context))
        members["table"] = .string(context.names.text(key.first))
        members["id"] = .string(context.names.text(key.second))
        return .object(members)
    }

    func digestRow(for key: EntityKey, context: RowContext) -> Hash256? {
        guard let place = place(of: key) else { return nil }
        var text = CanonicalText()
        var relations = ShapeRelations()
        return write(rowAt: place, source: [], context, &text, &relations) ? text.hash : nil
    }

    func forEachDigestRow(in section: Section, context: RowContext, _ take: (EntityKey, Hash256) -> Void) {
        guard section == .rows else { return }
        var text = CanonicalText()
        var relations = ShapeRelations()
        for place in entries.indices {
            if write(rowAt: place, source: [], context, &text, &relations) { take(entries[place].key, text.hash) }
        }
    }

    /// Lends the text of the row of each key that has one, as `row(for:context:)` makes it with a member for the source, in canonical
    /// form; valid only during the call.
    ///
    /// - Parameter source: the member with a comma before it.
    func forEachRow(
        of keys: [EntityKey],
        source: [UInt8],
        context: RowContext,
        _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var text = CanonicalText()
        var relations = ShapeRelations()
        for key in keys {
            guard let place = place(of: key), write(rowAt: place, source: source, context, &text, &relations) else {
                continue
            }
            try text.withBytes(body)
        }
    }

    /// Writes the row of an entry in place of what `text` held; false if it does not exist.
    private func write(
        rowAt place: Int,
        source: [UInt8],
        _ context: RowContext,
        _ text: inout CanonicalText,
        _ relations: inout ShapeRelations
    ) -> Bool {
        guard isPresent(at: place) else { return false }
        let key = entries[place].key
        guard let index = entries[place].place else {
            let (columns, record) = (entries[place].change.columns, entries[place].change.record)
            let missing = columns === record.shape ? [] : relations.relation(of: columns, to: record.shape).missing
            let marks = RowColumns.Marks(unknown: missing.map { columns.names[$0] })
            write(key, marks, record.isSoftDeleted, source, context, &text) { record.write(to: &$0) }
            return true
        }
        let register = folded[index].register
        write(key, register.marks, register.isSoftDeleted, source, context, &text) { register.write(to: &$0) }
        return true
    }

    /// Writes what `row(for:context:)` makes, its members in canonical order.
    @inline(__always)
    private func write(
        _ key: EntityKey,
        _ marks: RowColumns.Marks,
        _ isSoftDeleted: Bool,
        _ source: [UInt8],
        _ context: RowContext,
        _ text: inout CanonicalText,
        writeRecord: (inout CanonicalText) -> Void
    ) {
        text.reset()
        text.raw("{\"id\":")
        text.string(key.second, context.names)
        text.raw(",\"record\":")
        writeRecord(&text)
        source.withUnsafeBytes { text.raw($0) }
        text.raw(",\"staleColumns\":")
        text.array(marks.stale)
        text.raw(",\"state\":")
        text.string(standing(isSoftDeleted, in: key.first, context))
        text.raw(",\"table\":")
        text.string(key.first, context.names)
        text.raw(",\"unknownColumns\":")
        text.array(marks.unknown)
        text.raw("}")
    }

    /// The row's `state`.
    private func standing(_ isSoftDeleted: Bool, in table: EntityID, _ context: RowContext) -> String {
        // Here and not in the register, because the client knows of the deletion and lists the row all the same.
        isSoftDeleted && !staysListed(in: table, context) ? "soft_deleted" : "live"
    }

    func history(of key: EntityKey, context: RowContext) -> [HistoryEntry]? {
        key.section == .rows ? self[key]?.history.entries() : nil
    }

    /// The members of a row before and after the last event, without those that the event left as they were; `nil` if it is
    /// not so large that this would be needed.
    func changedRow(for key: EntityKey, at sequence: SequenceNumber, context: RowContext) -> RowPart? {
        guard let place = place(of: key), let index = entries[place].place,
            let members = folded[index].history.partialMembers(at: sequence)
        else { return nil }
        func row(_ members: JSONObject) -> JSONObject {
            var members = members
            members["table"] = .string(context.names.text(key.first))
            members["id"] = .string(context.names.text(key.second))
            return members
        }
        return (row(members.before), row(members.after))
    }

    func history(of key: EntityKey, in places: Range<Int>, context: RowContext) -> ArraySlice<HistoryEntry> {
        guard key.section == .rows, let history = self[key]?.history else { return [] }
        return history.entries(in: places)[...]
    }

    /// Drops nothing: of rows, a compaction drops only repeats and stale readings.
    mutating func retain(_ policy: RetentionPolicy, names: Names) {}

    /// Adds the changes that the registers noted; every history entry comes from one of them.
    func collectNeeded(into sequences: inout SequenceSet) {
        for place in entries.indices {
            if let index = entries[place].place {
                sequences.formUnion(folded[index].register.changedAt)
            } else {
                sequences.insert(entries[place].event.sequence.rawValue)
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
        guard entries.allSatisfy({ $0.number <= folded.count }) else {
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
    fileprivate init(_ first: RowChange, at event: EventReference, _ relations: inout ShapeRelations) {
        _ = apply(first, at: event, &relations)
    }

    /// Applies a change. Whether the row or its history shows another way then: a change may have an effect on the register
    /// alone, such as a newer position of an equal value.
    fileprivate mutating func apply(
        _ change: RowChange,
        at event: EventReference,
        _ relations: inout ShapeRelations
    ) -> Bool {
        let sequence = event.sequence.rawValue
        let isLate = register.isBehind(change, at: sequence)
        let effect = register.apply(change, at: sequence, &relations)
        // A row that was read a moment before a change came is no version of its own.
        if isLate, !change.isReading || effect?.hasChangedRow == true {
            guard effect != nil || register.note(late: change, at: sequence) else { return false }
            history.add(late: change, effect, of: register, at: event)
            return true
        }
        guard let effect, effect.hasChangedRow else { return false }
        history.add(effect, of: register, change, at: event)
        return true
    }
}
