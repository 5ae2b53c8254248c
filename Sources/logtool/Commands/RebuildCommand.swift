import ArgumentParser
import EventLog
import Projections

/// `logtool rebuild`: writes the SQLite cache anew from the log.
struct RebuildCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild",
        abstract: "Build the SQLite cache from the log, beside the old one, and swap it in.",
        usage: "logtool rebuild LOG --to FILE [options]",
        discussion: """
            FILE is a symbolic link to FILE.d/NNN.sqlite: readers of the old cache keep it until they open FILE again.
            """
    )

    static let examples = [
        Example("logtool rebuild chat.eventlog --to chat.sqlite", "the cache of the newest state"),
        Example("logtool rebuild chat.eventlog --to old.sqlite --at head~100", "the cache as it was"),
        Example("sqlite3 chat.sqlite 'SELECT author, content FROM messages'", "what to do with it"),
    ]

    @OptionGroup var log: LogOptions

    @Option(help: ArgumentHelp("The cache's path.", valueName: "file"), completion: .file())
    var to: String

    @OptionGroup var point: PointOptions
    @Flag(help: "Replace a file that was not made by rebuild.")
    var yes = false
    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if to.isEmpty || to.hasSuffix("/") { throw ValidationError("--to needs a file's name") }
        if to == "-" {
            throw ValidationError("--to - is refused: a cache is a file with a name, such as ./-")
        }
    }

    func run() throws {
        let store = try log.open(isQuiet: output.quiet)
        let cache = CacheFile(path: to)
        let occupant = try cache.occupant()
        guard yes || occupant != .foreign else {
            throw Failure(
                "rebuild \"\(to)\": the file was not made by rebuild; add --yes to replace it",
                exitCode: Outcome.refused
            )
        }
        let progress = output.progress("replaying")
        let loader = StateLoader(store: store, progress: progress, isQuiet: output.quiet)
        let state = try loader.document(for: StateQuery(point: point.at))
        progress.begin("writing the cache")
        let meta = [
            ("format", "eventlog.cache/\(CacheSchema.version)"),
            ("sequence", state.text("sequence")),
            ("digest", state.text("digest")),
        ]
        let writer = try cache.replace { try CacheWriter.write(state, meta: meta, to: $0) }
        progress.end()
        try report(writer, of: state)
    }

    private func report(_ writer: CacheWriter, of state: JSONValue) throws {
        let output = output.standardOutput
        if document.json {
            var rows = JSONObject()
            for (table, count) in writer.rowCounts { rows[table] = .int(count) }
            let summary: JSONObject = [
                "sequence": state["sequence"], "digest": state["digest"], "rows": .object(rows), "swapped": .bool(true),
            ]
            try output.line(JSONValue.object(summary).text)
        } else {
            let counts = writer.rowCounts.filter { $0.count > 0 }.map { "\($0.table) \($0.count)" }
            try output.line("built \(to) at sequence \(state.text("sequence")): \(counts.joined(separator: ", "))")
        }
        try output.flush()
    }
}
