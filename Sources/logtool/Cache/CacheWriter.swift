import EventLog
import Projections

/// Makes a cache of a state: tables, rows, then what works on the rows.
struct CacheWriter {
    let schema: CacheSchema
    let progress: Progress
    /// The page size that the file must have; `nil` for SQLite's own.
    var pageSize: Int?

    /// How many rows each table has, in the map's order.
    typealias RowCounts = [(table: String, count: Int)]

    /// Fills a new file. Nothing is synced on the way: a half-written file is thrown away.
    ///
    /// The rows are written as the state is walked, so memory does not grow with them.
    func write(_ state: borrowing Workspace, meta: CacheMeta, to path: String) throws -> RowCounts {
        try SQLiteConnection.telling("write the cache", path) {
            let connection = try SQLiteConnection(path, .building, .schema)
            if let pageSize { try connection.run("PRAGMA page_size = \(pageSize)") }
            let later = try connection.runTables(of: schema.script)
            try makeMetaTable(connection)
            let tables = try MappedTables(schema.map, in: connection)
            try connection.transaction {
                progress.begin("writing the rows")
                try tables.insertAll(of: state) { progress.report("wrote \($0) rows", done: $0) }
                progress.begin("making indexes")
                try connection.run(later, of: schema.script, rows: tables.counts.reduce(0, +))
                try meta.write(to: connection, table: schema.map.metaTable)
            }
            try connection.markAsOwn()
            return Array(zip(schema.map.tables.map(\.name), tables.counts)).map { (table: $0.0, count: $0.1) }
        }
    }

    private func makeMetaTable(_ connection: SQLiteConnection) throws {
        let table = schema.map.metaTable.quotedSQL
        do {
            try connection.run("CREATE TABLE IF NOT EXISTS \(table) (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
        } catch let trouble as SQLiteTrouble {
            throw schema.map.failure("table \(table): \(trouble)", line: nil)
        }
    }
}

extension SQLiteConnection {
    /// Runs `body`, and says of SQLite's trouble in it what was being done.
    static func telling<Result>(_ operation: String, _ path: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let trouble as SQLiteTrouble {
            throw Failure("\(operation) \"\(path)\": \(trouble)")
        }
    }

    /// Sets the application id, unless the schema has set one of its own.
    fileprivate func markAsOwn() throws {
        let rows = try rows("PRAGMA application_id")
        guard case .integer(0)? = rows.first?.first else { return }
        try run("PRAGMA application_id = \(CacheSchema.applicationID)")
    }
}
