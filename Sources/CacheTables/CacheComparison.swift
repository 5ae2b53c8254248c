package import EventLog
package import Projections

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Compares a cache with what the log gives, table by table.
///
/// Both sides are walked in key order, in linear time and bounded memory. The cache may come from an attacker: only
/// columns of plain tables are read, never indexes, views or functions.
///
/// The log's side is a database, too, so that both sides have the same affinities, conflicts and order.
///
/// The map decides what is compared. Columns and tables that it does not name belong to the app.
package struct CacheComparison {
    /// A row on which the two sides differ.
    package struct Difference {
        /// The raw values are those of the JSON output.
        package enum Change: String {
            /// The log gives the row, the cache lacks it.
            case missing
            /// The cache has the row, the log does not give it.
            case extra
            case different
        }

        /// One column whose values differ. `nil` for the side that lacks the row.
        package struct Field {
            package let column: String
            /// The members that fill the column, as the map names them.
            package let member: String
            package let log: SQLiteValue?
            package let cache: SQLiteValue?
        }

        package let table: String
        /// The key's columns and values, in the key's order.
        package let key: [(column: String, value: SQLiteValue)]
        package let change: Change
        /// The differing columns. Of a row on one side only: its columns outside the key that are not NULL.
        package let fields: [Field]
    }

    let map: CacheMap
    /// A database of our own with the rows that the log gives.
    let log: SQLiteConnection
    let cache: SQLiteConnection

    /// Writes the rows that the log gives into a new file of our own, with the cache's column affinities: a text of
    /// digits in an INTEGER column must become the same number on both sides.
    ///
    /// Cost: writes all mapped rows of the state into the new file.
    ///
    /// - Throws: `EngineError` if the cache lacks a table or column, or is no readable database.
    init(
        of state: borrowing LogState,
        _ map: CacheMap,
        events: EventSource,
        with cache: SQLiteConnection,
        at path: String
    ) throws {
        let log = try SQLiteConnection(path, .building)
        try cache.checkIsReadable()
        for table in map.tables {
            let columns = try cache.checkedColumns(of: table, in: map)
            let key = try cache.key(of: table, in: map).map(\.quotedSQL).joined(separator: ", ")
            // `conflict: ignore` and `replace` need a unique key, which the cache's own SQL may declare elsewhere.
            let constraint = table.conflict == .fail ? "" : ", UNIQUE (\(key))"
            let list = columns.map { "\($0.name.quotedSQL) \($0.affinity)" }.joined(separator: ", ")
            try log.run("CREATE TABLE \(table.name.quotedSQL) (\(list)\(constraint))")
        }
        let tables = try MappedTables(map, in: log)
        try log.transaction {
            try tables.insertAll(of: state)
            try events.insert(through: state.sequence, into: tables)
        }
        self.init(map, log: log, cache: cache)
    }

    /// Compares a state with the cache at a path, using a scratch folder that is removed afterwards; see
    /// `forEachDifference`.
    ///
    /// Memory stays bounded: the log's rows are in a file, and SQLite sorts both sides.
    ///
    /// - Parameter store: The state's log, for tables of its events.
    /// - Throws: `EngineError` if the cache cannot be read.
    package static func compare(
        _ state: borrowing LogState,
        _ map: CacheMap,
        of store: EventStore,
        with path: String,
        _ body: (Difference) throws -> Bool
    ) throws {
        let folder = try ScratchFolder(in: FileManager.default.temporaryDirectory.path)
        try SQLiteConnection.telling("read the cache", path) {
            let cache = try SQLiteConnection(path, .reading, .reading)
            let events = EventSource(store: store, generation: try store.read { $0.generationNumber })
            try CacheComparison(of: state, map, events: events, with: cache, at: folder.path + "/log.sqlite")
                .forEachDifference(body)
        }
    }

    /// Compares two caches that have the tables and columns of a map (`SchemaComparison`).
    ///
    /// - Throws: `EngineError` if the second one lacks a table or column.
    init(comparable map: CacheMap, log: SQLiteConnection, cache: SQLiteConnection) throws {
        try cache.checkIsReadable()
        for table in map.tables { _ = try cache.checkedColumns(of: table, in: map) }
        self.init(map, log: log, cache: cache)
    }

    /// Compares two caches that were filled by the same map.
    private init(_ map: CacheMap, log: SQLiteConnection, cache: SQLiteConnection) {
        (self.map, self.log, self.cache) = (map, log, cache)
    }

    /// Calls `body` with each difference, in the map's table order and by key within a table, until `body` returns
    /// false.
    ///
    /// Cost: reads and sorts all rows of both sides. Each table is one query on each side.
    func forEachDifference(_ body: (Difference) throws -> Bool) throws {
        for table in map.tables {
            let walk = try TableWalk(table, key: cache.key(of: table, in: map), log: log, cache: cache)
            while let difference = try walk.next() {
                guard try body(difference) else { return }
            }
        }
    }
}

