import EventLog
import Projections

/// One run of `rebuild`: from the options to a swapped, checked or followed cache.
///
/// It decides the order: the new file is complete before it is swapped in, and any doubt about the previous cache makes
/// all tables from the log.
///
/// Every way ends in one swap or one SQLite transaction, so readers see the old rows or the new ones (I30). A failure
/// in between leaves the old cache as it was.
struct Rebuild {
    var file: CacheFile
    let schema: MappedSchema
    let options: RebuildCommand

    /// The meta table's name comes from the map: it decides which files count as filled by a rebuild.
    init(file: CacheFile, schema: MappedSchema, options: RebuildCommand) {
        self.file = file
        self.file.metaTable = schema.map.metaTable
        (self.schema, self.options) = (schema, options)
    }

    var output: OutputOptions { options.output }

    /// Builds the cache, or does what the options request instead.
    ///
    /// - Throws: `Outcome.no` if `--check` finds a difference; `Failure` with exit code 4 if the path holds something
    ///   that no rebuild made.
    func run(_ store: EventStore) throws {
        // JSON targets have no old cache, so none of the modes below applies; `RebuildCommand` has refused them.
        if let target = StateFile(path: file.path) { return try write(target, store) }
        if options.check { return try check(store) }
        try refuseForeign()
        let plan = try plan(store)
        do {
            try run(plan, store)
        } catch let failure as Failure where plan.base != nil && failure.exitCode == Outcome.trouble {
            // Whatever is wrong with the previous cache, the log has everything. Only failures with exit code 2 are
            // caught; refusals, answers and a damaged log go on.
            try run(RebuildPlan(whole: schema.map, because: "the cache before is of no use (\(failure))"), store)
        }
    }

    /// Builds a cache by a plan, in the state of the plan's base, then brings it up to its end.
    ///
    /// Cost: a replay to the base or the end, the rows of the plan, and with a base the events since.
    private func run(_ plan: RebuildPlan, _ store: EventStore) throws {
        if options.plan { try printPlan(plan) }
        let progress = output.progress("replaying")
        var state = try state(
            store,
            at: plan.base.flatMap { Point("\($0.meta.sequence)") } ?? options.point.at,
            progress
        )
        let meta = try meta(of: &state, store)
        // Rows may be copied only if the previous cache held exactly this state. A changed decoder may have changed the
        // digest, too; then nothing shows whether the cache was right.
        if let base = plan.base, base.meta.digest != meta.digest, base.meta.changedDecoders.isEmpty {
            throw Failure("copy the cache \"\(base.path)\": its digest is not the log's")
        }
        // Before the comparison and the swap, so that both see the rows of the plan's end.
        let built = try build(state, meta, progress, by: plan) { path, counts in
            try bringUp(path, state, meta, counts, to: plan.base, store)
        }
        progress.end()
        try report(built.counts, built.meta, swapped: !options.dryRun)
    }

    /// Refuses to replace what somebody else made. A dry run may compare with it.
    ///
    /// - Throws: `Failure` with exit code 4 if the path holds something that no rebuild made, and neither `--yes` nor
    ///   `--dry-run` is given.
    func refuseForeign() throws {
        let occupant = try file.occupant()
        guard options.yes || options.dryRun || occupant.isOurs else {
            throw Failure(
                "rebuild \"\(file.path)\": the file was not made by rebuild; add --yes to replace it",
                exitCode: Outcome.refused
            )
        }
    }

    /// The state at a point, read by the profile of the options; at the head for `nil`.
    func state(_ store: EventStore, at point: Point?, _ progress: Progress) throws -> LogState {
        let loader = StateLoader(store: store, progress: progress, isQuiet: output.quiet)
        return try loader.logState(for: StateQuery(point: point, profile: options.reading.profile))
    }

    /// The meta table of a cache of this state and schema. A schema whose SQL does not run has no table hashes;
    /// building it reports the error.
    func meta(of state: inout LogState, _ store: EventStore) throws -> CacheMeta {
        let identity = try store.read { try $0.identity() }
        let meta = CacheMeta(
            of: &state,
            identity: identity,
            profile: options.reading.profile,
            schema: schema.hash,
            tables: (try? schema.tableHashes()) ?? [:]
        )
        StateLoader(store: store).keepDigest(of: &state, for: StateQuery(profile: options.reading.profile))
        return meta
    }

    /// The row counts and the meta table of a built cache.
    typealias Built = (counts: CacheWriter.RowCounts, meta: CacheMeta)

