import EventLog
package import Projections

/// Keeps a cache current. Each batch of events is one SQLite transaction that also writes the sequence and the digest,
/// so a killed follower goes on where its cache ends (I30).
///
/// Rows of touched things are deleted and inserted again. Lists that change with time, or depend on many things, are
/// written as a whole.
///
/// The caller holds the cache's lock: nobody else may write to it.
///
/// Cost of a batch: the fold of its events, the rows of what they touched, and the lists that are written whole
/// (`StateList.isWrittenWhole`).
package struct CacheFollower {
    /// What one batch changed.
    package struct Batch {
        package let meta: CacheMeta
        /// The tables with rows that were written again, and the keys of their things. A table that was written as a
        /// whole is not listed.
        package let tables: [(name: String, keys: [JSONValue])]
    }

    private let tables: MappedTables
    private let options: ReplayOptions
    /// By table name; one for each table of the map.
    private var deletions: [String: Deletion] = [:]
    /// `ReadSession.decidedAt` of the log when the state was folded: where its last compaction was decided.
    private let decidedAt: SequenceNumber
    /// The state that the cache holds.
    private(set) var state: LogState
    private(set) var meta: CacheMeta

    /// Starts from the state that a cache holds.
    ///
    /// - Parameters:
    ///   - state: The state that the cache holds.
    ///   - meta: The cache's meta table.
    ///   - decidedAt: Where the log's last compaction was decided; read no later than the state, so that a compaction
    ///     in between is noticed.
    /// - Throws: `EngineError` if a table lacks the columns that identify the rows of one thing.
    init(
        _ map: CacheMap,
        at path: String,
        state: LogState,
        meta: CacheMeta,
        decidedAt: SequenceNumber,
        options: ReplayOptions
    ) throws {
        // Triggers and generated columns of the schema run for the rows, and the file may have others than the schema's.
        let connection = try SQLiteConnection(path, .live, .schema)
        tables = try MappedTables(map, in: connection)
        (self.state, self.meta, self.decidedAt, self.options) = (state, meta, decidedAt, options)
        for table in map.tables {
            deletions[table.name] = try Deletion(table, of: map, in: connection, sourceCount: state.sourceNames.count)
        }
    }

    /// False once the log was compacted again: the compaction may have dropped events that the state contains.
    func continues(in session: borrowing ReadSession) -> Bool { session.decidedAt == decidedAt }

    /// Folds the next events and writes their changes; `nil` if there are none up to `end`, or to the head.
    ///
    /// After an error the state may be ahead of the cache, so the follower must not be used again.
    ///
    /// - Returns: Also for events that changed no row, because the sequence in the meta table moves on.
    mutating func step(_ session: borrowing ReadSession, through end: SequenceNumber? = nil) throws -> Batch? {
        let sources = state.sourceNames.count
        guard let changes = try Replay.follow(&state, over: session, through: end, options: options) else { return nil }
        // A second source may bring ids that the first one uses.
        if state.sourceNames.count > sources { try checkSources() }
        return try write(changes)
    }

    /// Writes one batch in one transaction.
    private mutating func write(_ changes: ChangedThings) throws -> Batch {
        assert(meta.sequence < state.sequence, "each batch moves the cache forward")
        meta.advance(to: &state)
        let meta = meta
        // An error rolls rows, sequence and digest back together, so the cache stays at the batch before.
        tables.connection.sqlGuard?.beginWork()
        let changed = try tables.connection.transaction {
            let written = try state.write(changes, of: tables.lists, asOf: CacheMeta.asOf(state), to: self)
            try meta.write(to: tables.connection, table: tables.map.metaTable)
            return written.flatMap { list, keys in
                keys.map { keys in tables.tables(of: list).map { (name: $0.name, keys: keys) } } ?? []
            }
        }
        return Batch(meta: meta, tables: changed)
    }

    /// Refuses a second source for tables that cannot tell sources apart.
    private func checkSources() throws {
        for table in tables.map.tables {
            try deletions[table.name]?.check(sourceCount: state.sourceNames.count, of: table, in: tables.map)
        }
    }
}

extension CacheFollower: ListWriter {
    package func clear(_ list: StateList) throws {
        for table in tables.tables(of: list) { try deletions[table.name]?.deleteAll() }
    }

    package func add(_ row: ListedRow, to list: StateList) throws {
        try tables.insert(row, of: list)
    }

    /// All rows of the thing go first: one thing can have several rows (reactions), and now fewer than before.
    package func replace(_ key: JSONValue, by rows: [JSONValue], in list: StateList) throws {
        for table in tables.tables(of: list) { try deletions[table.name]?.delete(key) }
        for row in rows { try tables.insert(.value(row), of: list) }
    }
}

/// Deletes the rows of one thing from one table, by the columns that are made of the thing's key alone.
private struct Deletion {
    /// The columns that a thing's key decides.
    private let columns: [CacheColumn]
    private let one: SQLiteStatement
    private let all: SQLiteStatement
    private let connection: SQLiteConnection
    /// Whether the table tells sources apart, or holds one source only by a condition.
    private let namesSource: Bool

    /// - Throws: `EngineError` if no column is made of a member of the key, so that nothing finds a thing's rows again.
    init(_ table: CacheMap.Table, of map: CacheMap, in connection: SQLiteConnection, sourceCount: Int) throws {
        self.connection = connection
        let keyMembers = table.list.keyMembers
        columns = table.columns.filter { column in
            !column.paths.isEmpty && column.paths.allSatisfy { keyMembers.contains($0.name) }
        }
        let named = Set(columns.flatMap { $0.paths.map(\.name) })
        let isWhole = table.list.isWrittenWhole
        if !isWhole, let lacking = keyMembers.first(where: { $0 != "source" && !named.contains($0) }) {
            throw map.failure(
                "table \"\(table.name)\" has no column that is made of \(lacking) alone, so --follow cannot find its rows again; "
                    + "add one, or leave --follow out",
                line: table.line
            )
        }
        namesSource = isWhole || named.contains("source") || table.conditions.contains { $0.path.name == "source" }
        // IS, not =, finds NULL, too.
        let conditions = columns.map { "\($0.name.quotedSQL) IS ?" }.joined(separator: " AND ")
        all = try connection.statement("DELETE FROM \(table.name.quotedSQL)")
        one = isWhole ? all : try connection.statement("DELETE FROM \(table.name.quotedSQL) WHERE \(conditions)")
        try check(sourceCount: sourceCount, of: table, in: map)
    }

    /// Sources may use the same ids, so a table without a source column can hold the rows of one source only.
    func check(sourceCount: Int, of table: CacheMap.Table, in map: CacheMap) throws {
        guard sourceCount > 1, !namesSource else { return }
        throw map.failure(
            "table \"\(table.name)\" has no column made of source, and the log has \(sourceCount) sources, so --follow cannot "
                + "find its rows again; add one, or name the source with where",
            line: table.line
        )
    }

    /// Deletes the rows of the thing with this key, none if it has none yet.
    func delete(_ key: JSONValue) throws {
        let batch = CellBatch()
        let row = MappedRow(.value(key))
        for column in columns { column.add(row, to: batch) }
        connection.allow(rows: 1)
        try one.run(batch, columns.indices)
    }

    /// Deletes all rows, for lists that are written whole.
    func deleteAll() throws {
        try all.run()
    }
}
