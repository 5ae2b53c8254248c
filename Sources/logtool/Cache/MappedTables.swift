import Dispatch
import EventLog
import Projections
import Synchronization

/// The tables of a map in one database, ready to be filled.
final class MappedTables {
    /// One table, with what is needed to write to it.
    private struct Target {
        let table: CacheMap.Table
        let insertion: SQLiteStatement
    }

    let map: CacheMap
    let connection: SQLiteConnection
    private let targets: [StateList: [Int]]
    private let members: [StateList: [String]]
    private let all: [Target]
    /// How many rows each table got, in the map's order.
    private(set) var counts: [Int]

    /// Looks the tables and columns of a map up.
    ///
    /// - Throws: `Failure` that names the map, line and table where the database lacks one.
    init(_ map: CacheMap, in connection: SQLiteConnection) throws {
        for table in map.tables { try Self.check(table, of: map, in: connection) }
        self.map = map
        self.connection = connection
        all = try map.tables.map { Target(table: $0, insertion: try connection.statement($0.insertion)) }
        targets = Dictionary(grouping: map.tables.indices) { map.tables[$0].list }
        members = targets.reduce(into: [:]) { $0[$1.key] = $1.key.members }
        counts = map.tables.map { _ in 0 }
    }

    private static func check(_ table: CacheMap.Table, of map: CacheMap, in connection: SQLiteConnection) throws {
        let names = Set(try connection.columns(of: table.name).map { $0.name.lowercased() })
        guard !names.isEmpty else { throw map.failure("the schema has no table \"\(table.name)\"", line: table.line) }
        for column in table.columns where !names.contains(column.name.lowercased()) {
            throw map.failure("table \"\(table.name)\" has no column \"\(column.name)\"", line: column.line)
        }
    }

    /// The lists that the tables are filled from.
    var lists: [StateList] { StateList.all.filter { targets[$0] != nil } }

    /// The tables that are filled from a list.
    func tables(of list: StateList) -> [CacheMap.Table] { (targets[list] ?? []).map { all[$0].table } }

    /// Writes what a row of a list gives to each table that is filled from the list.
    func insert(_ row: JSONValue, of list: StateList) throws {
        try forEachMadeRow(of: row, list) { try insert($0) }
    }

    /// Writes all rows of a state, or those that are wanted. They are made here while others are written on another thread.
    func insertAll(
        of state: borrowing Workspace,
        progress: (_ rows: Int) -> Void = { _ in },
        where isWanted: (JSONValue) -> Bool = { _ in true }
    ) throws {
        let asOf = CacheMeta.asOf(state)
        var done = 0
        let queue = InsertionQueue(self)
        defer { queue.wait() }
        for list in lists {
            try state.forEachRow(of: list, asOf: asOf) { row in
                guard isWanted(row) else { return }
                try forEachMadeRow(of: row, list) { try queue.add($0) }
                done += 1
                if done & 0x3FFF == 0 { progress(done) }
            }
        }
        try queue.finish()
    }

    private func forEachMadeRow(of row: JSONValue, _ list: StateList, _ body: (MadeRow) throws -> Void) rethrows {
        let row = MappedRow(row, members: members[list] ?? [])
        for index in targets[list] ?? [] {
            try all[index].table.forEachRow(of: row) { try body(MadeRow(target: index, values: $0)) }
        }
    }

    fileprivate func insert(_ row: MadeRow) throws {
        let target = all[row.target]
        do {
            connection.allow(rows: 1)
            try target.insertion.run(row.values)
        } catch let trouble as SQLiteTrouble where trouble.isConstraint || trouble.isRefusal {
            throw failure(trouble, target.table, row.values)
        }
        counts[row.target] += 1
    }

    private func failure(_ trouble: SQLiteTrouble, _ table: CacheMap.Table, _ values: [SQLiteValue]) -> Failure {
        let key = zip(table.columns, values).filter { table.key.contains($0.0.name) }
            .map { "\($0.0.name) = \($0.1.json.text)" }
        let row = key.isEmpty ? "a row" : "the row with \(key.joined(separator: ", "))"
        let advice = trouble.isConstraint ? "; change the map or the schema, or add conflict: replace" : ""
        return map.failure("table \"\(table.name)\": \(row): \(trouble)\(advice)", line: table.line)
    }
}

/// A row as it is bound, and the place of its table among the tables.
private struct MadeRow: Sendable {
    let target: Int
    let values: [SQLiteValue]
}

/// Inserts rows on a thread of its own, in the order in which they come, while others are made.
///
/// Unchecked: from the first row to the end of `wait`, only blocks of the serial queue touch the tables and their connection.
private final class InsertionQueue: @unchecked Sendable {
    private static let batchRows = 256
    private static let batchCountMax = 4

    private let tables: MappedTables
    private var batch: [MadeRow] = []
    private let queue = DispatchQueue(label: "eventlog.insert")
    private let room = DispatchSemaphore(value: batchCountMax)
    private let failure = Mutex<(any Error)?>(nil)

    init(_ tables: MappedTables) {
        self.tables = tables
    }

    /// Hands a row over; waits while too many are not inserted yet.
    ///
    /// - Throws: why an earlier row could not be inserted.
    func add(_ row: MadeRow) throws {
        batch.append(row)
        if batch.count == Self.batchRows { try handOver() }
    }

    /// Waits for all rows.
    ///
    /// - Throws: as `add`.
    func finish() throws {
        try handOver()
        wait()
        try throwFailure()
    }

    /// Waits for the rows that were handed over.
    func wait() {
        queue.sync {}
    }

    private func handOver() throws {
        room.wait()
        let rows = batch
        batch = []
        batch.reserveCapacity(Self.batchRows)
        queue.async { [self] in
            insert(rows)
            room.signal()
        }
        try throwFailure()
    }

    private func insert(_ rows: [MadeRow]) {
        guard failure.withLock({ $0 == nil }) else { return }
        do {
            for row in rows { try tables.insert(row) }
        } catch {
            failure.withLock { $0 = error }
        }
    }

    private func throwFailure() throws {
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}

/// A column as a database has it.
struct SQLiteColumn {
    let name: String
    let declaredType: String
    /// The place in the primary key, from 1; 0 for none.
    let keyPlace: Int64

    /// The type that gives values the same affinity (datatype3.html, section 3.1), in a table of our own.
    var affinity: String {
        let type = declaredType.uppercased()
        if type.contains("INT") { return "INTEGER" }
        if ["CHAR", "CLOB", "TEXT"].contains(where: { type.contains($0) }) { return "TEXT" }
        if type.isEmpty || type.contains("BLOB") { return "BLOB" }
        return ["REAL", "FLOA", "DOUB"].contains { type.contains($0) } ? "REAL" : "NUMERIC"
    }
}

extension SQLiteConnection {
    /// The columns of a table or view; none where there is no such thing.
    func columns(of table: String) throws -> [SQLiteColumn] {
        try rows("PRAGMA table_xinfo(\(table.quotedSQL))").compactMap { row in
            guard row.count >= 6, case .text(let name) = row[1], case .text(let type) = row[2],
                case .integer(let place) = row[5]
            else { return nil }
            return SQLiteColumn(name: name, declaredType: type, keyPlace: place)
        }
    }

    /// The columns that tell the rows of a mapped table from each other: those that the map names, else the primary key.
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
    var json: JSONValue {
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
    /// A number with a fraction; what JSON has no number for is a text.
    fileprivate init(real number: Double) {
        let parsed = number.isFinite ? try? JSONValue.parse(Array("\(number)".utf8)) : nil
        self = parsed ?? .string("\(number)")
    }
}
