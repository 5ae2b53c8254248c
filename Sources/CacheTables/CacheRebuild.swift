public import Clients
public import EventLog
public import Projections

/// One run of a rebuild: from a log to a swapped, compared or followed cache.
///
/// It decides the order: the new file is complete before it is swapped in, and any doubt about the previous cache makes
/// all tables from the log.
///
/// Every way ends in one swap or one SQLite transaction, so readers see the old rows or the new ones (I30). A failure
/// in between leaves the old cache as it was.
///
/// ```swift
/// let rebuild = try CacheRebuild(of: log, to: "chat.sqlite", schema: .own())
/// let built = try rebuild.run()
/// ```
public struct CacheRebuild {
    let store: EventStore
    let file: CacheFile
    let schema: MappedSchema
    let profile: Profile
    private let point: Point?
    private let keeping: KeptStateOptions?
    /// Whether a file that no rebuild made may be replaced.
    public var replacesForeign = false
    /// Whether the new file is built and compared, but not swapped in.
    package var isDryRun = false
    /// Called as the work goes on.
    package var report: (CacheWork) -> Void = { _ in }
    /// Called with the plan before it is carried out. Called again only if the previous cache turns out to be damaged while
    /// its rows are copied.
    package var planned: (RebuildPlan) throws -> Void = { _ in }
    /// Called with a sentence for each table that is empty because no row meets its conditions.
    package var noted: (String) -> Void = { _ in }
    /// Called with the path of the new file before it is swapped in.
    package var completed: (_ path: String) throws -> Void = { _ in }

    /// Chooses what is built, and reads nothing.
    ///
    /// - Parameters:
    ///   - path: Where readers open the cache. It becomes a symbolic link to a file in the folder `PATH.d`; where it is a
    ///     database already, the new one is copied into it.
    ///   - profile: Whose reading of the events the cache holds.
    ///   - point: The last event of the cache's state; `nil` for the log's head.
    ///   - keeping: The name under which states are kept beside the log; `nil` keeps none.
    public init(
        of store: EventStore,
        to path: String,
        schema: MappedSchema,
        profile: Profile = .canonical,
        at point: Point? = nil,
        keeping: KeptStateOptions? = nil
    ) {
        (self.store, self.schema, self.profile, self.point, self.keeping) = (store, schema, profile, point, keeping)
        file = CacheFile(path: path)
    }

    /// Builds the cache and swaps it in. Tables that the previous cache has as they would be made are copied from it.
    ///
    /// Cost: a replay, the rows of the tables, and with copied tables the events since the previous cache.
    ///
    /// - Throws: `EngineError` with code `refused` if the path holds something that no rebuild made, with `locked` while another
    ///   rebuild of the same cache runs, and with `trouble` for a schema or map that does not run.
    public func run() throws -> BuiltCache {
        try refuseForeign()
        let plan = try plan()
        do {
            return try run(plan)
        } catch let cache as UnusableCache {
            // Whatever is wrong with the previous cache, the log has everything.
            return try run(RebuildPlan(whole: schema.map, because: "the cache before is of no use (\(cache.reason))"))
        }
    }

    /// Builds a cache by a plan, in the state of the plan's base, then brings it up to its end.
    ///
    /// - Throws: `UnusableCache` if the plan's base cannot give its rows. Mostly that is found before the plan is told.
    private func run(_ plan: RebuildPlan) throws -> BuiltCache {
        let copy = try plan.base.map { try CacheCopy(plan, of: $0, metaTable: schema.map.metaTable) }
        let revision = try revision()
        var state = try state(at: plan.base.flatMap { Point("\($0.meta.sequence)") } ?? point)
        let meta = try meta(of: &state, revision)
        // Rows may be copied only if the previous cache held exactly this state. A changed decoder may have changed the
        // digest, too; then nothing shows whether the cache was right.
        if let base = plan.base, base.meta.digest != meta.digest, base.meta.changedDecoders.isEmpty {
            throw UnusableCache(reason: "copy the cache \"\(base.path)\": its digest is not the log's")
        }
        try planned(plan)
        // Before the comparison and the swap, so that both see the rows of the plan's end.
        return try build(state, meta, revision, by: plan, copying: copy) { try bringUp($0, state, $1, to: plan.base) }
    }

