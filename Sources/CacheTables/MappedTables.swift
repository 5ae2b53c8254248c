import EventLog
import JSON
package import Projections

/// The tables of a map in one database, with a compiled `INSERT` for each. The connection's thread alone uses it.
final class MappedTables {
    /// One table and its compiled `INSERT`s.
    private struct Target {
        let table: CacheMap.Table
        /// Inserts all columns.
        let insertion: SQLiteStatement
        /// Those that insert NULL into all columns but some.
        var others: [CellBatch.FilledColumns: SQLiteStatement] = [:]
    }

    /// So many `INSERT`s are compiled for a table at most, besides the one of all columns.
    private static let othersMax = 16

    let map: CacheMap
    let connection: SQLiteConnection
    private let maker: RowMaker
    /// One for each table of the map, in its order.
    private var all: [Target]
    /// What the insertions select from.
    private let rows: SQLiteBatchTable
    /// How many rows were inserted into each table, in the map's order. With `conflict: ignore` or `replace`, a table
    /// can have fewer.
    private(set) var counts: [Int]

    /// Checks that the database has the map's tables and columns, and compiles the insertions.
    ///
    /// - Throws: `EngineError` that names the map, line and table where the database lacks one.
    init(_ map: CacheMap, in connection: SQLiteConnection) throws {
        for table in map.tables { try Self.check(table, of: map, in: connection) }
        self.map = map
        self.connection = connection
        let rows = try SQLiteBatchTable(columnCount: map.tables.map(\.columns.count).max() ?? 0, in: connection)
        all = try map.tables.map { table in
            let source = rows.selection(of: table.columns.count)
            return Target(table: table, insertion: try connection.statement(table.insertion(of: source)))
        }
        self.rows = rows
        maker = RowMaker(map.tables)
        counts = map.tables.map { _ in 0 }
    }

    /// Compares names without case, as SQLite does. What no row could be inserted into is found before the first one.
    private static func check(_ table: CacheMap.Table, of map: CacheMap, in connection: SQLiteConnection) throws {
        let columns = try connection.columns(of: table.name)
        guard !columns.isEmpty else { throw map.failure("the schema has no table \"\(table.name)\"", line: table.line) }
        for column in table.columns {
            guard let found = columns.named(column.name) else {
                throw map.failure("table \"\(table.name)\" has no column \"\(column.name)\"", line: column.line)
            }
            if found.isGenerated {
                throw map.failure(
                    "column \"\(column.name)\" of table \"\(table.name)\" is generated, so the database makes its values; "
                        + "leave it out of the map",
                    line: column.line
                )
            }
        }
        let names = Set(table.columns.map { $0.name.lowercased() })
        if let lacking = columns.first(where: { $0.needsValue && !names.contains($0.name.lowercased()) }) {
            throw map.failure(
                "column \"\(lacking.name)\" of table \"\(table.name)\" is NOT NULL and has no DEFAULT, and the map does not "
                    + "fill it; add it to columns, or give it a DEFAULT in the schema",
                line: table.line
            )
        }
    }

    /// The lists of the state that the tables are filled from.
    var lists: [StateList] { maker.lists }

    /// The indexes in the map of the tables that are filled from a list, ascending.
    func targets(of list: MappedList) -> [Int] { maker.tables(of: list).map(\.target) }

    /// Inserts the rows that one row of a list gives into every table filled from that list. The tables may have
    /// triggers.
    ///
    /// - Throws: as `insertAll`.
    func insert(_ row: ListedRow, of list: MappedList) throws {
        let batch = CellBatch()
        for (table, target) in maker.tables(of: list) { table.addRows(of: row, target: target, to: batch) }
        try insert(batch, eachAlone: true)
    }

    /// Inserts all rows of a state, or those that `isWanted` accepts, list by list. The tables must have no triggers yet, and the
    /// file must be one that is thrown away after an error.
    ///
    /// A second thread makes the rows and calls `isWanted`; this thread alone uses the database.
    ///
    /// - Parameter progress: Called every 16,384 rows.
    /// - Throws: `EngineError` that names table and row if a row breaks a rule of the schema: the first such row.
    func insertAll(
        of state: borrowing LogState,
        progress: (_ rows: Int) -> Void = { _ in },
        where isWanted: @escaping @Sendable (ListedRow) -> Bool = { _ in true }
    ) throws {
        var done = 0
        try state.forEachBatch(of: lists, asOf: CacheMeta.asOf(state)) { [maker] list in
            let tables = maker.tables(of: .state(list))
            return { row, batch in
                if !isWanted(row) { return }
                tables.withUnsafeBufferPointer {
                    for (table, target) in $0 { table.addRows(of: row, target: target, to: batch) }
                }
            }
        } _: { (batch: CellBatch) in
            let before = done
            done += try insert(batch, eachAlone: false)
            if before >> 14 != done >> 14 { progress(done) }
        }
    }

