import Projections

/// Which table and column of a cache takes which member of the state (`docs/cache.md`).
struct CacheMap: Sendable {
    /// One table.
    struct Table: Sendable {
        let name: String
        /// The list that the rows come from.
        let list: StateList
        /// Members that are lists themselves, the outer one first: a row for each element, which then is in the list's place.
        let each: [MemberPath]
        let columns: [CacheColumn]
        /// The columns that tell rows from each other; empty where the schema's own key does.
        let key: [String]
        /// Only rows whose members have these values; `nil` for a member that has to be there.
        let conditions: [(path: MemberPath, value: String?)]
        let conflict: Conflict
        let line: Int
    }

    /// What becomes of a row that has the key of another one.
    enum Conflict: String, CaseIterable, Sendable {
        case fail, ignore, replace
    }

    /// The file's name, for people.
    let name: String
    let tables: [Table]
    /// The table that says which log and which sequence the cache is of.
    let metaTable: String

    func failure(_ reason: String, line: Int?) -> Failure {
        Failure("read map \"\(name)\": \(line.map { "line \($0): " } ?? "")\(reason)")
    }
}

extension CacheMap.Table {
    /// `INSERT` with a `?` for each column.
    var insertion: String {
        let names = columns.map { $0.name.quotedSQL }.joined(separator: ", ")
        let marks = repeatElement("?", count: columns.count).joined(separator: ", ")
        let way =
            switch conflict {
            case .fail: "INSERT"
            case .ignore: "INSERT OR IGNORE"
            case .replace: "INSERT OR REPLACE"
            }
        return "\(way) INTO \(name.quotedSQL) (\(names)) VALUES (\(marks))"
    }

    /// Lends the values of each row that a row of the list gives.
    func forEachRow(of row: MappedRow, _ body: ([SQLiteValue]) throws -> Void) rethrows {
        try forEachElement(of: row, at: each[...], body)
    }

    private func forEachElement(
        of row: MappedRow,
        at lists: ArraySlice<MemberPath>,
        _ body: ([SQLiteValue]) throws -> Void
    ) rethrows {
        guard let path = lists.first else {
            if isWanted(row) { try body(columns.map { $0.value(in: row) }) }
            return
        }
        for (number, element) in (row[path]?.array ?? []).enumerated() {
            var one = row
            one.replace(path, by: element, number: number)
            try forEachElement(of: one, at: lists.dropFirst(), body)
        }
    }

    private func isWanted(_ row: MappedRow) -> Bool {
        conditions.allSatisfy { condition in
            guard let value = row[condition.path], !value.isNull else { return false }
            guard let wanted = condition.value else { return true }
            return (value.string ?? value.text) == wanted
        }
    }
}

extension String {
    /// The name in SQL, whatever it holds.
    var quotedSQL: String {
        "\"" + split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