    /// Refuses to replace what somebody else made; a dry run may compare with it. Refuses also, where the schema is the
    /// program's own, a cache that an app's schema made: the schema was probably forgotten.
    func refuseForeign() throws {
        let occupant = try file.occupant()
        if replacesForeign { return }
        guard isDryRun || occupant.isOurs else {
            throw EngineError(
                "rebuild \"\(file.path)\": the file was not made by rebuild; add --yes to replace it",
                code: .refused
            )
        }
        try refuseOtherSchema(advice: "give them, or add --yes to replace the cache by one in the program's own schema")
    }

    /// Refuses a cache that an app's schema made where the schema is the program's own.
    private func refuseOtherSchema(advice: String) throws {
        guard schema.files == nil, let cache = try? SQLiteConnection(file.target, .reading, .reading),
            let origin = try? CacheOrigin(of: cache), let other = origin.appSchema
        else { return }
        throw EngineError("rebuild \"\(file.path)\": the cache was made with \(other); \(advice)", code: .refused)
    }

    /// The log's revision now.
    func revision() throws -> LogRevision { try store.read { try LogRevision(of: $0) } }

    /// The state at the rebuild's point.
    func state() throws -> LogState { try state(at: point) }

    /// The state at a point; at the head for `nil`.
    func state(at point: Point?) throws -> LogState {
        report(.folding(nil))
        var options = ReplayOptions()
        (options.profile, options.keeping) = (profile, keeping)
        return try store.read { session in
            let last = try point?.resolve(in: session) ?? session.head
            return try Replay.logState(
                of: session,
                through: last,
                options: options,
                progress: { report(.folding((sequence: $0, last: last))) }
            )
        }
    }

    /// The meta table of a cache of this state and schema. A schema whose SQL does not run has no table hashes;
    /// building it reports the error.
    func meta(of state: inout LogState, _ revision: LogRevision) throws -> CacheMeta {
        let identity = try store.read { try $0.identity() }
        let meta = CacheMeta(
            of: &state,
            identity: identity,
            profile: profile.rawValue,
            schema: schema.hash,
            tables: (try? schema.tableHashes(generation: revision.generation)) ?? [:]
        )
        var options = ReplayOptions()
        (options.profile, options.keeping) = (profile, keeping)
        // Without the digest beside the log, it is made again (I17).
        try? store.read { try Replay.keepDigest(of: &state, in: $0, options: options) }
        return meta
    }

    /// Builds the new file and swaps it in, unless this is a dry run.
    ///
    /// - Parameter place: The locked folder, if the caller holds it.
    /// - Parameter complete: Called with the new file before it is compared and swapped in.
    func build(
        _ state: borrowing LogState,
        _ meta: CacheMeta,
        _ revision: LogRevision,
        by plan: RebuildPlan,
        copying copy: CacheCopy? = nil,
        holding place: CacheFolder? = nil,
        _ complete: (_ path: String, BuiltCache) throws -> BuiltCache = { $1 }
    ) throws -> BuiltCache {
        var writer = CacheWriter(schema: schema, report: report)
        writer.pageSize = try file.pageSize()
        writer.events = EventSource(store: store, generation: revision.generation)
        return try file.replace(holding: place, redactedAt: revision.redactedAt) { path in
            try completed(path)
            return !isDryRun
        } _: { path in
            let rows = try writer.write(state, meta: meta, to: path, by: plan, copying: copy)
            let built = try complete(path, BuiltCache(rows: rows, meta: meta))
            for (table, count) in zip(schema.map.tables, built.rows.map(\.count)) where count == 0 {
                if let reason = table.reasonForNoRow(in: state, of: schema.map) { noted(reason) }
            }
            return built
        }
    }
}