    /// Inserts the events of a range into every table that is filled from them, as `insertAll` does. Without such a table
    /// none is read.
    ///
    /// - Throws: as `insertAll`, and `EventLogError` if an event cannot be read.
    func insertEvents(
        of session: borrowing ReadSession,
        in range: ClosedRange<SequenceNumber>,
        progress: (_ rows: Int) -> Void = { _ in }
    ) throws {
        let tables = maker.tables(of: .events)
        if tables.isEmpty { return }
        var (done, bytes) = (0, 0)
        let batch = CellBatch()
        func flush() throws {
            let before = done
            done += try insert(batch, eachAlone: false)
            if before >> 14 != done >> 14 { progress(done) }
            batch.removeAll()
            bytes = 0
        }
        try session.forEachEventRow(in: range) { row, byteCount in
            for (table, target) in tables { table.addRows(of: row, target: target, to: batch) }
            bytes += byteCount
            // Payloads may be large, so that the number of rows alone bounds nothing.
            if batch.isFull || bytes > Self.batchBytesMax { try flush() }
        }
        if !batch.isEmpty { try flush() }
    }

    /// So many bytes of payloads are inserted at once.
    private static let batchBytesMax = 1 << 20

    /// Inserts the rows of a batch and returns how many there were. An error of the schema's rules or of its guard names
    /// the row; other errors of SQLite pass.
    ///
    /// - Parameter eachAlone: Whether each row is inserted by itself, and none after an error. An error then names the
    ///   row also where the table has triggers.
    @discardableResult
    private func insert(_ batch: CellBatch, eachAlone: Bool) throws -> Int {
        var inserted = 0
        var broken: (row: Int, failure: EngineError)?
        try batch.forEachTarget { rowsOfTable in
            let (index, count) = (rowsOfTable.number, rowsOfTable.count)
            let target = all[index]
            let insertion = try insertion(into: index, rowsOfTable.filled)
            // Triggers of the schema may run for each row.
            connection.allow(rows: count)
            var row = rowsOfTable.first
            while row >= 0 {
                try rows.lend(batch, from: row, isAlone: eachAlone) {
                    try insertion.run()
                } failed: { trouble, row, values in
                    assert(values.count == target.table.columns.count, "a row has a value for each column of its table")
                    guard trouble.isConstraint || trouble.isRefusal else { throw trouble }
                    let failure = failure(trouble, target.table, values)
                    if eachAlone || trouble.isRefusal { throw failure }
                    // An earlier row may break a rule of a table that comes later. The file is thrown away in any case.
                    if row < broken?.row ?? .max { broken = (row, failure) }
                }
                row = eachAlone ? batch.withRows { $0.next(after: row) } : -1
            }
            counts[index] += count
            inserted += count
        }
        if let broken { throw broken.failure }
        return inserted
    }

    /// The `INSERT` of rows without a value in the columns that are not filled. SQLite asks the batch for each value by a
    /// call, so that columns without one are better left to NULL in the SQL.
    private func insertion(into index: Int, _ filled: CellBatch.FilledColumns) throws -> SQLiteStatement {
        let target = all[index]
        if let known = target.others[filled] { return known }
        let columns = target.table.columns.indices
        if target.others.count >= Self.othersMax || columns.allSatisfy(filled.contains) { return target.insertion }
        let source = rows.selection(of: columns.count, filled: filled.contains)
        let statement = try connection.statement(target.table.insertion(of: source))
        all[index].others[filled] = statement
        return statement
    }

    /// An error about one row, which its key names, with the line at which the map can be changed.
    private func failure(_ trouble: SQLiteTrouble, _ table: CacheMap.Table, _ values: [SQLiteValue]) -> EngineError {
        let names = table.key.isEmpty ? table.keyColumns.map(\.name) : table.key
        let key = zip(table.columns, values).filter { names.contains($0.0.name) }
            .map { "\($0.0.name) = \($0.1.json.text)" }
        let row = key.isEmpty ? "a row" : "the row with \(key.joined(separator: ", "))"
        let column = trouble.rule.flatMap { table.column(namedIn: $0) }
        let advice = trouble.isConstraint ? "; \(advice(trouble.constraint, column))" : ""
        return map.failure("table \"\(table.name)\": \(row): \(trouble)\(advice)", line: column?.line ?? table.line)
    }

    /// What helps against a broken rule.
    private func advice(_ constraint: SQLiteTrouble.Constraint, _ column: CacheColumn?) -> String {
        let member = column?.paths.first?.name
        switch constraint {
        case .notNull:
            let needs = member.map { ", leave such rows out with needs: [\($0)]" } ?? ""
            return "give the column a default in the map\(needs), or take NOT NULL out of the schema"
        case .check:
            return
                "leave such rows out with where or needs, give the column another value in the map, or change the CHECK"
        case .unique: return "change the map or the schema, or add conflict: replace or conflict: ignore"
        case .type: return "store the member with as: integer or as: text in the map, or change the column's type"
        case .other: return "change the map or the schema"
        }
    }
}

