import ArgumentParser
import CacheTables
import Clients
import EventLog
import Projections

/// `logtool rebuild`: makes caches of the log and keeps them current.
///
/// It parses, refuses and prints; `CacheRebuild` runs. A cache is disposable: every table can be made from the log again, so only
/// files that no rebuild made need `--yes`.
struct RebuildCommand: AsyncParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild",
        abstract: "Build a cache from the log, beside the old one, and swap it in.",
        usage: """
            logtool rebuild LOG --to FILE [options]
            logtool rebuild LOG --to FILE --schema SQL --map YAML [options]
            logtool rebuild LOG --to FILE --check|--back
            logtool rebuild --print-schema|--print-map [--with events]
            """,
        discussion: """
            FILE is a symbolic link to FILE.d/NNN.sqlite: readers of the old cache keep it until they open FILE again. Where FILE \
            is a database itself, the new one is copied into it in one transaction. A FILE that ends in .json or .ndjson gets the \
            state as JSON. Schemas and maps: docs/cache.md.
            """
    )

    static let examples = [
        Example("logtool rebuild chat.eventlog --to chat.sqlite", "the cache of the newest state"),
        Example("logtool rebuild chat.eventlog --to old.sqlite --at head~100", "the cache as it was"),
        Example("logtool rebuild chat.eventlog --to app.sqlite --schema app.sql --map app.yaml", "an app's own schema"),
        Example("logtool rebuild chat.eventlog --to chat.sqlite --diff --dry-run", "what would look different"),
        Example(
            "logtool rebuild chat.eventlog --to app.sqlite --schema v2.sql --map v2.yaml --plan",
            "which tables a changed schema needs anew"
        ),
        Example("logtool rebuild chat.eventlog --to chat.sqlite --check", "whether the cache is what the log says"),
        Example("logtool rebuild chat.eventlog --to chat.sqlite --back", "the cache before the last rebuild"),
        Example("logtool rebuild chat.eventlog --to chat.sqlite --follow", "a cache that is kept current"),
        Example("logtool rebuild chat.eventlog --to chat.sqlite --with events", "with the events and their payloads"),
        Example("logtool rebuild chat.eventlog --to chat.ndjson", "every row as a line of JSON"),
        Example("sqlite3 chat.sqlite 'SELECT author, content FROM messages'", "what to do with it"),
    ]

    /// Optional for the parser alone, as is `--to`: `--print-schema` and `--print-map` need neither.
    @Argument(help: ArgumentHelp("The log's directory.", valueName: "log"), completion: .directory)
    var path: String?

    /// The suffix `.json` or `.ndjson` chooses JSON in place of SQLite (`StateFile`).
    @Option(help: ArgumentHelp("The cache's path.", valueName: "file"), completion: .file())
    var to: String?

    @OptionGroup var point: PointOptions
    @OptionGroup var reading: ProfileOptions
    @OptionGroup var decoders: DecoderOptions

    /// The app's SQL unchanged. It is checked statement by statement, because it may come from elsewhere
    /// (`SQLiteGuard`).
    @Option(help: ArgumentHelp("The SQL of an app's own schema.", valueName: "file"), completion: .file())
    var schema: String?

    @OptionGroup var mapping: MapOptions

    /// A list, so that more tables can follow.
    @Option(
        help: ArgumentHelp("Make a table events, too: the log's events, payloads as JSON.", valueName: "tables"),
        completion: .list(Extra.allCases.map(\.rawValue))
    )
    var with: [Extra] = []

    /// A table that is made only where it is asked for.
    enum Extra: String, CaseIterable, ExpressibleByArgument {
        case events
    }

    @Flag(help: "Print which tables are made from the log and which are copied from the cache before, then do it.")
    var plan = false

    @Flag(help: "Only compare the cache with the log; exit code 1 with the first difference.")
    var check = false

    @Flag(help: "Show how many rows of each table will be different, and the first ones, before the swap.")
    var diff = false

    /// Builds the whole file beside the old one and removes it, so it costs as much as a rebuild.
    @Flag(help: "Build and compare, but leave the old cache.")
    var dryRun = false

    /// Needs no log, but `LOG` is given as in every other form.
    @Flag(help: "Swap the cache before the last rebuild in again.")
    var back = false

    @Flag(help: "Go on with new events until interrupted, one transaction a batch.")
    var follow = false

    @Flag(help: "Print the SQL of the program's own cache.")
    var printSchema = false

    @Flag(help: "Print the map of the program's own cache.")
    var printMap = false

    @Flag(help: "Replace a file that was not made by rebuild, or a cache of another schema where none is given.")
    var yes = false
    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

    /// Refuses what the options alone show. The messages for a missing LOG or `--to` are those that the parser would
    /// give.
    func validate() throws {
        if printSchema || printMap { return }
        guard path != nil else { throw ValidationError("Missing expected argument '<log>'") }
        guard let to else { throw ValidationError("Missing expected argument '--to <file>'") }
        if to.isEmpty || to.hasSuffix("/") { throw ValidationError("--to needs a file's name") }
        // Standard output can neither be renamed nor read at random.
        if to == "-" {
            throw ValidationError("--to - is refused: a cache is a file with a name, such as ./-")
        }
        if (schema == nil) != (mapping.map == nil) {
            throw ValidationError("--schema and --map go together: what exists, and what goes into it")
        }
        try validateModes(to)
    }

    /// Refuses options that exclude each other. `--dry-run --diff` is the one pair that goes together. Each mode ends
    /// the command in another way, so two would leave one out.
    private func validateModes(_ to: String) throws {
        let modes = [
            ("--check", check), ("--back", back), ("--follow", follow), ("--dry-run", dryRun), ("--diff", diff),
        ]
        let chosen = modes.filter(\.1).map(\.0)
        if chosen.count > 1, chosen != ["--dry-run", "--diff"] {
            throw ValidationError("\(chosen[0]) and \(chosen[1]) exclude each other")
        }
        if plan, check || back || follow {
            throw ValidationError("--plan goes with a rebuild: leave --check, --back and --follow out")
        }
        if follow, point.at != nil { throw ValidationError("--follow ends at no point; leave --at out") }
        if StateFile(path: to) != nil,
            schema != nil || !with.isEmpty || plan || chosen.contains(where: { $0 != "--dry-run" })
        {
            throw ValidationError("\"\(to)\" is JSON: it has no schema, and nothing is swapped, compared or followed")
        }
    }

    func run() async throws {
        if printSchema || printMap { return try printOwn() }
        guard let path, let to else { return }
        // Schema and map are read before the log is opened: their mistakes are found at once.
        let own = try schema.map { try MappedSchema.app(sql: $0, map: mapping.map ?? "", values: mapping.valuesByName) }
        let plain = try own ?? MappedSchema.own()
        let schema = with.contains(.events) ? try plain.withEvents() : plain
        // Opens no log.
        if back { return try goBack(to) }
        let store = try decoders.used(in: LogOptions.open(path, isQuiet: output.quiet), isQuiet: output.quiet)
        try tellOfPoint(in: store)
        // JSON targets have no old cache, so none of the modes applies; `validate` has refused them.
        if let target = StateFile(path: to) { return try write(target, store, schema) }
        var rebuild = CacheRebuild(
            of: store,
            to: to,
            schema: schema,
            profile: reading.profile,
            at: point.at,
            keeping: StateQuery().replayOptions.keeping
        )
        (rebuild.replacesForeign, rebuild.isDryRun) = (yes, dryRun)
        // A map is more often misspelt than a log without such rows. The program's own has no conditions that matter.
        if own != nil, !output.quiet { rebuild.noted = { StandardError.line("logtool: \($0)") } }
        if check { return try compare(rebuild) }
        if follow { return try await go(on: rebuild) }
        try build(rebuild)
    }

    /// Points out a time before the first event.
    private func tellOfPoint(in store: EventStore) throws {
        guard !output.quiet, let at = point.at else { return }
        let notice = try store.read { session in
            // A point that does not resolve is refused where the state is folded.
            try (try? at.resolve(in: session)).flatMap { try PointNotice.text(for: at, resolvedTo: $0, in: session) }
        }
        if let notice { StandardError.line("logtool: \(notice)") }
    }

    /// Prints the SQL, the map, or one after the other, as files that `--schema` and `--map` take back.
    private func printOwn() throws {
        let output = output.standardOutput
        if printSchema { try output.write((OwnSchema.sql + (with.contains(.events) ? OwnSchema.eventsSQL : "")).utf8) }
        if printMap { try output.write(OwnSchema.map.utf8) }
        if printMap, with.contains(.events) { try output.write(OwnSchema.eventsTable.utf8) }
        try output.flush()
    }
}

