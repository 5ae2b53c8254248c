/// How a change altered a row, as its row of the state document shows it.
struct RowEffect {
    /// A column and its new value; `nil` if the row has none any more.
    struct ColumnChange: Codable {
        let name: String
        let value: StoredJSON?

        /// The same change with a text of its own.
        var detached: ColumnChange { ColumnChange(name: name, value: value?.detached) }
    }

    let wasPresent: Bool
    let wasSoftDeleted: Bool
    var isPresent = false
    var isSoftDeleted = false
    /// The columns whose values differ as JSON.
    var changed = ChangedColumns.none
    /// The columns that are listed as unknown or stale now and were not before, or the other way round.
    var marks = RowMarksChange()
    /// The columns that the change states with their values before, if the row is too large to be shown whole for it
    /// (`RowColumns.replaced`).
    var replaced: [ColumnChange]?
    /// Whether `changed`, `marks` and the marks of a soft deletion are filled.
    var isComparing = true

    init(wasPresent: Bool, wasSoftDeleted: Bool) {
        self.wasPresent = wasPresent
        self.wasSoftDeleted = wasSoftDeleted
    }

    /// Whether the row of the document differs.
    var hasChangedRow: Bool {
        wasPresent != isPresent || isPresent && (!marks.isEmpty || !changed.isEmpty)
    }

    /// Finds what differs between the columns before and after a reset, in place of what was noted.
    mutating func compare(_ before: RowColumns, _ after: RowColumns) {
        marks = RowMarksChange(from: before.marks, to: after.marks)
        var listed: [ColumnChange] = []
        var (old, new) = (before.values[...], after.values[...])
        while old.first != nil || new.first != nil {
            let order = Self.order(old.first, new.first)
            let change = Self.change(order <= 0 ? old.popFirst() : nil, order >= 0 ? new.popFirst() : nil)
            if let change { listed.append(change) }
        }
        changed = .listed(listed)
    }

    /// Less than, equal to or greater than 0 as the first column sorts before, like or after the second; a missing one
    /// sorts last.
    private static func order(_ left: (name: String, value: StoredJSON)?, _ right: (name: String, value: StoredJSON)?)
        -> Int
    {
        guard let left else { return 1 }
        guard let right else { return -1 }
        return ExactText.order(left.name, right.name)
    }

    /// The change of one column; `nil` if it has the same value as before.
    private static func change(
        _ before: (name: String, value: StoredJSON)?,
        _ after: (name: String, value: StoredJSON)?
    ) -> ColumnChange? {
        guard let name = (after ?? before)?.name else { return nil }
        if let before, let after, before.value.isSame(as: after.value) { return nil }
        return ColumnChange(name: name, value: after?.value)
    }
}
