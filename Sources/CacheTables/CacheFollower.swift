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
        package let tables: [Table]
    }

    /// What one batch changed in one table.
    package struct Table {
        package let name: String
        /// The keys of the things whose rows went, came or were written again.
        package let keys: [JSONValue]
        /// How many rows were written.
        package let rowCount: Int
    }

    private let tables: FollowedTables
    private let options: ReplayOptions
    /// What the lists that are written whole contain in the cache.
    private var wholeLists: WholeLists
    /// That of the log when the state was folded.
    private let revision: LogRevision
    /// The state that the cache holds.
    private(set) var state: LogState
    private(set) var meta: CacheMeta

    /// Starts from the state that a cache holds.
    ///
    /// - Parameters:
    ///   - state: The state that the cache holds.
    ///   - meta: The cache's meta table.
    ///   - revision: That of the log; read no later than the state, so that a compaction in between is noticed.
    /// - Throws: `EngineError` if a table lacks the columns that identify the rows of one thing.
    init(
        _ map: CacheMap,
        at path: String,
        state: LogState,
        meta: CacheMeta,
        revision: LogRevision,
        options: ReplayOptions
    ) throws {
        // Triggers and generated columns of the schema run for the rows, and the file may have others than the schema's.
        let connection = try SQLiteConnection(path, .live, .schema)
        try map.checkCanBeFollowed(sourceCount: state.sourceNames.count)
        tables = try FollowedTables(map, in: connection)
        wholeLists = WholeLists(tables.lists, of: state, asOf: CacheMeta.asOf(state))
        (self.state, self.meta, self.revision, self.options) = (state, meta, revision, options)
    }

    /// False once the log was compacted or redacted again: events that the state contains may be gone, or texts. Of a map with
    /// events also false once the log was rewritten in any way.
    func continues(in session: borrowing ReadSession) throws -> Bool {
        try revision.continues(in: session, for: tables.map)
    }

    /// Folds the next events and writes their changes; `nil` if there are none up to `end`, or to the head.
    ///
    /// After an error the state may be ahead of the cache, so the follower must not be used again.
    ///
    /// - Returns: Also for events that changed no row, because the sequence in the meta table moves on.
    mutating func step(_ session: borrowing ReadSession, through end: SequenceNumber? = nil) throws -> Batch? {
        let sources = state.sourceNames.count
        guard let changes = try Replay.follow(&state, over: session, through: end, options: options) else { return nil }
        // A second source may bring ids that the first one uses.
        if state.sourceNames.count > sources {
            try tables.map.checkCanBeFollowed(sourceCount: state.sourceNames.count)
        }
        return try write(changes, session)
    }

    /// Writes one batch in one transaction.
    private mutating func write(_ changes: ChangedThings, _ session: borrowing ReadSession) throws -> Batch {
        assert(meta.sequence < state.sequence, "each batch moves the cache forward")
        let events = meta.sequence.next...state.sequence
        meta.advance(to: &state)
        let meta = meta
        // An error rolls rows, sequence and digest back together, so the cache stays at the batch before.
        tables.connection.sqlGuard?.beginWork()
        let changed = try tables.connection.transaction {
            tables.begin()
            for (list, keys) in try state.write(
                changes,
                of: tables.lists,
                asOf: CacheMeta.asOf(state),
                since: &wholeLists,
                to: tables
            ) where list.isWrittenWhole { tables.note(keys, of: .state(list)) }
            try tables.insertEvents(of: session, in: events)
            try meta.write(to: tables.connection, table: tables.map.metaTable)
            return tables.changed
        }
        return Batch(meta: meta, tables: changed)
    }
}

/// Writes changes of lists into the tables of a cache, and notes which things they change in which table. For one thread.
private final class FollowedTables: ListWriter {
    private let tables: MappedTables
    /// One for each table of the map.
    private let deletions: [Deletion]
    /// The keys of the things that changed in each table of the map, since `begin`.
    private var keys: [[JSONValue]] = []
    /// How many rows each table was given before.
    private var countsBefore: [Int] = []

    init(_ map: CacheMap, in connection: SQLiteConnection) throws {
        tables = try MappedTables(map, in: connection)
        deletions = try map.tables.map { try Deletion($0, in: connection) }
    }

    var map: CacheMap { tables.map }
    var connection: SQLiteConnection { tables.connection }
    var lists: [StateList] { tables.lists }

    /// Forgets what has changed so far.
    func begin() {
        keys = map.tables.map { _ in [] }
        countsBefore = tables.counts
    }