// MARK: - Printing

extension RebuildCommand {
    /// Builds the cache and prints its rows, with the plan and the differences if they are wanted.
    private func build(_ rebuild: CacheRebuild) throws {
        var rebuild = rebuild
        let progress = RebuildProgress(output)
        rebuild.report = progress.show
        var planCount = 0
        rebuild.planned = { plan in
            guard self.plan else { return }
            // Rows may be written by now, and the plan must not share a line with their number.
            progress.end()
            planCount += 1
            try printPlan(plan, isSecond: planCount > 1)
        }
        let made = rebuild
        rebuild.completed = { path in if diff { try printDifferences(made, path, progress) } }
        let built = try rebuild.run()
        progress.end()
        try report(built, swapped: !dryRun)
    }

    /// Goes on with new events until interrupted. Polls the log every 200 ms while nothing comes. Returns by an error alone.
    private func go(on rebuild: CacheRebuild) async throws {
        var rebuild = rebuild
        let progress = RebuildProgress(output)
        rebuild.report = progress.show
        var following = try CacheFollowing(rebuild)
        while true {
            let step = try following.step()
            progress.end()
            switch step {
            case .built(let built): try report(built, swapped: true)
            case .followed(let batch): try report(batch)
            case nil: try await Task.sleep(for: .milliseconds(200))
            }
        }
    }