/// What a rebuild is doing.
package enum CacheWork {
    /// The log is folded; `nil` where nothing was folded yet.
    case folding((sequence: SequenceNumber, last: SequenceNumber)?)
    /// So many rows were written.
    case writing(rows: Int)
    case indexing
    /// So many rows of a table were copied; `nil` where none were yet.
    case copying((rows: Int, table: String)?)
}

/// A cache that was built: its state and the numbers of its rows.
public struct BuiltCache {
    /// How many rows each table has, in the map's order.
    public let rows: [(table: String, count: Int)]
    package let meta: CacheMeta

    package init(rows: [(table: String, count: Int)], meta: CacheMeta) {
        (self.rows, self.meta) = (rows, meta)
    }

    /// The last event of the cache's state.
    public var sequence: SequenceNumber { meta.sequence }
    /// The digest of the cache's state, in hex.
    public var digest: String { meta.digest }
}

// MARK: - By need

extension CacheRebuild {
    /// Decides which tables of the new cache come from the previous cache and which from the log.
    ///
    /// Doubts about the cache give a plan for all tables, never an error: what cannot be read is made again.
    private func plan() throws -> RebuildPlan {
        func whole(_ reason: String) -> RebuildPlan { RebuildPlan(whole: schema.map, because: reason) }
        guard try file.occupant().isOurs, try file.occupant() != .nothing,
            let known = try? SQLiteConnection(file.target, .reading, .reading),
            let meta = CacheMeta(known, table: schema.map.metaTable)
        else { return whole("there is no cache yet") }
        // Building the same schema again is how a user repairs a cache, so nothing is copied.
        if meta.schema == schema.hash, meta.changedDecoders.isEmpty { return whole("the schema is that of the cache") }
        guard meta.profile == profile.rawValue else { return whole("the cache is of another profile") }
        return try store.read { session in
            let hashes = (try? schema.tableHashes(generation: session.generationNumber)) ?? [:]
            let identity = CacheMeta.text(ofIdentity: try session.identity())
            guard identity == meta.identity else { return whole("the cache is of another log") }
            // Fixed here, so that events appended meanwhile do not move the end of this run.
            let end = try point?.resolve(in: session) ?? session.head
            guard meta.canContinue(in: session), meta.sequence <= end else {
                return whole("the cache is of a state that does not lead to this one")
            }
            let kinds = try session.kindsBySource()
            if meta.sequence < end {
                // Newer events are written into the copied tables as a follower writes them.
                do {
                    try schema.map.checkCanBeFollowed(sourceCount: kinds.count)
                } catch let error as EngineError {
                    return whole("newer events cannot be written into a copy (\(error))")
                }
            }
            let base = try RebuildPlan.Base(path: file.target, meta: meta, end: end, revision: LogRevision(of: session))
            return RebuildPlan(schema.map, hashes, over: base, kinds: kinds)
        }
    }

    /// Writes the changes since the previous cache into the new file, which nobody reads yet. Tables that were made
    /// from the log are brought up, too, because they are of the base's state.
    ///
    /// - Returns: The counts of the finished tables: copied rows and changes are counted by the database itself.
    private func bringUp(
        _ path: String,
        _ state: LogState,
        _ built: BuiltCache,
        to base: RebuildPlan.Base?
    ) throws -> BuiltCache {
        // Without a base the state is already that of the end.
        guard let base, state.sequence < base.end else { return built }
        let meta = try UnusableCache.blaming(base.path) { try follow(path, state, built.meta, to: base) }
        return try SQLiteConnection.telling("write the cache", path) {
            // `building` also turns WAL mode off.
            let connection = try SQLiteConnection(path, .building)
            let rows = try schema.map.tables.map { table in
                let rows = try connection.rows("SELECT count(*) FROM \(table.name.quotedSQL)")
                guard case .integer(let count)? = rows.first?.first else { return (table: table.name, count: 0) }
                return (table: table.name, count: Int(count))
            }
            return BuiltCache(rows: rows, meta: meta)
        }
    }