/// A merge walk over the rows of one table on both sides, both ordered by the key. It holds one row of each side.
private final class TableWalk {
    private typealias Difference = CacheComparison.Difference

    private let table: CacheMap.Table
    /// The key's columns, as indexes into the map's columns.
    private let key: [Int]
    private let log: SQLiteStatement
    private let cache: SQLiteStatement
    /// The next row of each side; `nil` after the last.
    private var logRow: [SQLiteValue]?
    private var cacheRow: [SQLiteValue]?

    /// Begins both queries. The database sorts, in memory or in temporary files.
    init(_ table: CacheMap.Table, key: [String], log: SQLiteConnection, cache: SQLiteConnection) throws {
        self.table = table
        self.key = key.compactMap { name in table.columns.firstIndex { $0.name == name } }
        let columns = table.columns.map { $0.name.quotedSQL }.joined(separator: ", ")
        let order = key.map { "\($0.quotedSQL) COLLATE BINARY" }.joined(separator: ", ")
        // NOT INDEXED: an index in a damaged file may not agree with its table. BINARY is the order of
        // `SQLiteValue.order`, whatever the columns declare.
        let query = "SELECT \(columns) FROM \(table.name.quotedSQL) NOT INDEXED ORDER BY \(order)"
        (self.log, self.cache) = (try log.statement(query), try cache.statement(query))
        assert(self.key.count == key.count, "the columns of a key are columns of the map")
        // How many rows the cache has is not known. Generated columns of its author may make much of few.
        try cache.allowReadingAll()
        try advanceLog()
        try advanceCache()
    }

    private func advanceLog() throws { logRow = try log.step() ? log.row : nil }
    private func advanceCache() throws { cacheRow = try cache.step() ? cache.row : nil }

    /// The next row on which the sides differ; `nil` after the last.
    func next() throws -> CacheComparison.Difference? {
        while true {
            switch (logRow, cacheRow) {
            case (nil, nil): return nil
            case (let left?, nil): return try missing(left)
            case (nil, let right?): return try extra(right)
            case (let left?, let right?):
                switch order(left, right) {
                case .before: return try missing(left)
                case .after: return try extra(right)
                // Both sides advance before the comparison: a key is never met twice.
                case .same:
                    try advanceLog()
                    try advanceCache()
                    if let difference = different(left, right) { return difference }
                }
            }
        }
    }

    /// A row that only the log has. Advances past it.
    private func missing(_ row: [SQLiteValue]) throws -> CacheComparison.Difference {
        try advanceLog()
        let fields = table.columns.indices.filter { !key.contains($0) }.map { field($0, row[$0], nil) }
        return difference(.missing, row, fields.filter { $0.log?.isNull == false })
    }

