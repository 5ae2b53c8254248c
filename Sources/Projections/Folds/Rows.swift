import EventLog
import JSON

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
    private var histories = EntityHistories()
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
        let before = register.settled
        let isEffective = register.apply(change, at: context.event.sequence.rawValue)
        let after = register.settled
        // A change without effect on an unknown row leaves no register.
        if !register.changedAt.isEmpty { registers[key] = register }
        guard isEffective else { return }
        note(change, before: before, after: after, key: key, in: &context)
    }

    func keys(in section: Section, names: Names) -> [EntityKey] {
        guard section == .rows else { return [] }
        return registers.filter { $0.value.settled != nil }.keys.sorted { names.precedes($0, $1) }
    }

    func knownKeys(in section: Section, names: Names) -> [EntityKey] {
        histories.keys(in: section, names: names)
    }

    func row(for key: EntityKey, context: RowContext) -> JSONValue? {
        guard let row = registers[key]?.settled else { return nil }
        var members = row.members
        // Here and not in the register, because the client knows of the deletion and lists the row all the same.
        if row.staysListed(in: key.first, context) { members["state"] = .string("live") }
        members["table"] = .string(context.names.text(key.first))
        members["id"] = .string(context.names.text(key.second))
        return .object(members)
    }

    func history(of key: EntityKey, context: RowContext) -> [HistoryEntry]? {
        key.section == .rows ? histories[key] : nil
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
        histories.normalForm(names: names, into: take)
    }

    func facts(keeping kept: Set<UInt64>, names: Names) -> JSONValue { .null }

    mutating func load(facts: JSONValue, names: inout Names) throws {}
}

extension Rows {
    /// Adds a history entry if the row differs. A change may have an effect on the register alone, such as a newer
    /// position of an equal value.
    private mutating func note(
        _ change: RowChange,
        before: SettledRow?,
        after: SettledRow?,
        key: EntityKey,
        in context: inout FoldContext
    ) {
        guard let known = after ?? before else { return }
        var word = "changed"
        var kinds: [String] = []
        switch (before, after) {
        case (nil, _): word = "added"
        case (_, nil): word = "removed"
        case (let before?, let after?):
            if before.isSame(as: after) { return }
            kinds = before.kinds(of: after)
        }
        context.touch(key)
        let entry = HistoryEntry(
            at: context.event,
            change: word,
            remoteTime: change.committedAt,
            kinds: kinds,
            fields: known.members
        )
        histories.add(entry, to: key)
    }
}

extension SettledRow {
    /// The kinds of change from this state of a row to the next, never empty.
    fileprivate func kinds(of next: SettledRow) -> [String] {
        var kinds: [String] = []
        if isSoftDeleted != next.isSoftDeleted { kinds.append(next.isSoftDeleted ? "soft_deleted" : "restored") }
        // `deleted_at` is among them, and its kind is added above.
        let changed = changedColumns(of: next)
        // An opening writes no other column; `updated_at` beside it makes it an update.
        if changed.elementsEqual(["last_opened_at"]) { return ["opened"] }
        if changed.contains("title") { kinds.append("retitled") }
        let hasOthers = changed.contains { !Self.namedColumns.contains($0) }
        return hasOthers || kinds.isEmpty ? kinds + ["updated"] : kinds
    }

    /// The columns whose changes have kinds of their own, or none.
    private static let namedColumns = ["title", "deleted_at", "updated_at", "last_opened_at"]

    /// The columns whose values differ. The columns of both records are sorted by name.
    private func changedColumns(of next: SettledRow) -> [String] {
        var changed: [String] = []
        var (old, new) = (record.members[...], next.record.members[...])
        while let mine = old.first, let theirs = new.first {
            let order = ExactText.order(mine.name, theirs.name)
            if order != 0 || !mine.value.isSameJSON(as: theirs.value) {
                changed.append(order <= 0 ? mine.name : theirs.name)
            }
            if order <= 0 { old.removeFirst() }
            if order >= 0 { new.removeFirst() }
        }
        return changed + old.map(\.name) + new.map(\.name)
    }
}
