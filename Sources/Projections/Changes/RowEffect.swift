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
    /// The columns whose values differ as JSON, in the order of their names' UTF-8 bytes.
    var changed: [ColumnChange] = []
    /// Whether a column is listed as unknown or stale now and was not before, or the other way round.
    var hasNewMarks = false
    /// Whether `changed`, `hasNewMarks` and the marks of a soft deletion are filled.
    var isComparing = true

    init(wasPresent: Bool, wasSoftDeleted: Bool) {
        self.wasPresent = wasPresent
        self.wasSoftDeleted = wasSoftDeleted
    }

    /// Whether the row of the document differs.
    var hasChangedRow: Bool {
        wasPresent != isPresent || isPresent && (hasNewMarks || !changed.isEmpty)
    }

    /// Finds what differs between the columns before and after a reset, in place of what was noted.
    mutating func compare(_ before: RowColumns, _ after: RowColumns) {
        hasNewMarks = before.marks != after.marks
        changed = []
        var (old, new) = (before.values[...], after.values[...])
        while old.first != nil || new.first != nil {
            let order = Self.order(old.first, new.first)
            note(order <= 0 ? old.popFirst() : nil, order >= 0 ? new.popFirst() : nil)
        }
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

    private mutating func note(
        _ before: (name: String, value: StoredJSON)?,
        _ after: (name: String, value: StoredJSON)?
    ) {
        guard let name = (after ?? before)?.name else { return }
        if let before, let after, before.value.isSame(as: after.value) { return }
        changed.append(ColumnChange(name: name, value: after?.value))
    }
}
