import EventLog
import Projections

/// A cache's schema: SQL, and the map that says what goes into its tables.
///
/// Only read, not run: SQL is compiled and checked where it is used. An app's schema may come from elsewhere (I30).
public struct MappedSchema: Sendable {
    /// The files of an app's schema, as the caller named them.
    struct Files {
        let schema: String
        let map: String
    }

    /// The SQL: the schema's own, and that of the table of events.
    let scripts: [SQLScript]
    package let map: CacheMap
    /// `nil` for the program's own schema.
    let files: Files?

    /// Identifies the schema: the hash of its SQL, its map, its values and `mappingVersion`, in hex. Any change of a
    /// file gives another hash, comments included.
    package let hash: String

    /// Stored as `application_id` ("ELog"); marks a cache that a rebuild made.
    static let applicationID: UInt32 = 0x454C_6F67
    /// The version of the rules that turn members into values; part of every schema's hash. Raise it when the same map
    /// gives other values for the same rows: copied rows would be of the old rules.
    static let mappingVersion = 1

    /// The program's own cache. Parsed at each use like any other map, so that both take one way.
    public static func own() throws -> MappedSchema {
        try MappedSchema(sql: OwnSchema.sql, name: "the own schema", map: OwnSchema.map, name: "the own map")
    }

    /// The schema with a table `events` besides: the log's events with their payloads as JSON.
    ///
    /// - Throws: `EngineError` if the schema's map has a table of this name.
    public func withEvents() throws -> MappedSchema {
        let events = try CacheMapReader(name: "the map of events").read(OwnSchema.eventsMap)
        let names = Set(events.tables.map { $0.name.lowercased() })
        if let taken = map.tables.first(where: { names.contains($0.name.lowercased()) }) {
            throw map.failure(
                "table \"\(taken.name)\" has the name of the events' table; leave one of the two out",
                line: taken.line
            )
        }
        let parts = [hash, OwnSchema.eventsSQL, OwnSchema.eventsMap]
        return MappedSchema(
            // Last: an app may set the page size, which must come before any table.
            scripts: scripts + [SQLScript(name: "the schema of events", text: OwnSchema.eventsSQL)],
            map: CacheMap(name: map.name, tables: map.tables + events.tables, metaTable: map.metaTable),
            files: files,
            hash: Hasher256.hash(parts.flatMap { Array($0.utf8) + [0] }).hex
        )
    }

    private init(scripts: [SQLScript], map: CacheMap, files: Files?, hash: String) {
        (self.scripts, self.map, self.files, self.hash) = (scripts, map, files, hash)
    }

    /// Reads an app's schema from its two files.
    ///
    /// - Throws: `EngineError` if a file cannot be read or the map has a mistake.
    public static func app(
        sql path: String,
        map mapPath: String,
        values: [String: String] = [:]
    ) throws -> MappedSchema {
        let sql = try Self.text(at: path, "schema", bytesMax: SQLScript.bytesMax)
        let map = try Self.text(at: mapPath, "map", bytesMax: 1 << 20)
        let files = Files(schema: path, map: mapPath)
        return try MappedSchema(sql: sql, name: path, map: map, name: mapPath, values: values, files: files)
    }

    /// Reads a map without a schema, for comparisons with a cache whose SQL the app keeps.
    ///
    /// - Throws: `EngineError` if the file cannot be read or the map has a mistake.
    package static func map(at path: String, values: [String: String]) throws -> CacheMap {
        let text = try Self.text(at: path, "map", bytesMax: 1 << 20)
        return try CacheMapReader(name: path, values: values).read(text)
    }

    /// The program's own map, for a cache that it made.
    ///
    /// - Throws: `EngineError` for other caches, whose columns only a map explains.
    package static func ownMap(of path: String) throws -> CacheMap {
        let map = try own().map
        // Guarded, because anyone may have made the file.
        let connection = try SQLiteConnection(path, .reading, .reading)
        guard CacheMeta(connection, table: map.metaTable) != nil else {
            let maker = (try? CacheOrigin(of: connection))?.appSchema.map { "it was made with \($0)" }
            let reason = maker ?? "nothing says what its tables hold"
            throw EngineError("diff \"\(path)\": \(reason); give a map with --map (docs/cache.md)")
        }
        return map
    }

    private init(
        sql: String,
        name: String,
        map: String,
        name mapName: String,
        values: [String: String] = [:],
        files: Files? = nil
    ) throws {
        self.files = files
        scripts = [SQLScript(name: name, text: sql)]
        self.map = try CacheMapReader(name: mapName, values: values).read(map)
        let parts =
            ["\(Self.mappingVersion)", sql, map] + values.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
        // A zero byte ends each part, so that no two lists of parts give the same bytes.
        hash = Hasher256.hash(parts.flatMap { Array($0.utf8) + [0] }).hex
    }

    /// The text of a file.
    ///
    /// - Throws: `EngineError` if it has more than `bytesMax` bytes or is not UTF-8.
    private static func text(at path: String, _ what: String, bytesMax: Int) throws -> String {
        let bytes = try InputFile.bytes(at: path, bytesMax: bytesMax)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw EngineError("read \(what) \"\(path)\": it is no UTF-8")
        }
        return text
    }
}

extension MappedSchema {
    /// The hash of each table's SQL and map, by table name.
    ///
    /// Tables whose rows the schema changes itself, by a later statement or a trigger, are left out: their rows are not
    /// what the log gives.
    ///
    /// Cost: runs the schema in an empty database in memory.
    ///
    /// - Parameter generation: The log's generation. Tables of events belong to one, because a rewrite may have replaced or
    ///   dropped payloads.
    func tableHashes(generation: UInt32) throws -> [String: String] {
        let connection = try SQLiteConnection(":memory:", .building, .schema)
        guard let sqlGuard = connection.sqlGuard else { return [:] }
        let later = try connection.runTables(of: scripts)
        sqlGuard.forgetWrites()
        try connection.run(later, rows: 0)
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
            hashes[table.name] = try hash(of: table, generation: generation, in: connection)
        }
        return hashes
    }

    /// The hash of a table's stored SQL and map; `nil` if the schema does not make the table.
    private func hash(of table: CacheMap.Table, generation: UInt32, in connection: SQLiteConnection) throws -> String? {
        let rows = try connection.rows(
            "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE",
            [.text(table.name)]
        )
        guard case .text(let sql)? = rows.first?.first else { return nil }
        let generations = table.list == .events ? ["generation \(generation)"] : []
        let parts = ["\(Self.mappingVersion)", sql] + table.identity + generations
        return Hasher256.hash(parts.flatMap { Array($0.utf8) + [0] }).hex
    }
}