    /// Writes a state as JSON instead of a cache. A dry run counts its rows.
    private func write(_ target: StateFile, _ store: EventStore, _ schema: MappedSchema) throws {
        let progress = output.progress("replaying")
        let loader = StateLoader(store: store, progress: progress, isQuiet: true)
        let query = StateQuery(point: point.at, profile: reading.profile)
        var state = try loader.logState(for: query)
        let meta = CacheMeta(
            of: &state,
            identity: try store.read { try $0.identity() },
            profile: reading.profile.rawValue,
            schema: schema.hash
        )
        loader.keepDigest(of: &state, for: query)
        progress.begin(dryRun ? "counting the rows" : "writing the rows")
        let rows = try dryRun ? target.count(&state, meta: meta) : target.write(&state, meta: meta, overwrites: yes)
        progress.end()
        try report(BuiltCache(rows: rows, meta: meta), swapped: !dryRun)
    }

    /// Prints one line, or one document, for a cache that was built. Empty tables are left out for people only.
    private func report(_ built: BuiltCache, swapped: Bool) throws {
        let output = output.standardOutput
        if document.json {
            var rows = JSONObject()
            for (table, count) in built.rows { rows[table] = .int(count) }
            let summary: JSONObject = [
                "sequence": .string(built.sequence.description), "digest": .string(built.digest), "rows": .object(rows),
                "swapped": .bool(swapped),
            ]
            try output.line(JSONValue.object(summary).text)
        } else {
            let shown = built.rows.filter { $0.count > 0 }.map { "\($0.table) \($0.count)" }
            let verb = swapped ? "built" : "would build"
            let text = "\(verb) \(to ?? "") at sequence \(built.sequence): \(shown.joined(separator: ", "))"
            try output.line(DisplayText.escaped(text))
        }
        try output.flush()
    }

    /// Prints a line for each batch. With `--json`, the keys of the changed things, so that a screen can be refreshed.
    private func report(_ batch: CacheFollower.Batch) throws {
        let output = output.standardOutput
        if document.json {
            var tables = JSONObject()
            var rows = JSONObject()
            for table in batch.tables {
                tables[table.name] = .array(table.keys)
                rows[table.name] = .int(table.rowCount)
            }
            let line: JSONObject = [
                "sequence": .string(batch.meta.sequence.description), "digest": .string(batch.meta.digest),
                "changed": .object(tables), "rows": .object(rows),
            ]
            try output.line(JSONValue.object(line).text)
        } else {
            let changed = batch.tables.map { "\($0.name) \($0.keys.count)" }.joined(separator: ", ")
            let text = changed.isEmpty ? "nothing changed" : DisplayText.escaped(changed)
            try output.line("\(batch.meta.sequence): \(text)")
        }
        try output.flush()
    }

