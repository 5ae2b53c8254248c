import EventLog

/// A cache's schema: SQL, and the map that says what goes into its tables.
///
/// Only read, not run: SQL is compiled and checked where it is used. An app's schema may come from elsewhere (I30).
struct MappedSchema: Sendable {
    let script: SQLScript
    let map: CacheMap

    /// Identifies the schema: the hash of its SQL, its map, its values and `mappingVersion`, in hex. Any change of a
    /// file gives another hash, comments included.
    let hash: String

    /// Stored as `application_id` ("ELog"); marks a cache that a rebuild made.
    static let applicationID: UInt32 = 0x454C_6F67
    /// The version of the rules that turn members into values; part of every schema's hash. Raise it when the same map
    /// gives other values for the same rows: copied rows would be of the old rules.
    static let mappingVersion = 1

    /// The program's own cache. Parsed at each use like any other map, so that both take one way.
    static func own() throws -> MappedSchema {
        try MappedSchema(sql: OwnSchema.sql, name: "the own schema", map: OwnSchema.map, name: "the own map")
    }

    /// Reads an app's schema from its two files.
    ///
    /// - Throws: `Failure` if a file cannot be read or the map has a mistake.
    static func app(sql path: String, map mapPath: String, values: [String: String]) throws -> MappedSchema {
        let sql = try Self.text(at: path, "schema", bytesMax: SQLScript.bytesMax)
        let map = try Self.text(at: mapPath, "map", bytesMax: 1 << 20)
        return try MappedSchema(sql: sql, name: path, map: map, name: mapPath, values: values)
    }

    /// Reads a map without a schema, for comparisons with a cache whose SQL the app keeps.
    ///
    /// - Throws: `Failure` if the file cannot be read or the map has a mistake.
    static func map(at path: String, values: [String: String]) throws -> CacheMap {
        let text = try Self.text(at: path, "map", bytesMax: 1 << 20)
        return try CacheMapReader(name: path, values: values).read(text)
    }

    private init(
        sql: String,
        name: String,
        map: String,
        name mapName: String,
        values: [String: String] = [:]
    ) throws {
        script = SQLScript(name: name, text: sql)
        self.map = try CacheMapReader(name: mapName, values: values).read(map)
        let parts =
            ["\(Self.mappingVersion)", sql, map] + values.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
        // A zero byte ends each part, so that no two lists of parts give the same bytes.
        hash = Hasher256.hash(parts.flatMap { Array($0.utf8) + [0] }).hex
    }

    /// The text of a file.
    ///
    /// - Throws: `Failure` if it has more than `bytesMax` bytes or is not UTF-8.
    private static func text(at path: String, _ what: String, bytesMax: Int) throws -> String {
        let bytes = try InputFile.bytes(at: path, bytesMax: bytesMax)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure("read \(what) \"\(path)\": it is no UTF-8")
        }
        return text
    }
}