    /// The changes since `begin`, table by table in the map's order.
    var changed: [CacheFollower.Table] {
        map.tables.indices.filter { !keys[$0].isEmpty }.map { index in
            let count = tables.counts[index] - countsBefore[index]
            return CacheFollower.Table(name: map.tables[index].name, keys: keys[index], rowCount: count)
        }
    }

    /// Notes the things that changed in a list that was written whole.
    func note(_ changed: [JSONValue], of list: MappedList) {
        for index in tables.targets(of: list) { keys[index] += changed }
    }

    /// Inserts new events and notes them.
    func insertEvents(of session: borrowing ReadSession, in range: ClosedRange<SequenceNumber>) throws {
        if !map.hasEvents { return }
        try tables.insertEvents(of: session, in: range)
        for index in tables.targets(of: .events) where tables.counts[index] > countsBefore[index] {
            keys[index] = (range.lowerBound.rawValue...range.upperBound.rawValue).map {
                .object(["sequence": .string("\($0)")])
            }
        }
    }

    func clear(_ list: StateList) throws {
        for index in tables.targets(of: .state(list)) { try deletions[index].deleteAll() }
    }

    func add(_ row: ListedRow, to list: StateList) throws {
        try tables.insert(row, of: .state(list))
    }

    /// All rows of the thing go first: one thing can have several rows (reactions), and now fewer than before. A table
    /// whose conditions the thing neither met nor meets has not changed.
    func replace(_ key: JSONValue, by rows: [JSONValue], in list: StateList) throws {
        let targets = tables.targets(of: .state(list))
        let before = try targets.map { index in
            (isDeleted: try deletions[index].delete(key) > 0, count: tables.counts[index])
        }
        for row in rows { try tables.insert(.value(row), of: .state(list)) }
        for (index, before) in zip(targets, before) where before.isDeleted || tables.counts[index] > before.count {
            keys[index].append(key)
        }
    }
}

extension CacheMap {
    /// Refuses a map with a table in which the rows of a thing cannot be found again.
    ///
    /// - Parameter sourceCount: How many sources the log has. They may use the same ids, so that a table without a source
    ///   column can hold the rows of one only.
    /// - Throws: `EngineError` that names the map's line.
    func checkCanBeFollowed(sourceCount: Int) throws {
        for table in tables where !table.list.isWrittenWhole {
            let named = Set(table.keyColumns.flatMap { $0.paths.map(\.name) })
            if let lacking = table.list.keyMembers.first(where: { $0 != "source" && !named.contains($0) }) {
                throw failure(
                    "table \"\(table.name)\" has no column that is made of \(lacking) alone, so --follow cannot find its rows again; "
                        + "add one, or leave --follow out",
                    line: table.line
                )
            }
            let namesSource = named.contains("source") || table.conditions.contains { $0.path.name == "source" }
            guard sourceCount > 1, !namesSource else { continue }
            throw failure(
                "table \"\(table.name)\" has no column made of source, and the log has \(sourceCount) sources, so --follow "
                    + "cannot find its rows again; add one, or name the source with where",
                line: table.line
            )
        }
    }
}

extension CacheMap.Table {
    /// The columns that are made of the key of the row's thing alone.
    var keyColumns: [CacheColumn] {
        let keyMembers = list.keyMembers
        return columns.filter { column in
            !column.paths.isEmpty && column.paths.allSatisfy { keyMembers.contains($0.name) }
        }
    }
}

/// Deletes the rows of one thing from one table, by the columns that are made of the thing's key alone.
private struct Deletion {
    /// The columns that a thing's key decides.
    private let columns: [CacheColumn]
    private let one: SQLiteStatement
    private let all: SQLiteStatement
    private let connection: SQLiteConnection

    init(_ table: CacheMap.Table, in connection: SQLiteConnection) throws {
        self.connection = connection
        columns = table.keyColumns
        // IS, not =, finds NULL, too.
        let conditions = columns.map { "\($0.name.quotedSQL) IS ?" }.joined(separator: " AND ")
        all = try connection.statement("DELETE FROM \(table.name.quotedSQL)")
        let isWhole = table.list.isWrittenWhole
        one = isWhole ? all : try connection.statement("DELETE FROM \(table.name.quotedSQL) WHERE \(conditions)")
    }

    /// Deletes the rows of the thing with this key, none if it has none yet.
    ///
    /// - Returns: How many rows the table had of it.
    func delete(_ key: JSONValue) throws -> Int {
        let batch = CellBatch()
        let row = MappedRow(.value(key))
        for column in columns { column.add(row, to: batch) }
        connection.allow(rows: 1)
        try one.run(batch, columns.indices)
        return connection.changedRowCount
    }

    /// Deletes all rows, for lists that are written whole.
    func deleteAll() throws {
        try all.run()
    }
}
