import EventLog
import Projections

/// Copies rows of one cache into another with the same tables. Rows are copied as they are; nothing compares them with
/// the log.
///
/// Both are read and written row by row, so memory does not grow with the table.
struct CacheCopy {
    private let cache: SQLiteConnection
    private let target: SQLiteConnection
    private let report: (CacheWork) -> Void

    /// - Parameter metaTable: The table that records which state a cache holds.
    ///
    /// - Throws: `EngineError` if the cache cannot be read, or no longer holds the state that the plan was made for.
    init(
        of base: RebuildPlan.Base,
        metaTable: String,
        to target: SQLiteConnection,
        report: @escaping (CacheWork) -> Void
    ) throws {
        cache = try SQLiteConnection(base.path, .reading, .reading)
        (self.target, self.report) = (target, report)
        // One read transaction, so that all tables are from the same moment even if others write meanwhile.
        try cache.run("BEGIN")
        guard CacheMeta(cache, table: metaTable) == base.meta else {
            throw EngineError("copy the cache \"\(base.path)\": somebody has written to it meanwhile")
        }
    }

    /// Copies the rows that the plan takes from the cache, in the order that the cache stores them.
    ///
    /// - Returns: How many rows were copied; 0 for a table that is made from the log.
    func rows(of step: RebuildPlan.Step) throws -> Int {
        let left: [String]
        switch step.origin {
        case .log: return 0
        case .cache: left = []
        case .both(let sources): left = sources
        }
        let table = step.table
        assert(left.isEmpty || table.sourceColumn != nil, "rows are left out by a column that holds their source")
        let columns = table.columns.map { $0.name.quotedSQL }.joined(separator: ", ")
        var query = "SELECT \(columns) FROM \(table.name.quotedSQL) NOT INDEXED"
        if !left.isEmpty, let source = table.sourceColumn {
            let marks = repeatElement("?", count: left.count).joined(separator: ", ")
            // NULL NOT IN (…) is not true, so rows without a source need a condition of their own.
            query += " WHERE \(source.quotedSQL) IS NULL OR \(source.quotedSQL) NOT IN (\(marks))"
        }
        let selection = try cache.statement(query)
        let insertion = try target.statement(table.insertion)
        try selection.bind(left.map { .text($0) })
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
