import Projections

extension CacheMeta {
    /// Reads a cache's meta table; `nil` if it is missing or of another version. An app's table of the same name may be
    /// large, hence the limit.
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

    /// Writes all rows. The caller holds the transaction, so that they change together with the cache's rows (I30).
    func write(to connection: SQLiteConnection, table: String) throws {
        let insertion = try connection.statement("INSERT OR REPLACE INTO \(table.quotedSQL) VALUES (?, ?)")
        for (name, value) in values { try insertion.run([.text(name), .text(value)]) }
    }
}
