import EventLog

/// Reads the rows of `tasks`: each is an item.
///
/// The list is `project_id`, else `group_id`, else `inbox`. The status `completed` means done. A task with the status
/// `trashed` or with `deleted_at` is gone.
///
/// The items' fold has no versions; this type keeps the rows and gives it each item's settled state.
struct RealtimeTasks: Codable, Sendable {
    private struct Task: Codable {
        var register = RowRegister()
        /// The list that holds the item; `nil` while there is none.
        var list: EntityID?
    }

    /// By the row's id. Tasks that are gone stay, since a late change may bring them back.
    private var tasks: [EntityID: Task] = [:]

    /// Adds the changes that a row change makes to the task's current state.
    mutating func apply(_ change: RowChange, into changes: inout [Change], context: inout FoldContext) {
        // The task changes where it is stored, without a copy.
        Self.apply(change, to: &tasks[change.id, default: Task()], into: &changes, context: &context)
        if tasks[change.id]?.register.isKnown == false { tasks[change.id] = nil }
    }

    private static func apply(
        _ change: RowChange,
        to task: inout Task,
        into changes: inout [Change],
        context: inout FoldContext
    ) {
        let sequence = context.event.sequence.rawValue
        guard task.register.apply(change, at: sequence, comparing: false, &context.relations) != nil else { return }
        let (before, row) = (task.list, task.register.settled.flatMap { $0.isTask ? $0 : nil })
        task.list = row.map { context.names.id($0.taskList.name) }
        if let before, before != task.list { changes.append(.item(.removed(list: before, id: change.id))) }
        if let row, let list = task.list { changes.append(.item(.stated(list: list, item: row.item(change.id)))) }
    }

    /// Every change that had an effect is needed to build the registers again.
    func collectNeeded(into sequences: inout SequenceSet) {
        for task in tasks.values { sequences.formUnion(task.register.changedAt) }
    }

    func normalForm(names: Names, into take: (JSONValue) -> Void) {
        for id in tasks.keys.sorted(by: { names.precedes($0, $1) }) {
            take(.array([.string("task"), .string(names.text(id)), tasks[id]?.register.normalForm() ?? .null]))
        }
    }
}

extension SettledRow {
    private static let memberNames: Set<String> = ["id", "title", "status", "created_at"]

    /// Whether the row of a task is an item: not deleted, not trashed.
    fileprivate var isTask: Bool { !isSoftDeleted && record["status"]?.string != "trashed" }

    /// The name of a task's list, and the column that gives it; the column is `nil` for the inbox.
    fileprivate var taskList: (name: String, column: String?) {
        for column in ["project_id", "group_id"] {
            if let name = record[column]?.string { return (name, column) }
        }
        return ("inbox", nil)
    }

    /// The item that the row of a task states. Columns that no field has are in `extra`, except null ones and the one
    /// that names the list.
    fileprivate func item(_ id: EntityID) -> ItemFields {
        let home = taskList.column
        var extra = JSONObject()
        for member in record.members where !member.value.isNull && !Self.memberNames.contains(member.name) {
            if member.name != home { extra[member.name] = member.value }
        }
        let status = record["status"]?.string
        return ItemFields(
            id: id,
            text: record["title"]?.string,
            done: status == "completed",
            status: status,
            created: record["created_at"]?.string,
            extra: extra
        )
    }
}