    /// A row that only the cache has. Advances past it.
    private func extra(_ row: [SQLiteValue]) throws -> CacheComparison.Difference {
        try advanceCache()
        let fields = table.columns.indices.filter { !key.contains($0) }.map { field($0, nil, row[$0]) }
        return difference(.extra, row, fields.filter { $0.cache?.isNull == false })
    }

    /// The differing columns of two rows with the same key; `nil` if all are the same.
    private func different(_ left: [SQLiteValue], _ right: [SQLiteValue]) -> CacheComparison.Difference? {
        let fields = table.columns.indices.filter { !isSame(left[$0], right[$0], at: $0) }
            .map { field($0, left[$0], right[$0]) }
        return fields.isEmpty ? nil : difference(.different, left, fields)
    }

    /// A difference that names the row by its key.
    private func difference(
        _ change: Difference.Change,
        _ row: [SQLiteValue],
        _ fields: [Difference.Field]
    ) -> CacheComparison.Difference {
        let key = key.map { (column: table.columns[$0].name, value: row[$0]) }
        return CacheComparison.Difference(table: table.name, key: key, change: change, fields: fields)
    }

    private func field(_ index: Int, _ log: SQLiteValue?, _ cache: SQLiteValue?) -> Difference.Field {
        let column = table.columns[index]
        return Difference.Field(column: column.name, member: column.originName, log: log, cache: cache)
    }

    /// The order of two rows by their keys, the first differing column deciding.
    private func order(_ left: [SQLiteValue], _ right: [SQLiteValue]) -> SQLiteValue.Order {
        for index in key {
            let order = left[index].order(beside: right[index])
            if order != .same { return order }
        }
        return .same
    }

    /// Returns true if SQLite orders two values as equal, or if they are the same JSON in another spelling.
    private func isSame(_ left: SQLiteValue, _ right: SQLiteValue, at index: Int) -> Bool {
        if left.isSame(as: right) { return true }
        guard table.columns[index].storage == .json, case (.text(let left), .text(let right)) = (left, right),
            let here = try? JSONValue.parse(Array(left.utf8)), let there = try? JSONValue.parse(Array(right.utf8))
        else { return false }
        return here.canonicalBytes == there.canonicalBytes
    }
}

extension SQLiteValue {
    package var isNull: Bool { if case .null = self { true } else { false } }
}

extension SQLiteConnection {
    /// Reads the file's header by reading its encoding.
    ///
    /// - Throws: `EngineError` if the file is no database or stores texts as UTF-16, which sort in another order.
    fileprivate func checkIsReadable() throws {
        guard case .text(let encoding)? = try rows("PRAGMA encoding").first?.first else { return }
        guard encoding == "UTF-8" else {
            throw EngineError("read the cache \"\(path)\": its texts are \(encoding); only UTF-8 is read")
        }
    }

    /// The columns that the map names, in its order. The table must be a plain one: a view or virtual table would run
    /// SQL or code of its author's choice.
    ///
    /// - Throws: `EngineError` that names the map's line.
    fileprivate func checkedColumns(of table: CacheMap.Table, in map: CacheMap) throws -> [SQLiteColumn] {
        let kinds = try rows(
            "SELECT type, sql FROM sqlite_master WHERE name = ? COLLATE NOCASE AND type IN ('table', 'view')",
            [.text(table.name)]
        )
        guard let kind = kinds.first else {
            throw map.failure("\"\(path)\" has no table \"\(table.name)\"", line: table.line)
        }
        guard case (.text("table")?, .text(let sql)?) = (kind.first, kind.last), sql.isPlainTable else {
            throw map.failure("\"\(table.name)\" in \"\(path)\" is no plain table; name a table", line: table.line)
        }
        let columns = try columns(of: table.name)
        return try table.columns.map { column in
            guard let found = columns.named(column.name) else {
                throw map.failure(
                    "\"\(path)\": table \"\(table.name)\" has no column \"\(column.name)\"",
                    line: column.line
                )
            }
            return found
        }
    }
}
