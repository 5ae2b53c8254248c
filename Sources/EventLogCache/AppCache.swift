public import Clients
public import EventLog
public import GRDB
public import Projections

/// Keeps an app's tables in step with a log, in the app's own database and process.
///
/// If the database holds no cache of this log, version and profile, a new one is built beside it and copied over it in
/// one transaction. After that, each batch of events is one transaction (I30). Readers of the pool see the old rows or
/// the new ones, and observations of the database continue.
///
/// Only one process should write; others may read.
public actor AppCache<Schema: CacheSchema> {
    /// The table that names the log and the state that the cache holds.
    public static var metaTable: String { "eventlog_meta" }

    private let log: EventStore
    private let database: DatabasePool
    private let schema: Schema
    /// The lists that the schema's tables come from, in the order of `StateList.all`.
    private let lists: [StateList]
    private let options: ReplayOptions
    /// The state that the cache holds; `nil` until it is known.
    private var current: Current?

    private struct Current {
        var state: LogState
        var meta: CacheMeta
        /// The log's `decidedAt` when the state was folded. If it changes, the log was compacted.
        let decidedAt: SequenceNumber
        /// What the lists that are written whole contain in the cache.
        var whole: WholeLists
    }

    /// A list with new rows, and the keys of the things that changed; `nil` keys if all rows are new.
    private typealias Touched = (list: StateList, keys: [CacheRow]?)

    /// Makes a cache of a log. Nothing is read or written until the first `step`.
    ///
    /// - Parameters:
    ///   - log: The log. It may grow meanwhile, in this process or another one.
    ///   - database: The app's database. A rebuild replaces all of it: only what `Schema.carryOver` copies survives.
    ///   - profile: Whose reading of the events the cache follows.
    ///   - keeping: The name under which states are kept beside the log, so that the next run of the app need not
    ///     fold all events again; `nil` keeps none.
    public init(
        of log: EventStore,
        in database: DatabasePool,
        schema: Schema,
        profile: Profile = .canonical,
        keeping: KeptStateOptions? = nil
    ) {
        (self.log, self.database, self.schema) = (log, database, schema)
        let used = schema.tables.values.reduce(into: Set<StateList>()) { $0.formUnion($1) }
        lists = StateList.all.filter { used.contains($0) }
        var options = ReplayOptions()
        options.profile = profile
        options.keeping = keeping
        self.options = options
    }

    /// Writes what the next events changed, or builds the whole cache if there is none of this log, version and
    /// profile.
    ///
    /// - Returns: What at most 10,000 events changed; `nil` if the cache holds all events.
    /// - Throws: `CacheError`, `EventLogError` if the log cannot be read, `DatabaseError` and what the schema throws.
    ///   Then the cache contains nothing of the batch.
    @discardableResult
    public func step() throws -> CacheBatch? {
        do {
            if current == nil { current = try resumed() }
            guard let known = current else { return try build() }
            // Taken out, because a second reference would make the fold copy the state. After an error it is read
            // again.
            current = nil
            return try follow(known)
        } catch is MovedOn {
            // Something else has written to the cache, or the log was compacted.
            current = try resumed()
            return try current == nil ? build() : step()
        }
    }

    /// The changes of the cache, each after it is written, until the task is cancelled. Looks for new events at this
    /// interval.
    public nonisolated func changes(every interval: Duration = .milliseconds(200)) -> AsyncThrowingStream<
        CacheBatch, any Error
    > {
        AsyncThrowingStream {
            while !Task.isCancelled {
                if let batch = try await self.step() { return batch }
                try? await Task.sleep(for: interval)
            }
            return nil
        }
    }
}

/// The cache or the log has changed since the last step, but not by this object.
private struct MovedOn: Error {}

// MARK: - Following

extension AppCache {
    private func follow(_ known: consuming Current) throws -> CacheBatch? {
        let decidedAt = known.decidedAt
        var (state, meta, whole) = (known.state, known.meta, known.whole)
        known = Current(state: LogState(), meta: meta, decidedAt: decidedAt, whole: whole)
        let changes = try log.read { session in
            // A compaction has dropped events that the state may still contain, and a redaction texts.
            guard session.decidedAt == decidedAt, try Redactions.newest(in: session) <= meta.sequence else {
                throw MovedOn()
            }
            return try Replay.follow(&state, over: session, options: options)
        }
        guard let changes else {
            current = Current(state: state, meta: meta, decidedAt: decidedAt, whole: whole)
            return nil
        }
        let before = meta
        meta.advance(to: &state)
        assert(before.sequence <= meta.sequence, "a cache that follows a log never goes back")
        let touched = try database.write { database in
            guard try CacheMeta(in: database, table: Self.metaTable) == before else { throw MovedOn() }
            let writer = SchemaWriter(schema: schema, database: database)
            let asOf = CacheMeta.asOf(state)
            let touched = try state.write(changes, of: lists, asOf: asOf, since: &whole, to: writer)
            try meta.write(in: database, table: Self.metaTable)
            return touched
        }
        current = Current(state: state, meta: meta, decidedAt: decidedAt, whole: whole)
        return batch(meta, isRebuild: false, touched.map { ($0, $1.map { CacheRow(json: $0) }) })
    }

