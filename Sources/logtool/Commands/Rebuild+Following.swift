import EventLog
import Projections

extension Rebuild {
    /// Builds the cache unless it is one of this log and schema, then writes the changes of new events until
    /// interrupted.
    ///
    /// Polls the log every 200 ms while nothing comes. One read session covers one batch, so that old pages of the log
    /// are not kept from reuse.
    ///
    /// Returns by an error alone.
    ///
    /// - Throws: `Failure` with exit code 11 if another rebuild holds the folder, with 4 as `refuseForeign`; the errors
    ///   of the log and of SQLite.
    func follow(_ store: EventStore) async throws {
        try refuseForeign()
        // Locked until the process ends: it alone writes the cache.
        let place = try file.lock()
        defer { withExtendedLifetime(place) {} }
        var follower = try begin(store, place)
        while true {
            var isCompacted = false
            // At most `Replay.followedEventsMax` events in one batch and session.
            let batch = try SQLiteConnection.telling("write the cache", file.path) {
                try store.read { session in
                    isCompacted = !follower.continues(in: session)
                    return isCompacted ? nil : try follower.step(session)
                }
            }
            if let batch {
                try report(batch)
            } else if isCompacted {
                // A compaction drops things that no event touches, so no batch would remove their rows.
                follower = try begin(store, place)
            } else {
                try await Task.sleep(for: .milliseconds(200))
            }
        }
    }

    /// A follower of the current cache, or of a new one.
    ///
    /// - Throws: `Failure` if a table has no columns that find a thing's rows again (`CacheFollower`).
    private func begin(_ store: EventStore, _ place: CacheFolder) throws -> CacheFollower {
        let progress = output.progress("replaying")
        defer { progress.end() }
        // Before the state is folded, so that a compaction in between is noticed.
        let decidedAt = try store.read { $0.decidedAt }
        if let follower = try resumed(store, decidedAt, progress) { return follower }
        var state = try state(store, at: options.point.at, progress)
        let meta = try meta(of: &state, store)
        let plan = RebuildPlan(whole: schema.map, because: "there is no cache to go on with")
        let built = try build(state, meta, progress, by: plan, holding: place) { ($1, meta) }
        progress.end()
        try report(built.counts, meta, swapped: true)
        return try follower(state, meta, decidedAt)
    }

    /// Continues from a cache of the same log, schema and profile; `nil` if there is none. The state is folded to the
    /// cache's sequence, mostly from a kept state.
    private func resumed(
        _ store: EventStore,
        _ decidedAt: SequenceNumber,
        _ progress: Progress
    ) throws -> CacheFollower? {
        guard try file.occupant() != .nothing, let known = try? SQLiteConnection(file.target, .reading, .reading),
            let meta = CacheMeta(known, table: schema.map.metaTable), meta.schema == schema.hash,
            meta.profile == options.reading.profile.rawValue
        else { return nil }
        guard try store.read({ session in meta.canContinue(in: session) }) else { return nil }
        var query = StateQuery(profile: options.reading.profile)
        query.point = Point(meta.sequence.description)
        let loader = StateLoader(store: store, progress: progress, isQuiet: output.quiet)
        var state = try loader.logState(for: query)
        // The digest included: a cache that holds something else is built anew.
        guard try self.meta(of: &state, store) == meta else { return nil }
        return try follower(state, meta, decidedAt)
    }

    /// A follower whose options read as the cache was built. By default it writes to the cache itself, else to a new
    /// file that nobody reads yet.
    func follower(
        _ state: LogState,
        _ meta: CacheMeta,
        _ decidedAt: SequenceNumber,
        at path: String? = nil
    ) throws -> CacheFollower {
        var replay = ReplayOptions()
        replay.profile = options.reading.profile
        return try SQLiteConnection.telling("follow with", file.path) {
            try CacheFollower(
                schema.map,
                at: path ?? file.target,
                state: state,
                meta: meta,
                decidedAt: decidedAt,
                options: replay
            )
        }
    }

    /// Prints a line for each batch. With `--json`, the keys of the changed things, so that a screen can be refreshed.
    private func report(_ batch: CacheFollower.Batch) throws {
        let output = output.standardOutput
        if options.document.json {
            var tables = JSONObject()
            for table in batch.tables { tables[table.name] = .array(table.keys) }
            let line: JSONObject = [
                "sequence": .string(batch.meta.sequence.description), "digest": .string(batch.meta.digest),
                "changed": .object(tables),
            ]
            try output.line(JSONValue.object(line).text)
        } else {
            let changed = batch.tables.map { "\($0.name) \($0.keys.count)" }.joined(separator: ", ")
            let text = changed.isEmpty ? "nothing changed" : DisplayText.escaped(changed)
            try output.line("\(batch.meta.sequence): \(text)")
        }
        try output.flush()
    }
}