    /// Builds the new file and swaps it in, unless this is a dry run.
    ///
    /// - Parameter place: The locked folder, if the caller holds it.
    /// - Parameter complete: Called with the new file before it is compared and swapped in.
    func build(
        _ state: borrowing LogState,
        _ meta: CacheMeta,
        _ progress: Progress,
        by plan: RebuildPlan,
        holding place: CacheFolder? = nil,
        _ complete: (_ path: String, CacheWriter.RowCounts) throws -> Built
    ) throws -> Built {
        var writer = CacheWriter(schema: schema, progress: progress)
        writer.pageSize = try file.pageSize()
        return try file.replace(holding: place) { path in
            if options.diff { try showDifferences(path, progress) }
            return !options.dryRun
        } _: { path in
            try complete(path, try writer.write(state, meta: meta, to: path, by: plan))
        }
    }

    /// Writes a state as JSON instead of a cache. A dry run counts its rows.
    private func write(_ target: StateFile, _ store: EventStore) throws {
        let progress = output.progress("replaying")
        var state = try state(store, at: options.point.at, progress)
        let meta = try meta(of: &state, store)
        progress.begin(options.dryRun ? "counting the rows" : "writing the rows")
        let counts =
            try options.dryRun
            ? target.count(&state, meta: meta) : target.write(&state, meta: meta, overwrites: options.yes)
        progress.end()
        try report(counts, meta, swapped: !options.dryRun)
    }

    /// Prints one line, or one document, for a cache that was built. Empty tables are left out for people only.
    func report(_ counts: CacheWriter.RowCounts, _ meta: CacheMeta, swapped: Bool) throws {
        let output = output.standardOutput
        if options.document.json {
            var rows = JSONObject()
            for (table, count) in counts { rows[table] = .int(count) }
            let summary: JSONObject = [
                "sequence": .string(meta.sequence.description), "digest": .string(meta.digest), "rows": .object(rows),
                "swapped": .bool(swapped),
            ]
            try output.line(JSONValue.object(summary).text)
        } else {
            let shown = counts.filter { $0.count > 0 }.map { "\($0.table) \($0.count)" }
            let verb = swapped ? "built" : "would build"
            let text = "\(verb) \(file.path) at sequence \(meta.sequence): \(shown.joined(separator: ", "))"
            try output.line(DisplayText.escaped(text))
        }
        try output.flush()
    }
}

// MARK: - By need

extension Rebuild {
    /// Decides which tables of the new cache come from the previous cache and which from the log. `--plan` prints the
    /// reason.
    ///
    /// Doubts about the cache give a plan for all tables, never an error: what cannot be read is made again.
    private func plan(_ store: EventStore) throws -> RebuildPlan {
        func whole(_ reason: String) -> RebuildPlan { RebuildPlan(whole: schema.map, because: reason) }
        guard try file.occupant().isOurs, try file.occupant() != .nothing,
            let known = try? SQLiteConnection(file.target, .reading, .reading),
            let meta = CacheMeta(known, table: schema.map.metaTable)
        else { return whole("there is no cache yet") }
        // Building the same schema again is how a user repairs a cache, so nothing is copied.
        if meta.schema == schema.hash, meta.changedDecoders.isEmpty { return whole("the schema is that of the cache") }
        guard meta.profile == options.reading.profile.rawValue else { return whole("the cache is of another profile") }
        let hashes = (try? schema.tableHashes()) ?? [:]
        return try store.read { session in
            let identity = CacheMeta.text(ofIdentity: try session.identity())
            guard identity == meta.identity else { return whole("the cache is of another log") }
            // Fixed here, so that events appended meanwhile do not move the end of this run.
            let end = try options.point.at?.resolve(in: session) ?? session.head
            guard meta.canContinue(in: session), meta.sequence <= end else {
                return whole("the cache is of a state that does not lead to this one")
            }
            let base = RebuildPlan.Base(path: file.target, meta: meta, end: end, decidedAt: session.decidedAt)
            return RebuildPlan(schema.map, hashes, over: base, kinds: try session.kindsBySource())
        }
    }

    /// Writes the changes since the previous cache into the new file, which nobody reads yet. Tables that were made
    /// from the log are brought up, too, because they are of the base's state.
    ///
    /// - Returns: The counts of the finished tables: copied rows and changes are counted by the database itself.
    private func bringUp(
        _ path: String,
        _ state: LogState,
        _ meta: CacheMeta,
        _ counts: CacheWriter.RowCounts,
        to base: RebuildPlan.Base?,
        _ store: EventStore
    ) throws -> Built {
        // Without a base the state is already that of the end.
        guard let base, state.sequence < base.end else { return (counts, meta) }
        let meta = try follow(path, state, meta, to: base, store)
        return try SQLiteConnection.telling("write the cache", path) {
            // `building` also turns WAL mode off.
            let connection = try SQLiteConnection(path, .building)
            let counts = try schema.map.tables.map { table in
                let rows = try connection.rows("SELECT count(*) FROM \(table.name.quotedSQL)")
                guard case .integer(let count)? = rows.first?.first else { return (table: table.name, count: 0) }
                return (table: table.name, count: Int(count))
            }
            return (counts, meta)
        }
    }

