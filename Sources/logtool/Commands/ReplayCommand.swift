import ArgumentParser
import EventLog
import Projections

/// `logtool replay`: folds the log and shows the state.
struct ReplayCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Show the state that the events give: now, or at any point.",
        usage: "logtool replay LOG [options]"
    )

    static let examples = [
        Example("logtool replay chat.eventlog", "channels, threads, items and sessions as they are now"),
        Example("logtool replay chat.eventlog --at 2026-01-19T08:30:00Z --only messages", "the messages at a time"),
        Example("logtool replay chat.eventlog --channel general --at head~100", "one channel, as it was"),
        Example("logtool replay chat.eventlog --json > state.json", "the state document"),
        Example("logtool replay chat.eventlog --digest --each", "one digest for each event"),
        Example("logtool replay chat.eventlog --without 17", "what if event 17 had never arrived"),
        Example("logtool replay chat.eventlog --step --from head~5", "what each of the last events changed"),
    ]

    @OptionGroup var log: LogOptions
    @OptionGroup var point: PointOptions
    @OptionGroup var state: StateOptions

    @Option(
        help: ArgumentHelp("Only this channel: SOURCE/ID, or its id alone.", valueName: "channel"),
        transform: ChannelArgument.parse
    )
    var channel: EntityReference?

    @Flag(help: "Print the state's digest in hex.")
    var digest = false

    @Flag(help: "With --digest: one line for each event, sequence, tab, digest.")
    var each = false

    @Flag(help: "Print each event with what it changed.")
    var step = false

    @OptionGroup(title: "Options of --step") var range: RangeOptions
    @OptionGroup var lists: JSONListOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if each && !digest { throw ValidationError("--each goes with --digest") }
        if step && digest { throw ValidationError("--step and --digest exclude each other") }
        if step && point.at != nil { throw ValidationError("--step takes --from and --to instead of --at") }
        if !step && (range.from != nil || range.to != nil) { throw ValidationError("--from and --to go with --step") }
        if channel != nil && (step || digest) {
            throw ValidationError("--channel goes with neither --step nor --digest")
        }
        if digest && (lists.json || lists.jsonl) { throw ValidationError("--digest prints hex, no JSON") }
    }

    func run() throws {
        let loader = StateLoader(store: try log.open(), progress: Progress(isQuiet: output.quiet))
        let output = output.standardOutput
        switch (step, digest, each) {
        case (true, _, _): try printSteps(of: loader, to: output)
        case (_, true, true): try printDigests(of: loader, to: output)
        case (_, true, false):
            var state = try loader.workspace(for: query)
            try output.line(state.digest().hex)
        default: try printState(of: loader, to: output)
        }
        try output.flush()
    }

    private var query: StateQuery { state.query(at: point.at) }

    private func printState(of loader: StateLoader, to output: StandardOutput) throws {
        guard let channel else { return try print(loader.document(for: query), to: output) }
        let state = try loader.channel(channel, for: query)
        guard lists.json else { return try print(state.document(query.documentOptions), to: output) }
        try state.writeLines(query.documentOptions) { try output.write($0) }
    }

    private func print(_ document: JSONValue, to output: StandardOutput) throws {
        if lists.json {
            try output.line(document.lines)
        } else if lists.jsonl {
            try printLines(of: document, to: output)
        } else {
            try StatePrinter(output: output, document: document).print()
        }
    }

    /// The members that are no arrays first, on one line, then a line for each row with its `section`.
    private func printLines(of document: JSONValue, to output: StandardOutput) throws {
        var header = JSONObject()
        for member in document.object?.members ?? [] where member.value.array == nil {
            header[member.name] = member.value
        }
        try output.line(JSONValue.object(header).text)
        for member in document.object?.members ?? [] {
            for row in member.value.array ?? [] {
                var line: JSONObject = ["section": .string(member.name)]
                for field in row.object?.members ?? [] { line[field.name] = field.value }
                try output.line(JSONValue.object(line).text)
            }
        }
    }

    private func printDigests(of loader: StateLoader, to output: StandardOutput) throws {
        try loader.forEachDigest(for: query) { event, digest in
            try output.line("\(event.sequence)\t\(digest)")
        }
    }

    private func printSteps(of loader: StateLoader, to output: StandardOutput) throws {
        let printer = StepPrinter(output: output, form: lists.form)
        try printer.begin()
        try loader.store.read { session in
            guard let sequences = try range.range(in: session) else { return }
            try Replay.steps(of: session, in: sequences, options: query.replayOptions) { event, differences in
                try printer.print(event, differences)
                return true
            }
        }
        try printer.end()
    }
}
