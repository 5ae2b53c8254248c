import EventLog
import Projections

/// Makes a cache of a state: tables first, then rows, then indexes and triggers, so that no row updates an index or
/// fires a trigger.
struct CacheWriter {
    let schema: MappedSchema
    let report: (CacheWork) -> Void
    /// The page size that the file must have; `nil` if the schema may choose.
    var pageSize: Int?
    /// The log, for tables of its events; `nil` if the map has none.
    var events: EventSource?
    /// The page size of a file whose schema names none. Rows and indexes are written in order, so that larger pages than
    /// SQLite's 4 KiB make fewer calls of the system and lower trees.
    private static let usualPageSize = 16_384

    /// How many rows each table has, in the map's order.
    typealias RowCounts = [(table: String, count: Int)]

    /// Fills a new file. Nothing is synced or journalled, because a half-written file is thrown away.
    ///
    /// Rows are written while the state is walked, so memory does not grow with their number.
    ///
    /// - Parameters:
    ///   - plan: Which rows are copied from another cache of the same state instead.
    ///   - copy: The other cache, if the plan has one.
    /// - Returns: The rows of each table.
    /// - Throws: `EngineError` that names the file, or the schema's line; `UnusableCache`; `EventLogError` if an event cannot
    ///   be read.
    func write(
        _ state: borrowing LogState,
        meta: CacheMeta,
        to path: String,
        by plan: RebuildPlan,
        copying copy: CacheCopy? = nil
    ) throws -> RowCounts {
        try SQLiteConnection.telling("write the cache", path) {
            let connection = try SQLiteConnection(path, .building, .schema)
            // Takes effect only before the first table is made. A schema's own page size comes later.
            try connection.run("PRAGMA page_size = \(pageSize ?? Self.usualPageSize)")
            let later = try connection.runTables(of: schema.scripts)
            try makeMetaTable(connection)
            return try connection.transaction {
                let counts = try writeRows(of: state, by: plan, copy, connection)
                report(.indexing)
                try connection.run(later, rows: counts.reduce(0) { $0 + $1.count })
                try meta.write(to: connection, table: schema.map.metaTable)
                if let files = schema.files {
                    try CacheOrigin.write(files, to: connection, table: schema.map.metaTable)
                }
                try connection.markAsOwn()
                return counts
            }
        }
    }

    /// Writes rows from the log, rows of renewed sources, then copies the others. The order of tables means nothing,
    /// because foreign keys are not enforced while a cache is built.
    private func writeRows(
        of state: borrowing LogState,
        by plan: RebuildPlan,
        _ copy: CacheCopy?,
        _ connection: SQLiteConnection
    ) throws -> RowCounts {
        assert(plan.steps.count == schema.map.tables.count, "a plan has a step for each table")
        report(.writing(rows: 0))
        let made = try MappedTables(schema.map.only(plan.tables { $0 == .log }), in: connection)
        try made.insertAll(of: state) { report(.writing(rows: $0)) }
        try events?.insert(through: state.sequence, into: made) { report(.writing(rows: $0)) }
        let renewed = plan.renewedSources
        let both = try MappedTables(schema.map.only(plan.tables { $0 != .log && $0 != .cache }), in: connection)
        try both.insertAll(of: state) {
            report(.writing(rows: $0))
        } where: { row in
            row.source.map { renewed.contains($0) } ?? false
        }
        var counts = Dictionary(uniqueKeysWithValues: zip(made.map.tables.map(\.name), made.counts))
        for (table, count) in zip(both.map.tables, both.counts) { counts[table.name] = count }
        if let copy {
            report(.copying(nil))
            for step in plan.steps {
                counts[step.table.name, default: 0] += try copy.rows(of: step, to: connection, report: report)
            }
        }
        return schema.map.tables.map { (table: $0.name, count: counts[$0.name] ?? 0) }
    }

    /// Makes the table of sequence and digest, unless the schema has made it.
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
    /// Runs `body` and turns an error of SQLite into a `EngineError` that names the operation and the file. Other errors
    /// pass.
    static func telling<Result>(_ operation: String, _ path: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let trouble as SQLiteTrouble {
            throw EngineError("\(operation) \"\(path)\": \(trouble)")
        }
    }

    /// Sets the application id, unless the schema has set one of its own.
    fileprivate func markAsOwn() throws {
        let rows = try rows("PRAGMA application_id")
        guard case .integer(0)? = rows.first?.first else { return }
        try run("PRAGMA application_id = \(MappedSchema.applicationID)")
    }
}