    /// Follows the log through the plan's end.
    ///
    /// - Throws: `Failure` if the log was compacted since the plan was made.
    private func follow(
        _ path: String,
        _ state: LogState,
        _ meta: CacheMeta,
        to base: RebuildPlan.Base,
        _ store: EventStore
    ) throws -> CacheMeta {
        var follower = try follower(state, meta, base.decidedAt, at: path)
        try SQLiteConnection.telling("write the cache", path) {
            try store.read { session in
                guard follower.continues(in: session) else {
                    throw Failure("bring the cache \"\(path)\" up to date: the log was compacted meanwhile")
                }
                while try follower.step(session, through: base.end) != nil {}
            }
        }
        return follower.meta
    }

    /// Prints the plan before it is carried out, so that a long run can be stopped.
    private func printPlan(_ plan: RebuildPlan) throws {
        let output = output.standardOutput
        if options.document.json {
            try output.line(JSONValue.object(["plan": .array(plan.steps.map(\.json))]).text)
        } else {
            for step in plan.steps { try output.line(DisplayText.escaped(step.line)) }
        }
        try output.flush()
    }
}

// MARK: - Comparing and going back

extension Rebuild {
    /// Swaps the previous cache in again, and prints its sequence.
    ///
    /// - Throws: `Failure` with exit code 1 if there is no earlier cache, with 11 while another rebuild runs.
    func goBack() throws {
        try SQLiteConnection.telling("rebuild", file.path) { try file.goBack() }
        let connection = try SQLiteConnection(file.target, .reading, .reading)
        // An earlier cache may lack a readable meta table. It is swapped in all the same, without a sequence to print.
        let meta = CacheMeta(connection, table: schema.map.metaTable)
        let output = output.standardOutput
        if options.document.json {
            let summary: JSONObject = [
                "sequence": meta.map { .string($0.sequence.description) }, "digest": meta.map { .string($0.digest) },
                "swapped": .bool(true),
            ]
            try output.line(JSONValue.object(summary).text)
        } else {
            let place = meta.map { " at sequence \($0.sequence)" } ?? ""
            try output.line("went back to the cache before\(place)")
        }
        try output.flush()
    }

    /// Compares the cache with the log, and throws `Outcome.no` at the first difference. Changes nothing, and takes no
    /// lock: a follower may go on, and then the cache may be ahead of the state.
    ///
    /// Cost: the log's rows are made anew in a scratch folder, then both sides are sorted by key.
    private func check(_ store: EventStore) throws {
        guard try file.occupant() != .nothing else {
            throw Failure("check \"\(file.path)\": there is no cache; build one", exitCode: Outcome.no)
        }
        let progress = output.progress("replaying")
        let state = try state(store, at: options.point.at, progress)
        progress.begin("comparing")
        var first: CacheComparison.Difference?
        try CacheComparison.compare(state, schema.map, with: file.path) { difference in
            first = difference
            return false
        }
        progress.end()
        let output = output.standardOutput
        if options.document.json {
            let differences = first.map { [CachePrinter.json($0)] } ?? []
            let answer: JSONObject = ["same": .bool(first == nil), "differences": .array(differences)]
            try output.line(JSONValue.object(answer).text)
        } else if let first {
            try CachePrinter(output: output).print(first)
        } else {
            try output.line("the cache is what the log says at sequence \(state.sequence)")
        }
        try output.flush()
        if first != nil { throw Outcome.no }
    }

    /// Prints how the new cache differs from the current one: counts and the first rows, by table. Neither state is
    /// folded again.
    ///
    /// Both sides are databases with the map's tables, so this is quicker than `check`, which makes the log's side
    /// first.
    private func showDifferences(_ new: String, _ progress: Progress) throws {
        progress.begin("comparing")
        let output = output.standardOutput
        // Without a cache there is nothing to compare.
        guard try file.occupant() != .nothing else { return }
        try SQLiteConnection.telling("compare the cache", file.path) {
            let log = try SQLiteConnection(new, .reading, .reading)
            let cache = try SQLiteConnection(file.target, .reading, .reading)
            var differences = CacheDifferences()
            var shown: [CacheComparison.Difference] = []
            let comparison = try CacheComparison(comparable: schema.map, log: log, cache: cache)
            try comparison.forEachDifference { difference in
                if differences.add(difference) <= CacheDifferences.shownMax { shown.append(difference) }
                return true
            }
            progress.end()
            // With --json only the summary goes to standard output; the rest is for people.
            if options.document.json { return }
            for difference in shown { try CachePrinter(output: output).print(difference) }
            for line in differences.lines { try output.line(line) }
            if differences.isEmpty { try output.line("nothing will look different") }
        }
        try output.flush()
    }
}
