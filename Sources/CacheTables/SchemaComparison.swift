/// Compares the tables of two caches whose schemas may differ, and finds what of their rows can be compared.
///
/// The old cache may come from an attacker: only its list of tables and columns of plain tables are read.
struct SchemaComparison {
    /// The tables that differ: those of the map in its order, then other new ones, then those that go.
    private(set) var changes: [TableChange] = []
    /// The map reduced to the tables and columns that both sides have, each with its key.
    private(set) var map: CacheMap

    /// - Parameter map: The map of the new cache.
    init(_ map: CacheMap, new: SQLiteConnection, old: SQLiteConnection) throws {
        let hidden = Set(
            [map.metaTable.lowercased()] + [old, new].compactMap { (try? CacheOrigin(of: $0))?.table.lowercased() }
        )
        let names = try new.plainTables().filter { !hidden.contains($0.lowercased()) }
        var rest = try old.plainTables().filter { !hidden.contains($0.lowercased()) }
        var comparable: [CacheMap.Table] = []
        let mapped = map.tables.map(\.name)
        for name in mapped + names.filter({ !mapped.containsName($0) }) {
            guard let place = rest.firstIndex(where: { $0.lowercased() == name.lowercased() }) else {
                changes.append(TableChange(name, .new(rows: try new.rowCount(of: name))))
                continue
            }
            rest.remove(at: place)
            let columns = try (old: old.columns(of: name), new: new.columns(of: name))
            var kind = TableChange.Kind.compared
            if let table = map.tables.first(where: { $0.name == name }) {
                if let reduced = try table.reduced(to: columns.old, key: try? new.key(of: table, in: map)) {
                    comparable.append(reduced)
                } else {
                    let reason = "the two have no key in common to compare rows by"
                    kind = .counted(
                        before: try old.rowCount(of: name),
                        after: try new.rowCount(of: name),
                        reason: reason
                    )
                }
            } else {
                let (before, after) = try (old.rowCount(of: name), new.rowCount(of: name))
                let reason = "the map does not fill it"
                if before != after { kind = .counted(before: before, after: after, reason: reason) }
            }
            let change = TableChange(name, kind, from: columns.old, to: columns.new)
            if !change.isEmpty { changes.append(change) }
        }
        for name in rest { changes.append(TableChange(name, .gone(rows: try old.rowCount(of: name)))) }
        self.map = CacheMap(name: map.name, tables: comparable, metaTable: map.metaTable)
    }
}

extension CacheMap.Table {
    /// The table with the columns that an old table has, too; `nil` if its key is not among them.
    fileprivate func reduced(to old: [SQLiteColumn], key: [String]?) throws -> CacheMap.Table? {
        let common = columns.filter { old.named($0.name) != nil }
        guard let key, key.allSatisfy({ name in common.contains { $0.name == name } }) else { return nil }
        return CacheMap.Table(
            name: name,
            list: list,
            each: each,
            columns: common,
            key: key,
            conditions: conditions,
            conflict: conflict,
            line: line
        )
    }
}

extension [SQLiteColumn] {
    /// The column with a name, without case.
    func named(_ name: String) -> SQLiteColumn? { first { $0.name.lowercased() == name.lowercased() } }
}

extension [String] {
    fileprivate func containsName(_ name: String) -> Bool { contains { $0.lowercased() == name.lowercased() } }
}

extension SQLiteConnection {
    /// The plain tables of the file in the order of their making, without those that virtual tables keep their data in.
    ///
    /// Read from SQLite's own table: `PRAGMA table_list` would compile views and virtual tables of the file's author.
    func plainTables() throws -> [String] {
        let tables = try rows("SELECT name, sql FROM sqlite_master WHERE type = 'table' LIMIT \(Self.tablesMax)")
            .compactMap { row -> (name: String, sql: String)? in
                guard case (.text(let name)?, .text(let sql)?) = (row.first, row.last) else { return nil }
                return (name, sql)
            }
        let virtual = tables.filter { !$0.sql.isPlainTable }.map { $0.name.lowercased() + "_" }
        let plain = tables.filter { table in
            let name = table.name.lowercased()
            return table.sql.isPlainTable && !name.hasPrefix("sqlite_")
                && !virtual.contains { start in
                    name.hasPrefix(start) && Self.shadowNames.contains(String(name.dropFirst(start.count)))
                }
        }
        return plain.map(\.name)
    }

    /// How many rows a plain table has. Cost: steps over them, since a count would be a function.
    fileprivate func rowCount(of table: String) throws -> Int {
        let statement = try statement("SELECT NULL FROM \(table.quotedSQL) NOT INDEXED")
        try allowReadingAll()
        var count = 0
        while try statement.step() { count += 1 }
        return count
    }

    /// Tables beyond this many are not listed.
    private static let tablesMax = 10_000
    /// How FTS5, FTS4 and R*Tree call the tables of their data, behind the name of the virtual table.
    private static let shadowNames: Set<String> = [
        "data", "idx", "content", "docsize", "config", "segments", "segdir", "stat", "node", "rowid", "parent",
    ]
}

extension String {
    /// True if the table's stored SQL declares a plain table. SQLite stores it with this beginning, however it was
    /// typed. Any other text, which SQLite would still read, was put there by hand.
    var isPlainTable: Bool { utf8.starts(with: "CREATE TABLE ".utf8) }
}
