import GRDB
import Projections

/// Fills an empty SQLite database with a state document.
struct CacheWriter {
    /// How many rows each table got, in the schema's order.
    private(set) var rowCounts: [(table: String, count: Int)] = []

    /// Writes the whole document into a new database. Nothing is synced on the way: a half-written file is thrown away.
    static func write(_ document: JSONValue, meta: [(name: String, value: String)], to path: String) throws
        -> CacheWriter
    {
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        var writer = CacheWriter()
        try queue.write { database in
            try writer.fill(database, with: document, meta: meta)
        }
        try queue.close()
        return writer
    }

    private mutating func fill(
        _ database: Database,
        with document: JSONValue,
        meta: [(name: String, value: String)]
    ) throws {
        try database.execute(
            sql: """
                PRAGMA application_id = \(CacheSchema.applicationID);
                PRAGMA user_version = \(CacheSchema.version);
                CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
                """
        )
        for entry in meta {
            try database.execute(sql: "INSERT INTO meta VALUES (?, ?)", arguments: [entry.name, entry.value])
        }
        for table in CacheSchema.tables {
            try database.execute(sql: table.creation)
            rowCounts.append((table.name, try Self.fill(table, of: database, with: document)))
            // Built after the rows: an index kept up while loading costs far more.
            for creation in table.indexCreations { try database.execute(sql: creation) }
        }
    }

    private static func fill(_ table: CacheTable, of database: Database, with document: JSONValue) throws -> Int {
        let insertion = try database.makeStatement(sql: table.insertion)
        var count = 0
        for (place, row) in (document[table.section]?.array ?? []).enumerated() where table.wants(row) {
            var values: [DatabaseValue] = table.columns.map { $0.value(in: row) }
            values.append(place.databaseValue)
            try insertion.execute(arguments: StatementArguments(values))
            count += 1
        }
        return count
    }
}

extension CacheTable {
    /// Whether a row of the section has what the table's key needs.
    fileprivate func wants(_ row: JSONValue) -> Bool {
        columns.prefix(keyCount + 1).allSatisfy { $0.path.count == 1 || !$0.value(in: row).isNull }
    }
}

extension CacheTable.Column {
    /// The value of a row's member; NULL where it is absent.
    fileprivate func value(in row: JSONValue) -> DatabaseValue {
        guard let value = path.reduce(row, { $0?[$1] }) else { return .null }
        switch value {
        case .null: return storage == .json ? "null".databaseValue : .null
        case .bool(let truth): return truth.databaseValue
        case .number(let number): return number.int64?.databaseValue ?? number.text.databaseValue
        case .string(let text):
            if storage == .number, let number = Int64(text) { return number.databaseValue }
            return storage == .json ? value.text.databaseValue : text.databaseValue
        case .array, .object: return value.text.databaseValue
        }
    }
}