extension CacheMap.Table {
    /// The only column of the map whose name is a word of a rule's text, such as `m.text` or `length(text) > 3`.
    fileprivate func column(namedIn rule: String) -> CacheColumn? {
        let words = rule.lowercased().split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
        let found = columns.filter { words.contains($0.name.lowercased()) && $0.name.lowercased() != name.lowercased() }
        return found.count == 1 ? found.first : nil
    }
}

/// Turns rows of lists into rows of tables. It uses no database, so it can run on another thread.
///
/// Targets are indexes into the map's tables. A batch stores them, so rows of several tables share one batch.
private struct RowMaker: Sendable {
    private let tables: [CacheMap.Table]
    /// The indexes of the tables that each list fills.
    private let targets: [MappedList: [Int]]

    init(_ tables: [CacheMap.Table]) {
        self.tables = tables
        targets = Dictionary(grouping: tables.indices) { tables[$0].list }
    }

    /// The lists that rows are made from.
    var lists: [StateList] { StateList.all.filter { targets[.state($0)] != nil } }

    /// The tables that are filled from a list, with their indexes in the map, ascending.
    func tables(of list: MappedList) -> [(table: CacheMap.Table, target: Int)] {
        (targets[list] ?? []).map { (tables[$0], $0) }
    }
}

/// A column as the database declares it (`PRAGMA table_xinfo`).
struct SQLiteColumn {
    let name: String
    let declaredType: String
    /// The column's place in the primary key, from 1; 0 for a column outside it.
    let keyPlace: Int64
    /// Whether the database makes the values from those of other columns.
    let isGenerated: Bool
    /// Whether each row needs a value that an insertion gives. Keys do not count: SQLite numbers rows by itself.
    let needsValue: Bool

    /// A declared type of the same affinity, for a table of our own. The tests and their order are SQLite's
    /// (datatype3.html, section 3.1). The order of the tests matters: `CHARINT` is an INTEGER.
    var affinity: String {
        let type = declaredType.uppercased()
        if type.contains("INT") { return "INTEGER" }
        if ["CHAR", "CLOB", "TEXT"].contains(where: { type.contains($0) }) { return "TEXT" }
        if type.isEmpty || type.contains("BLOB") { return "BLOB" }
        return ["REAL", "FLOA", "DOUB"].contains { type.contains($0) } ? "REAL" : "NUMERIC"
    }
}

extension SQLiteConnection {
    /// The columns of a table or view; empty where it does not exist.
    func columns(of table: String) throws -> [SQLiteColumn] {
        try rows("PRAGMA table_xinfo(\(table.quotedSQL))").compactMap { row in
            // cid, name, type, notnull, dflt_value, pk, hidden.
            guard row.count >= 7, case .text(let name) = row[1], case .text(let type) = row[2],
                case .integer(let isNotNull) = row[3], case .integer(let place) = row[5],
                case .integer(let hidden) = row[6]
            else { return nil }
            let hasDefault = if case .null = row[4] { false } else { true }
            // 2 and 3 are generated columns, virtual and stored; 1 is hidden in a virtual table.
            return SQLiteColumn(
                name: name,
                declaredType: type,
                keyPlace: place,
                isGenerated: hidden == 2 || hidden == 3,
                needsValue: isNotNull != 0 && !hasDefault && place == 0 && hidden == 0
            )
        }
    }

    /// The columns that identify the rows of a mapped table: those that the map names, else the primary key.
    ///
    /// - Throws: `EngineError` if there is no primary key or the map lacks one of its columns.
    func key(of table: CacheMap.Table, in map: CacheMap) throws -> [String] {
        if !table.key.isEmpty { return table.key }
        let key = try columns(of: table.name).filter { $0.keyPlace > 0 }.sorted { $0.keyPlace < $1.keyPlace }
        let names = key.compactMap { part in
            table.columns.first { $0.name.lowercased() == part.name.lowercased() }?.name
        }
        guard !names.isEmpty, names.count == key.count else {
            throw map.failure(
                "table \"\(table.name)\" has no primary key whose columns are in the map; name some with key",
                line: table.line
            )
        }
        return names
    }
}

extension SQLiteValue {
    /// The value as JSON; bytes in base64.
    package var json: JSONValue {
        switch self {
        case .null: .null
        case .integer(let number): .int(number)
        case .real(let number): JSONValue(real: number)
        case .text(let text): .string(text)
        case .blob(let bytes): .string(Base64.encode(bytes))
        }
    }
}

extension JSONValue {
    /// A number with a fraction. Infinities and NaN, which JSON has no number for, become texts.
    fileprivate init(real number: Double) {
        let parsed = number.isFinite ? try? JSONValue.parse(Array("\(number)".utf8)) : nil
        self = parsed ?? .string("\(number)")
    }
}
