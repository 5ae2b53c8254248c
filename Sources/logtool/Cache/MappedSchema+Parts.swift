import EventLog
import Projections

extension MappedSchema {
    /// The hash of each table's SQL and map, by table name.
    ///
    /// Tables whose rows the schema changes itself, by a later statement or a trigger, are left out: their rows are not
    /// what the log gives.
    ///
    /// Cost: runs the schema in an empty database in memory.
    func tableHashes() throws -> [String: String] {
        let connection = try SQLiteConnection(":memory:", .building, .schema)
        guard let sqlGuard = connection.sqlGuard else { return [:] }
        let later = try connection.runTables(of: script)
        sqlGuard.forgetWrites()
        try connection.run(later, of: script, rows: 0)
        var changed = sqlGuard.written
        for table in map.tables {
            sqlGuard.forgetWrites()
            // Compiling an insertion or deletion compiles the triggers that it would fire.
            _ = try connection.statement(table.insertion)
            _ = try connection.statement("DELETE FROM \(table.name.quotedSQL)")
            changed.formUnion(sqlGuard.writtenByTriggers)
        }
        var hashes: [String: String] = [:]
        for table in map.tables where !changed.contains(table.name.lowercased()) {
            hashes[table.name] = try hash(of: table, in: connection)
        }
        return hashes
    }

    /// The hash of a table's stored SQL and map; `nil` if the schema does not make the table.
    private func hash(of table: CacheMap.Table, in connection: SQLiteConnection) throws -> String? {
        let rows = try connection.rows(
            "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE",
            [.text(table.name)]
        )
        guard case .text(let sql)? = rows.first?.first else { return nil }
        let parts = ["\(Self.mappingVersion)", sql] + table.identity
        return Hasher256.hash(parts.flatMap { Array($0.utf8) + [0] }).hex
    }
}