    private func batch(_ meta: CacheMeta, isRebuild: Bool, _ touched: [Touched]) -> CacheBatch {
        let tables = schema.tables.sorted { $0.key < $1.key }.compactMap { name, lists -> CacheBatch.Table? in
            let ofTable = touched.filter { lists.contains($0.list) }
            if ofTable.isEmpty { return nil }
            let isWhole = ofTable.contains { $0.keys == nil }
            return CacheBatch.Table(name: name, keys: isWhole ? nil : ofTable.flatMap { $0.keys ?? [] })
        }
        return CacheBatch(sequence: meta.sequence, digest: meta.digest, isRebuild: isRebuild, tables: tables)
    }
}

// MARK: - Building

extension AppCache {
    private var schemaName: String { "version \(schema.version)" }

    /// The state of the cache in the database; `nil` if it is not one of this log, version and profile.
    private func resumed() throws -> Current? {
        guard let meta = try database.read({ try CacheMeta(in: $0, table: Self.metaTable) }),
            meta.schema == schemaName, meta.profile == options.profile.rawValue
        else { return nil }
        return try log.read { session in
            guard meta.canContinue(in: session) else { return nil }
            var state = try Replay.logState(of: session, through: meta.sequence, options: options)
            let told = CacheMeta(
                of: &state,
                identity: try session.identity(),
                profile: options.profile.rawValue,
                schema: schemaName
            )
            guard told == meta else { return nil }
            return Current(state: state, meta: meta, decidedAt: session.decidedAt, whole: whole(of: state))
        }
    }

    private func whole(of state: LogState) -> WholeLists { WholeLists(lists, of: state, asOf: CacheMeta.asOf(state)) }

    private func build() throws -> CacheBatch {
        var (state, identity, decidedAt) = try log.read { session in
            (try Replay.logState(of: session, options: options), try session.identity(), session.decidedAt)
        }
        let meta = CacheMeta(of: &state, identity: identity, profile: options.profile.rawValue, schema: schemaName)
        let next = try NextDatabase(beside: database)
        try next.fill { database in
            try schema.create(in: database)
            try meta.makeTable(in: database, table: Self.metaTable)
            try state.forEachBatch(of: lists, asOf: CacheMeta.asOf(state)) { list in
                { row, changes in changes.elements.append(CacheChange.added(list, CacheRow(json: row.json))) }
            } _: { (changes: RowList<CacheChange>) in
                for change in changes.elements { try schema.apply(change, in: database) }
            }
            try schema.finish(in: database)
            try meta.write(in: database, table: Self.metaTable)
        }
        try next.replace(database) { try schema.carryOver(from: $0, to: $1) }
        current = Current(state: state, meta: meta, decidedAt: decidedAt, whole: whole(of: state))
        return batch(meta, isRebuild: true, lists.map { ($0, nil) })
    }
}

/// Writes changes of lists as a schema says.
private struct SchemaWriter<Schema: CacheSchema>: ListWriter {
    let schema: Schema
    let database: Database

    func clear(_ list: StateList) throws {
        try schema.apply(.cleared(list), in: database)
    }

    func add(_ row: ListedRow, to list: StateList) throws {
        try schema.apply(.row(list, CacheRow(json: row.json)), in: database)
    }

    func replace(_ key: JSONValue, by rows: [JSONValue], in list: StateList) throws {
        if rows.isEmpty || list.isHistory { try schema.apply(.removed(list, CacheRow(json: key)), in: database) }
        for row in rows { try schema.apply(.row(list, CacheRow(json: row)), in: database) }
    }
}

extension CacheMeta {
    /// Reads the meta table; `nil` if it is missing or of another version.
    fileprivate init?(in database: Database, table: String) throws {
        guard try database.tableExists(table) else { return nil }
        let rows = try Row.fetchAll(database, sql: "SELECT name, value FROM \(table) LIMIT 1000")
        self.init(Dictionary(rows.map { ($0["name"], $0["value"]) }) { $1 })
    }

    fileprivate func makeTable(in database: Database, table: String) throws {
        try database.execute(sql: "CREATE TABLE \(table) (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
    }

    fileprivate func write(in database: Database, table: String) throws {
        for (name, value) in values {
            try database.execute(sql: "INSERT OR REPLACE INTO \(table) VALUES (?, ?)", arguments: [name, value])
        }
    }
}
