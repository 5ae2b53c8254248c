import EventLog
import Projections

/// One run of `rebuild`.
struct Rebuild {
    var file: CacheFile
    let schema: CacheSchema
    let options: RebuildCommand

    init(file: CacheFile, schema: CacheSchema, options: RebuildCommand) {
        self.file = file
        self.file.metaTable = schema.map.metaTable
        (self.schema, self.options) = (schema, options)
    }

    private var output: OutputOptions { options.output }

    /// Builds the cache, or what else of it is asked for.
    func run(_ store: EventStore) throws {
        if let target = StateFile(path: file.path) { return try write(target, store) }
        if options.check { return try check(store) }
        try refuseForeign()
        let progress = output.progress("replaying")
        var state = try state(store, progress)
        let meta = try meta(of: &state, store)
        let counts = try build(state, meta, progress)
        progress.end()
        try report(counts, meta, swapped: !options.dryRun)
    }

    /// - Throws: `Failure` with exit code 4 where something else than a cache stands there.
    func refuseForeign() throws {
        let occupant = try file.occupant()
        guard options.yes || options.dryRun || occupant.isOurs else {
            throw Failure(
                "rebuild \"\(file.path)\": the file was not made by rebuild; add --yes to replace it",
                exitCode: Outcome.refused
            )
        }
    }

    func state(_ store: EventStore, _ progress: Progress) throws -> Workspace {
        let loader = StateLoader(store: store, progress: progress, isQuiet: output.quiet)
        return try loader.workspace(for: StateQuery(point: options.point.at, profile: options.reading.profile))
    }

    func meta(of state: inout Workspace, _ store: EventStore) throws -> CacheMeta {
        let identity = try store.read { try $0.identity() }
        return CacheMeta(
            of: &state,
            identity: identity.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(),
            profile: options.reading.profile,
            schema: schema.hash
        )
    }

    /// Builds the new file and swaps it in, unless only what it would change is asked for.
    @discardableResult
    func build(
        _ state: borrowing Workspace,
        _ meta: CacheMeta,
        _ progress: Progress,
        holding place: CachePlace? = nil
    ) throws -> CacheWriter.RowCounts {
        var writer = CacheWriter(schema: schema, progress: progress)
        writer.pageSize = try file.pageSize()
        return try file.replace(holding: place) { path in
            if options.diff { try showDifferences(path, progress) }
            return !options.dryRun
        } _: { path in
            try writer.write(state, meta: meta, to: path)
        }
    }

    private func write(_ target: StateFile, _ store: EventStore) throws {
        let progress = output.progress("replaying")
        var state = try state(store, progress)
        let meta = try meta(of: &state, store)
        progress.begin("writing the rows")
        if options.dryRun { return }
        let counts = try target.write(&state, meta: meta, overwrites: options.yes)
        progress.end()
        try report(counts, meta, swapped: true)
    }

    private func report(_ counts: CacheWriter.RowCounts, _ meta: CacheMeta, swapped: Bool) throws {
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
            try output.line("\(verb) \(file.path) at sequence \(meta.sequence): \(shown.joined(separator: ", "))")
        }
        try output.flush()
    }
}

// MARK: - Comparing and going back

extension Rebuild {
    /// Swaps the cache before in again.
    func goBack() throws {
        try SQLiteConnection.telling("rebuild", file.path) { try file.goBack() }
        let connection = try SQLiteConnection(file.target, .reading, .reading)
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

    /// Compares the cache with the log, and exits with 1 at the first difference.
    private func check(_ store: EventStore) throws {
        guard try file.occupant() != .nothing else {
            throw Failure("check \"\(file.path)\": there is no cache; build one", exitCode: Outcome.no)
        }
        let progress = output.progress("replaying")
        let state = try state(store, progress)
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

    /// Says how the new cache differs from the one that stands there: counts and the first rows, by table.
    private func showDifferences(_ new: String, _ progress: Progress) throws {
        progress.begin("comparing")
        let output = output.standardOutput
        guard try file.occupant() != .nothing else { return try output.line("there is no cache yet") }
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
            // The summary alone goes to standard output as JSON; this is for people.
            if options.document.json { return }
            for difference in shown { try CachePrinter(output: output).print(difference) }
            for line in differences.lines { try output.line(line) }
            if differences.isEmpty { try output.line("nothing will look different") }
        }
        try output.flush()
    }
}

// MARK: - Following

extension Rebuild {
    /// Builds the cache where it is not one of this log and schema, then writes what new events change until it is interrupted.
    func follow(_ store: EventStore) async throws {
        try refuseForeign()
        // This process alone writes the cache until it ends.
        let place = try file.lock()
        defer { withExtendedLifetime(place) {} }
        var follower = try begin(store, place)
        while true {
            let batch = try SQLiteConnection.telling("write the cache", file.path) {
                try store.read { session in try follower.step(session) }
            }
            if let batch {
                try report(batch)
            } else {
                try await Task.sleep(for: .milliseconds(200))
            }
        }
    }

    private func begin(_ store: EventStore, _ place: CachePlace) throws -> CacheFollower {
        let progress = output.progress("replaying")
        defer { progress.end() }
        if let follower = try resumed(store, progress) { return follower }
        var state = try state(store, progress)
        let meta = try meta(of: &state, store)
        let counts = try build(state, meta, progress, holding: place)
        progress.end()
        try report(counts, meta, swapped: true)
        return try follower(state, meta)
    }

    /// Goes on where a cache of the same log, schema and profile ends; `nil` where there is none.
    private func resumed(_ store: EventStore, _ progress: Progress) throws -> CacheFollower? {
        guard try file.occupant() != .nothing, let known = try? SQLiteConnection(file.target, .reading, .reading),
            let meta = CacheMeta(known, table: schema.map.metaTable), meta.schema == schema.hash,
            meta.profile == options.reading.profile.rawValue
        else { return nil }
        let head = try store.read { session in
            session.decidedAt <= meta.sequence && meta.sequence <= session.head
        }
        guard head else { return nil }
        var query = StateQuery(profile: options.reading.profile)
        query.point = Point(meta.sequence.description)
        let loader = StateLoader(store: store, progress: progress, isQuiet: output.quiet)
        var state = try loader.workspace(for: query)
        guard try self.meta(of: &state, store) == meta else { return nil }
        return try follower(state, meta)
    }

    private func follower(_ state: Workspace, _ meta: CacheMeta) throws -> CacheFollower {
        var replay = ReplayOptions()
        replay.profile = options.reading.profile
        return try SQLiteConnection.telling("follow with", file.path) {
            try CacheFollower(schema.map, at: file.target, state: state, meta: meta, options: replay)
        }
    }

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
            try output.line("\(batch.meta.sequence): \(changed.isEmpty ? "nothing changed" : changed)")
        }
        try output.flush()
    }
}
