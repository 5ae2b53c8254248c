import EventLog
import Projections

/// Copies rows of one cache into another with the same tables. Rows are copied as they are; nothing compares them with
/// the log.
///
/// Both are read and written row by row, so memory does not grow with the table.
struct CacheCopy {
    private let cache: SQLiteConnection
    /// One for each step of the plan that takes rows from the cache.
    private let selections: [String: SQLiteStatement]

    /// Opens the cache and compiles the queries of all tables, so that a table that is missing is found before anything is
    /// written.
    ///
    /// - Parameter metaTable: The table that records which state a cache holds.
    ///
    /// - Throws: `UnusableCache` if the cache cannot be read, or no longer holds the state that the plan was made for.
    init(_ plan: RebuildPlan, of base: RebuildPlan.Base, metaTable: String) throws {
        (cache, selections) = try UnusableCache.blaming(base.path) {
            let cache = try SQLiteConnection(base.path, .reading, .reading)
            // One read transaction, so that all tables are from the same moment even if others write meanwhile.
            try cache.run("BEGIN")
            guard CacheMeta(cache, table: metaTable) == base.meta else {
                throw EngineError("copy the cache \"\(base.path)\": somebody has written to it meanwhile")
            }
            var selections: [String: SQLiteStatement] = [:]
            for step in plan.steps {
                guard let selection = step.selection else { continue }
                let statement = try cache.statement(selection.sql)
                try statement.bind(selection.values)
                selections[step.table.name] = statement
            }
            return (cache, selections)
        }
    }

    /// Copies the rows that the plan takes from the cache, in the order that the cache stores them.
    ///
    /// - Returns: How many rows were copied; 0 for a table that is made from the log.
    /// - Throws: `UnusableCache` if the rows cannot be read or break a rule of the new schema.
    func rows(
        of step: RebuildPlan.Step,
        to target: SQLiteConnection,
        report: (CacheWork) -> Void
    ) throws -> Int {
        let table = step.table
        guard let selection = selections[table.name] else { return 0 }
        return try UnusableCache.blaming(cache.path) {
            let insertion = try target.statement(table.insertion)
            // The number of rows is not known before. Generated columns of the cache's author may make much of few.
            try cache.allowReadingAll()
            var count = 0
            while try selection.step() {
                // Generated columns and triggers of the schema may run for the row, and are counted.
                target.allow(rows: 1)
                try insertion.run(selection.row)
                count += 1
                if count & 0xFFFF == 0 { report(.copying((rows: count, table: table.name))) }
            }
            return count
        }
    }
}

/// The previous cache cannot give its rows. The log has everything, so all tables are made from it.
struct UnusableCache: Error {
    let reason: String

    /// Runs `body`, which reads the cache at a path, and blames the cache for its errors. A full disk is not its fault.
    static func blaming<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let trouble as SQLiteTrouble where !trouble.isFullDisk {
            throw UnusableCache(reason: "copy the cache \"\(path)\": \(trouble)")
        } catch let error as EngineError where error.code == .trouble {
            throw UnusableCache(reason: error.description)
        }
    }
}

extension RebuildPlan.Step {
    /// The query of the rows that are copied, and its values; `nil` if all rows come from the log.
    fileprivate var selection: (sql: String, values: [SQLiteValue])? {
        let left: [String]
        switch origin {
        case .log: return nil
        case .cache: left = []
        case .both(let sources): left = sources
        }
        assert(left.isEmpty || table.sourceColumn != nil, "rows are left out by a column that holds their source")
        let columns = table.columns.map { $0.name.quotedSQL }.joined(separator: ", ")
        var query = "SELECT \(columns) FROM \(table.name.quotedSQL) NOT INDEXED"
        if !left.isEmpty, let source = table.sourceColumn {
            let marks = repeatElement("?", count: left.count).joined(separator: ", ")
            // NULL NOT IN (…) is not true, so rows without a source need a condition of their own.
            query += " WHERE \(source.quotedSQL) IS NULL OR \(source.quotedSQL) NOT IN (\(marks))"
        }
        return (query, left.map { .text($0) })
    }
}
