import EventLog

/// Reads the rows of `tasks`: each is an item.
///
/// The list is `project_id`, else `group_id`, else `inbox`. The status `completed` means done. A task with the status
/// `trashed` or with `deleted_at` is gone.
struct RealtimeTasks: Codable, Sendable {
    private struct Task: Codable {
        var list: String
        var item: ItemFields
    }

    private var registers: [EntityID: RowRegister] = [:]

    /// Adds the changes that a row change makes to the task's current state.
    mutating func apply(_ change: RowChange, into changes: inout [Change], context: inout FoldContext) {
        var register = registers.removeValue(forKey: change.id) ?? RowRegister()
        let before = Self.task(register.settled, id: change.id)
        let isEffective = register.apply(change, at: context.event.sequence.rawValue)
        let after = Self.task(register.settled, id: change.id)
        if !register.changedAt.isEmpty { registers[change.id] = register }
        guard isEffective else { return }
        if let before, !Sameness.areSame(before.list, after?.list) {
            changes.append(.item(.removed(list: context.names.id(before.list), id: change.id)))
        }
        if let after { changes.append(.item(.stated(list: context.names.id(after.list), item: after.item))) }
    }

    func collectNeeded(into sequences: inout Set<UInt64>) {
        for register in registers.values { sequences.formUnion(register.changedAt) }
    }

    func snapshot(names: Names, into take: (JSONValue) -> Void) {
        for id in registers.keys.sorted(by: { names.precedes($0, $1) }) {
            take(.array([.string("task"), .string(names.text(id)), registers[id]?.snapshot() ?? .null]))
        }
    }

    private static func task(_ row: SettledRow?, id: EntityID) -> Task? {
        guard let row, !row.isSoftDeleted, row.record["status"]?.string != "trashed" else { return nil }
        let home = ["project_id", "group_id"].first { row.record[$0]?.string != nil }
        var extra = JSONObject()
        for member in row.record.members where !member.value.isNull && !memberNames.contains(member.name) {
            if member.name != home { extra[member.name] = member.value }
        }
        let status = row.record["status"]?.string
        let item = ItemFields(
            id: id,
            text: row.record["title"]?.string,
            done: status == "completed",
            status: status,
            created: row.record["created_at"]?.string,
            extra: extra
        )
        return Task(list: home.flatMap { row.record[$0]?.string } ?? "inbox", item: item)
    }

    private static let memberNames: Set<String> = ["id", "title", "status", "created_at"]
}
