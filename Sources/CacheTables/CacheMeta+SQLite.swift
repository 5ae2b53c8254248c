import Projections

extension CacheMeta {
    /// Reads a cache's meta table; `nil` if it is missing or of another version.
    init?(_ connection: SQLiteConnection, table: String) {
        guard let values = try? connection.metaValues(in: table) else { return nil }
        self.init(values)
    }

    /// Writes all rows. The caller holds the transaction, so that they change together with the cache's rows (I30).
    func write(to connection: SQLiteConnection, table: String) throws {
        for (name, value) in values { try connection.writeMeta(name, value, in: table) }
    }
}

/// What the meta table of a cache says, whatever schema and version of the program made it.
struct CacheOrigin {
    private static let schemaFile = "schema_file"
    private static let mapFile = "map_file"

    /// The table, whose name a map decides.
    let table: String
    /// Its values by name.
    let values: [String: String]

    /// Looks for the meta table.
    ///
    /// - Throws: `EngineError` if the file is no cache, `SQLiteTrouble` if it cannot be read.
    init(of connection: SQLiteConnection) throws {
        for table in try connection.plainTables() {
            guard try connection.columns(of: table).map({ $0.name.lowercased() }) == ["name", "value"] else { continue }
            let values = try connection.metaValues(in: table)
            guard values["format"]?.hasPrefix(CacheMeta.formatStart) == true else { continue }
            (self.table, self.values) = (table, values)
            return
        }
        throw EngineError("read \"\(connection.path)\": it is no cache of a log")
    }

    /// Names the app's schema that made the cache; `nil` for the program's own.
    var appSchema: String? {
        if let schema = values[Self.schemaFile], let map = values[Self.mapFile] {
            return "--schema \"\(schema)\" --map \"\(map)\""
        }
        // Versions before did not write the files' names.
        return table == OwnSchema.metaTable ? nil : "a schema and a map (its meta table is \"\(table)\")"
    }

    /// Records the names of an app's files, so that a later rebuild without them can name them.
    static func write(_ files: MappedSchema.Files, to connection: SQLiteConnection, table: String) throws {
        try connection.writeMeta(schemaFile, files.schema, in: table)
        try connection.writeMeta(mapFile, files.map, in: table)
    }
}

extension SQLiteConnection {
    /// The rows of a meta table. An app's table of the same name may be large, hence the limit.
    fileprivate func metaValues(in table: String) throws -> [String: String] {
        var values: [String: String] = [:]
        for row in try rows("SELECT name, value FROM \(table.quotedSQL) LIMIT 1000") {
            if case (.text(let name)?, .text(let value)?) = (row.first, row.last) { values[name] = value }
        }
        return values
    }

    fileprivate func writeMeta(_ name: String, _ value: String, in table: String) throws {
        let insertion = try statement("INSERT OR REPLACE INTO \(table.quotedSQL) VALUES (?, ?)")
        try insertion.run([.text(name), .text(value)])
    }
}