    /// Follows the log through the plan's end.
    ///
    /// - Throws: `EngineError` if the log was compacted since the plan was made.
    private func follow(
        _ path: String,
        _ state: LogState,
        _ meta: CacheMeta,
        to base: RebuildPlan.Base
    ) throws -> CacheMeta {
        var follower = try follower(state, meta, base.revision, at: path)
        try SQLiteConnection.telling("write the cache", path) {
            try store.read { session in
                guard try follower.continues(in: session) else {
                    throw EngineError(
                        "bring the cache \"\(path)\" up to date: the log was compacted or redacted meanwhile"
                    )
                }
                while try follower.step(session, through: base.end) != nil {}
            }
        }
        return follower.meta
    }

    /// A follower whose options read as the cache was built. By default it writes to the cache itself, else to a new
    /// file that nobody reads yet.
    func follower(
        _ state: LogState,
        _ meta: CacheMeta,
        _ revision: LogRevision,
        at path: String? = nil
    ) throws -> CacheFollower {
        var replay = ReplayOptions()
        replay.profile = profile
        return try SQLiteConnection.telling("follow with", file.path) {
            try CacheFollower(
                schema.map,
                at: path ?? file.target,
                state: state,
                meta: meta,
                revision: revision,
                options: replay
            )
        }
    }
}

// MARK: - Comparing and going back

extension CacheRebuild {
    /// Swaps the previous cache in again.
    ///
    /// - Returns: The meta table of that cache; `nil` if it is not readable.
    /// - Throws: `EngineError` with code `no` if there is no earlier cache, with `locked` while another rebuild runs.
    package static func goBack(_ path: String) throws -> CacheMeta? {
        let file = CacheFile(path: path)
        try SQLiteConnection.telling("rebuild", path) { try file.goBack() }
        let cache = try SQLiteConnection(file.target, .reading, .reading)
        return (try? CacheOrigin(of: cache)).flatMap { CacheMeta($0.values) }
    }

    /// True if the cache is what the log says.
    ///
    /// Cost: the log's rows are made anew in a temporary folder, then both sides are sorted by key.
    ///
    /// - Throws: `EngineError` with code `no` if there is no cache.
    public func isCurrent() throws -> Bool {
        var isCurrent = true
        _ = try compare(begin: {}) { _ in
            isCurrent = false
            return false
        }
        return isCurrent
    }

    /// Compares the cache with the log until `body` returns false. Changes nothing, and takes no lock: a follower may go
    /// on, and then the cache may be ahead of the state.
    ///
    /// - Parameter begin: Called once the log is folded.
    /// - Returns: The last event of the log's state.
    package func compare(
        begin: () -> Void,
        _ body: (CacheComparison.Difference) throws -> Bool
    ) throws -> SequenceNumber {
        guard try file.occupant() != .nothing else {
            throw EngineError("check \"\(file.path)\": there is no cache; build one", code: .no)
        }
        try refuseOtherSchema(advice: "give them")
        let state = try state()
        begin()
        try CacheComparison.compare(state, schema.map, of: store, with: file.path, body)
        return state.sequence
    }

    /// Compares a new file with the current cache, whose schema may be another. Neither state is folded again.
    ///
    /// Both sides are databases, so this is quicker than `compare`, which makes the log's side first.
    ///
    /// - Parameters:
    ///   - tables: Gets the tables that differ apart from their rows.
    ///   - row: Gets each row on which the tables and columns that both sides have differ, until it returns false.
    /// - Returns: False if there is no database to compare with.
    /// - Throws: `EngineError` if the current cache cannot be read.
    package func compare(
        new path: String,
        tables: ([TableChange]) throws -> Void,
        row: (CacheComparison.Difference) throws -> Bool
    ) throws -> Bool {
        let occupant = try file.occupant()
        guard occupant != .nothing, occupant != .foreign else { return false }
        try SQLiteConnection.telling("compare the cache", file.path) {
            let log = try SQLiteConnection(path, .reading, .reading)
            let cache = try SQLiteConnection(file.target, .reading, .reading)
            let schemas = try SchemaComparison(schema.map, new: log, old: cache)
            try tables(schemas.changes)
            try CacheComparison(comparable: schemas.map, log: log, cache: cache).forEachDifference(row)
        }
        return true
    }
}
