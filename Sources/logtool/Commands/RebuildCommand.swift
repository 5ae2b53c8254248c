import ArgumentParser
import EventLog
import Projections

/// `logtool rebuild`: makes caches of the log and keeps them current.
///
/// It parses and refuses; `Rebuild` runs. A cache is disposable: every table can be made from the log again, so only
/// files that no rebuild made need `--yes`.
struct RebuildCommand: AsyncParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild",
        abstract: "Build a cache from the log, beside the old one, and swap it in.",
        usage: """
            logtool rebuild LOG --to FILE [options]
            logtool rebuild LOG --to FILE --schema SQL --map YAML [options]
            logtool rebuild LOG --to FILE --check|--back
            logtool rebuild --print-schema|--print-map
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

    /// The app's SQL unchanged. It is checked statement by statement, because it may come from elsewhere
    /// (`SQLiteGuard`).
    @Option(help: ArgumentHelp("The SQL of an app's own schema.", valueName: "file"), completion: .file())
    var schema: String?

    @OptionGroup var mapping: MapOptions

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

    @Flag(help: "Replace a file that was not made by rebuild.")
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
        if StateFile(path: to) != nil, schema != nil || plan || chosen.contains(where: { $0 != "--dry-run" }) {
            throw ValidationError("\"\(to)\" is JSON: it has no schema, and nothing is swapped, compared or followed")
        }
    }

    func run() async throws {
        if printSchema || printMap { return try printOwn() }
        guard let path, let to else { return }
        // Schema and map are read before the log is opened: their mistakes are found at once.
        let own = try schema.map { try MappedSchema.app(sql: $0, map: mapping.map ?? "", values: mapping.valuesByName) }
        let rebuild = Rebuild(
            file: CacheFile(path: to),
            schema: try own ?? MappedSchema.own(),
            options: self
        )
        // Opens no log.
        if back { return try rebuild.goBack() }
        let store = try LogOptions.open(path, isQuiet: output.quiet)
        if follow { return try await rebuild.follow(store) }
        try rebuild.run(store)
    }

    /// Prints the SQL, the map, or one after the other, as files that `--schema` and `--map` take back.
    private func printOwn() throws {
        let output = output.standardOutput
        if printSchema { try output.write(OwnSchema.sql.utf8) }
        if printMap { try output.write(OwnSchema.map.utf8) }
        try output.flush()
    }
}
