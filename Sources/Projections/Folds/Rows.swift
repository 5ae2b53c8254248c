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
    /// In the order in which they became known. A deleted row stays, since an older change may still come and must not
    /// revive it.
    private(set) var rows: [FoldedRow] = []
    /// The index of each row in `rows`, by table and id. Apart from the rows, as a table has empty places: they cost 28
    /// bytes each and not as much as a row.
    private var places: [EntityKey: UInt32] = [:]
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
        let outcome: FoldedRow.Outcome
        if let place = places[key] {
            // The row changes where it is stored, without a copy.
            outcome = rows[Int(place)].apply(change, at: context.event)
        } else {
            var row = FoldedRow()
            outcome = row.apply(change, at: context.event)
            // A change without effect on an unknown row leaves nothing.
            if outcome != .unknown { add(row, as: key) }
        }
        if outcome == .changed { context.touch(key) }
    }

    private mutating func add(_ row: FoldedRow, as key: EntityKey) {
        places[key] = UInt32(truncatingIfNeeded: rows.count)
        // By a quarter and not by double, as the memory of very many rows counts.
        if rows.count == rows.capacity { rows.reserveCapacity(rows.count + rows.count / 4 + 8) }
        rows.append(row)
    }

    /// The row of a key; `nil` if none is known.
    subscript(key: EntityKey) -> FoldedRow? { places[key].map { rows[Int($0)] } }

    /// The keys of the rows for which a condition holds, in any order.
    func keys(where isWanted: (EntityKey, FoldedRow) -> Bool) -> [EntityKey] {
        places.compactMap { isWanted($0.key, rows[Int($0.value)]) ? $0.key : nil }
    }

    func keys(in section: Section, names: Names) -> [EntityKey] {
        unsortedKeys(in: section, names: names).sorted { names.precedes($0, $1) }
    }

    func unsortedKeys(in section: Section, names: Names) -> [EntityKey] {
        section == .rows ? keys { $1.register.isPresent } : []
    }

    func knownKeys(in section: Section, names: Names) -> [EntityKey] {
        section == .rows ? places.keys.sorted { names.precedes($0, $1) } : []
    }

    func row(for key: EntityKey, context: RowContext) -> JSONValue? {
        guard let register = self[key]?.register, let row = register.settled else { return nil }
        var members = row.members
        members["state"] = .string(standing(of: register, in: key.first, context))
        members["table"] = .string(context.names.text(key.first))
        members["id"] = .string(context.names.text(key.second))
        return .object(members)
    }

    /// Writes what `row(for:context:)` makes, its members in canonical order.
    func digestRow(for key: EntityKey, context: RowContext) -> Hash256? {
        guard let register = self[key]?.register, register.isPresent else { return nil }
        let marks = register.marks
        var text = CanonicalText()
        text.raw("{\"id\":")
        text.string(context.names.text(key.second))
        text.raw(",\"record\":")
        text.object(register.values)
        text.raw(",\"staleColumns\":")
        text.array(marks.stale)
        text.raw(",\"state\":")
        text.string(standing(of: register, in: key.first, context))
        text.raw(",\"table\":")
        text.string(context.names.text(key.first))
        text.raw(",\"unknownColumns\":")
        text.array(marks.unknown)
        text.raw("}")
        return text.hash
    }

    /// The row's `state`.
    private func standing(of register: RowRegister, in table: EntityID, _ context: RowContext) -> String {
        // Here and not in the register, because the client knows of the deletion and lists the row all the same.
        register.isSoftDeleted && !staysListed(in: table, context) ? "soft_deleted" : "live"
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
        for row in rows { sequences.formUnion(row.register.changedAt) }
    }

    func normalForm(names: Names, into take: (JSONValue) -> Void) {
        for key in places.keys.sorted(by: { names.precedes($0, $1) }) {
            take(
                .object([
                    "table": .string(names.text(key.first)),
                    "id": .string(names.text(key.second)),
                    "register": self[key]?.register.normalForm(),
                    "history": self[key]?.history.normalForm(),
                ])
            )
        }
    }

    func facts(keeping kept: SequenceSet, names: Names) -> JSONValue { .null }

    mutating func load(facts: JSONValue, names: inout Names) throws {}
}

/// A row and its history.
struct FoldedRow: Codable, Sendable {
    /// What a change did to the row.
    enum Outcome {
        /// No change ever had an effect on the row.
        case unknown
        /// The row shows as before. A change may have an effect on the register alone, such as a newer position of an
        /// equal value.
        case unchanged
        case changed
    }

    private(set) var register = RowRegister()
    private(set) var history = RowHistory()

    fileprivate mutating func apply(_ change: RowChange, at event: EventReference) -> Outcome {
        guard let effect = register.apply(change, at: event.sequence.rawValue) else {
            return register.isKnown ? .unchanged : .unknown
        }
        guard effect.hasChangedRow else { return .unchanged }
        history.add(effect, of: register, change, at: event)
        return .changed
    }
}
