/// How one table of a new cache differs from the table of the same name in the cache that it replaces, apart from the rows
/// that `CacheComparison` finds.
package struct TableChange {
    /// What becomes of the table and its rows.
    package enum Kind {
        /// Only the new cache has the table.
        case new(rows: Int)
        /// Only the old cache has the table.
        case gone(rows: Int)
        /// Both have it, and its rows are not compared.
        case counted(before: Int, after: Int, reason: String)
        /// Both have it, and its rows are compared.
        case compared
    }

    /// A column whose declared type has changed.
    package struct RetypedColumn {
        package let name: String
        package let before: String
        package let after: String
    }

    package let table: String
    package let kind: Kind
    /// The columns that only the new table has, in its order.
    package private(set) var newColumns: [String] = []
    /// The columns that only the old table has, in its order.
    package private(set) var goneColumns: [String] = []
    package private(set) var retypedColumns: [RetypedColumn] = []

    /// A table that one side lacks.
    init(_ table: String, _ kind: Kind) {
        (self.table, self.kind) = (table, kind)
    }

    /// A table with these columns on both sides. Names are compared without case, as SQLite does.
    init(_ table: String, _ kind: Kind, from old: [SQLiteColumn], to new: [SQLiteColumn]) {
        (self.table, self.kind) = (table, kind)
        newColumns = new.filter { old.named($0.name) == nil }.map(\.name)
        goneColumns = old.filter { new.named($0.name) == nil }.map(\.name)
        retypedColumns = new.compactMap { column in
            guard let before = old.named(column.name)?.declaredType, before != column.declaredType else { return nil }
            return RetypedColumn(name: column.name, before: before, after: column.declaredType)
        }
    }

    /// True if the tables are the same apart from their rows.
    package var isEmpty: Bool {
        guard case .compared = kind else { return false }
        return newColumns.isEmpty && goneColumns.isEmpty && retypedColumns.isEmpty
    }
}
