import Projections

extension CacheMeta {
    /// What the meta table of a cache says; `nil` where it has none, or one of another version.
    init?(_ connection: SQLiteConnection, table: String) {
        guard let rows = try? connection.rows("SELECT name, value FROM \(table.quotedSQL) LIMIT 1000") else {
            return nil
        }
        var values: [String: String] = [:]
        for row in rows {
            if case (.text(let name)?, .text(let value)?) = (row.first, row.last) { values[name] = value }
        }
        self.init(values)
    }

    /// Writes all of it, in the transaction that is under way.
    func write(to connection: SQLiteConnection, table: String) throws {
        let insertion = try connection.statement("INSERT OR REPLACE INTO \(table.quotedSQL) VALUES (?, ?)")
        for (name, value) in values { try insertion.run([.text(name), .text(value)]) }
    }
}