    /// Prints the plan before it is carried out, so that a long run can be stopped. A second plan says that it takes the place
    /// of the first.
    private func printPlan(_ plan: RebuildPlan, isSecond: Bool) throws {
        let output = output.standardOutput
        if document.json {
            let replaces: JSONValue? = isSecond ? .bool(true) : nil
            try output.line(JSONValue.object(["plan": .array(plan.steps.map(\.json)), "replaces": replaces]).text)
        } else {
            if isSecond { try output.line("this plan takes the place of the one above:") }
            for step in plan.steps { try output.line(DisplayText.escaped(step.line)) }
        }
        try output.flush()
    }

    /// Swaps the previous cache in again, and prints its sequence. An earlier cache may lack a readable meta table; then there
    /// is no sequence to print.
    private func goBack(_ path: String) throws {
        let meta = try CacheRebuild.goBack(path)
        let output = output.standardOutput
        if document.json {
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

    /// Compares the cache with the log, and throws `Outcome.no` at the first difference.
    private func compare(_ rebuild: CacheRebuild) throws {
        var rebuild = rebuild
        let progress = RebuildProgress(output)
        rebuild.report = progress.show
        var first: CacheComparison.Difference?
        let sequence = try rebuild.compare(begin: { progress.begin("comparing") }) { difference in
            first = difference
            return false
        }
        progress.end()
        let output = output.standardOutput
        if document.json {
            let differences = first.map { [CachePrinter(output: output).json($0)] } ?? []
            let answer: JSONObject = ["same": .bool(first == nil), "differences": .array(differences)]
            try output.line(JSONValue.object(answer).text)
        } else if let first {
            try CachePrinter(output: output).print(first)
        } else {
            try output.line("the cache is what the log says at sequence \(sequence)")
        }
        try output.flush()
        if first != nil { throw Outcome.no }
    }

    /// Prints how the new cache differs from the current one: the first rows of each table, then its columns and counts.
    ///
    /// A current cache that cannot be read is told, and is no reason to keep it.
    private func printDifferences(_ rebuild: CacheRebuild, _ path: String, _ progress: RebuildProgress) throws {
        progress.begin("comparing")
        var rows = CacheDifferences()
        var shown: [CacheComparison.Difference] = []
        var tables: [TableChange] = []
        let isThere: Bool
        do {
            isThere = try rebuild.compare(new: path) {
                tables = $0
            } row: { difference in
                if rows.add(difference) <= CacheDifferences.shownMax { shown.append(difference) }
                return true
            }
        } catch let error as EngineError {
            progress.end()
            return StandardError.line("logtool: nothing is compared: \(error)")
        }
        // Without a cache there is nothing to compare.
        guard isThere else { return }
        progress.end()
        let output = output.standardOutput
        let printer = CachePrinter(output: output, way: .oldToNew)
        if document.json {
            let changes: JSONObject = [
                "tables": .array(tables.map(\.json)), "rows": rows.json(.oldToNew),
                "differences": .array(shown.map(printer.json)),
            ]
            try output.line(JSONValue.object(["diff": .object(changes)]).text)
        } else {
            for difference in shown { try printer.print(difference) }
            for line in tables.flatMap(\.lines) + rows.lines(.oldToNew) { try output.line(line) }
            if tables.isEmpty, rows.isEmpty { try output.line("nothing will look different") }
        }
        try output.flush()
    }
}

/// The progress line of a rebuild, from its first report on. For one thread.
final class RebuildProgress {
    private let output: OutputOptions
    private var progress: Progress?

    init(_ output: OutputOptions) { self.output = output }

    func begin(_ activity: String) {
        if let progress { progress.begin(activity) } else { progress = output.progress(activity) }
    }

    func show(_ work: CacheWork) {
        switch work {
        case .folding(nil): begin("replaying")
        case .folding(let place?):
            let (done, total) = (Int(clamping: place.sequence.rawValue), Int(clamping: place.last.rawValue))
            progress?.report("replayed \(place.sequence) of \(place.last)", done: done, total: total)
        case .writing(rows: 0): begin("writing the rows")
        case .writing(let rows): progress?.report("wrote \(rows) rows", done: rows)
        case .indexing: begin("making indexes")
        case .copying(nil): begin("copying rows")
        case .copying(let copied?):
            progress?.report("copied \(copied.rows) rows of \(copied.table)", done: copied.rows)
        }
    }

    /// Removes the line. The next report makes another.
    func end() {
        progress?.end()
        progress = nil
    }
}
