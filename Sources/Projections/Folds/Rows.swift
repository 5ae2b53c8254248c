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
    /// By table and id. A deleted row's register stays, since an older change may still come and must not revive it.
    private(set) var registers: [EntityKey: RowRegister] = [:]
    /// By table and id, also of rows that are gone.
    private var histories: [EntityKey: RowHistory] = [:]
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
        // The register leaves the table during the change: as its only owner, `register` changes without a copy.
        var register = registers.removeValue(forKey: key) ?? RowRegister()
        let effect = register.apply(change, at: context.event.sequence.rawValue)
        // A change without effect on an unknown row leaves no register.
        if register.isKnown { registers[key] = register }
        // A change may have an effect on the register alone, such as a newer position of an equal value.
        guard let effect, effect.hasChangedRow else { return }
        context.touch(key)
        histories[key, default: RowHistory()].add(effect, of: register, change, at: context.event)
    }

    func keys(in section: Section, names: Names) -> [EntityKey] {
        guard section == .rows else { return [] }
        let present = registers.lazy.filter { $0.value.isPresent }.map(\.key)
        return present.sorted { names.precedes($0, $1) }
    }

    func knownKeys(in section: Section, names: Names) -> [EntityKey] {
        section == .rows ? histories.keys.sorted { names.precedes($0, $1) } : []
    }

    func row(for key: EntityKey, context: RowContext) -> JSONValue? {
        guard let register = registers[key], let row = register.settled else { return nil }
        var members = row.members
        members["state"] = .string(standing(of: register, in: key.first, context))
        members["table"] = .string(context.names.text(key.first))
        members["id"] = .string(context.names.text(key.second))
        return .object(members)
    }

    /// Writes what `row(for:context:)` makes, its members in canonical order.
    func digestRow(for key: EntityKey, context: RowContext) -> Hash256? {
        guard let register = registers[key], register.isPresent else { return nil }
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
        key.section == .rows ? histories[key]?.entries() : nil
    }

    func history(of key: EntityKey, in places: Range<Int>, context: RowContext) -> ArraySlice<HistoryEntry> {
        guard key.section == .rows, let history = histories[key] else { return [] }
        return history.entries(in: places)[...]
    }

    /// Drops nothing: of rows, a compaction drops only repeats and changes that came too late to have an effect.
    mutating func retain(_ policy: RetentionPolicy, names: Names) {}

    /// Adds the changes that had an effect; every history entry comes from one of them.
    func collectNeeded(into sequences: inout Set<UInt64>) {
        for register in registers.values { sequences.formUnion(register.changedAt) }
    }

    func normalForm(names: Names, into take: (JSONValue) -> Void) {
        for key in registers.keys.sorted(by: { names.precedes($0, $1) }) {
            take(
                .object([
                    "table": .string(names.text(key.first)),
                    "id": .string(names.text(key.second)),
                    "register": registers[key]?.normalForm(),
                ])
            )
        }
        for key in histories.keys.sorted(by: { names.precedes($0, $1) }) {
            take(
                .object([
                    "table": .string(names.text(key.first)),
                    "id": .string(names.text(key.second)),
                    "history": histories[key]?.normalForm(),
                ])
            )
        }
    }

    func facts(keeping kept: Set<UInt64>, names: Names) -> JSONValue { .null }

    mutating func load(facts: JSONValue, names: inout Names) throws {}
}
