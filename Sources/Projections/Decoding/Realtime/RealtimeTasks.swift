import EventLog

/// Reads the rows of `tasks`: each is an item.
///
/// The list is `project_id`, else `group_id`, else `inbox`. The status `completed` means done. A task with the status
/// `trashed` or with `deleted_at` is gone.
///
/// The items' fold has no versions; this type keeps the rows and gives it each item's settled state.
struct RealtimeTasks: Codable, Sendable {
    fileprivate struct Task {
        var register = RowRegister()
        /// The list that holds the item; `nil` while there is none.
        var list: EntityID?
        /// The columns that no field of an item has, except null ones. Derived from `register`.
        var columns = SharedColumns()
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
        let tellsWhole = !task.register.isLarge(for: change)
        guard task.register.apply(change, at: sequence, comparing: false, &context.relations) != nil else { return }
        task.updateColumns(change)
        let (before, home) = (task.list, task.home)
        task.list = home.map { context.names.id($0.list) }
        if let before, before != task.list {
            changes.append(.item(.removed(list: before, id: change.id, tellsWhole: tellsWhole)))
        }
        if let home, let list = task.list {
            let item = task.item(change.id, besides: home.column)
            changes.append(.item(.stated(list: list, item: item, tellsWhole: tellsWhole)))
        }
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

extension RealtimeTasks.Task {
    private static let fieldNames: Set<String> = ["id", "title", "status", "created_at"]

    /// Brings the columns to the register after a change. Cost: O(k log n) for the k columns that an UPDATE states, of n; else
    /// O(n).
    fileprivate mutating func updateColumns(_ change: RowChange) {
        guard change.operation == .update else { return findColumns() }
        // An older value of a column that the change states has no effect, so the register is asked.
        for name in change.record.shape.names where !Self.fieldNames.contains(name) {
            columns[name] = register.text(of: name).flatMap { $0.isNull ? nil : $0 }
        }
    }

    private mutating func findColumns() {
        let values = register.values.filter { !$0.value.isNull && !Self.fieldNames.contains($0.name) }
        columns = SharedColumns(
            sorted: values.map { SharedColumns.Column(name: $0.name, value: $0.value.detached) }
        )
    }

    /// The name of the task's list, and the column that gives it, `nil` for the inbox; `nil` if the row is no item: it does not
    /// exist, or is deleted or trashed.
    fileprivate var home: (list: String, column: String?)? {
        if !register.isPresent || register.isSoftDeleted || text("status") == "trashed" { return nil }
        for column in ["project_id", "group_id"] {
            if let name = text(column) { return (name, column) }
        }
        return ("inbox", nil)
    }

    /// The item that the row of the task states. Columns that no field has are in `extra`, except null ones and the one that
    /// names the list.
    fileprivate func item(_ id: EntityID, besides home: String?) -> ItemFields {
        var columns = columns
        if let home { columns[home] = nil }
        let status = text("status")
        return ItemFields(
            id: id,
            text: text("title"),
            done: status == "completed",
            status: status,
            created: text("created_at"),
            .columns(columns)
        )
    }

    /// The value of a column that is a string.
    private func text(_ name: String) -> String? { register.text(of: name)?.string }
}

extension RealtimeTasks.Task: Codable {
    private enum CodingKeys: CodingKey { case register, list }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        register = try container.decode(RowRegister.self, forKey: .register)
        list = try container.decodeIfPresent(EntityID.self, forKey: .list)
        findColumns()
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(register, forKey: .register)
        try container.encodeIfPresent(list, forKey: .list)
    }
}
