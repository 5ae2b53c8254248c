import ArgumentParser
import EventLog
import JSON
import JetStream
import Projections
import Shipping

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// `logtool pull`: brings a log up to a tree that `ship` wrote.
struct PullCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "pull",
        abstract: "Make a log of a tree or a stream that ship wrote, or bring one up to it.",
        usage: """
            logtool pull LOG --from FOLDER|URL [options]
            logtool pull LOG --from nats://HOST[:PORT][/STREAM] [--follow] [options]
            logtool pull --all --from FOLDER|URL --to FOLDER [options]
            """,
        discussion: """
            Every byte is checked against the root of the checkpoint before it takes effect; a log that goes on otherwise is refused, \
            naming the first sequence that differs. A run that is cut short keeps what it has, and the next one goes on. What the other \
            log has redacted is redacted here, too; what it dropped by a compaction goes here only with --compacted. \
            Nothing proves the identity, nor the notes that recorders resume from. Write nothing else to a log that is pulled. \
            --all takes every tree of a folder, or of the catalogue that catalog --write made for a web server; one that cannot be \
            taken does not stop the others, and the exit code is that of the worst. \
            From a NATS server the events behind the log's own come in batches, each with a checkpoint; a sender that runs is asked for \
            what is missing.
            """
    )

    static let examples = [
        Example("logtool pull copy.eventlog --from tree", "a log of a tree, and later what is new in it"),
        Example(
            "logtool pull copy.eventlog --from https://logs.example.org/chat --verifier example.org/chat+5a0c3f9e+AS…",
            "only what this key has signed"
        ),
        Example("logtool pull --all --from trees --to year", "each tree of a folder, into a log of its name"),
        Example("logtool pull copy.eventlog --from nats://hub.example.org --follow", "a copy that grows with its log"),
    ]

    /// Not `LogOptions`, because the log may not exist yet.
    @Argument(help: ArgumentHelp("The log's directory.", valueName: "log"), completion: .directory)
    var log: String?

    @Option(
        help: ArgumentHelp(
            "The tree: a folder, its URL, or the address of a NATS server; with --all what has the trees.",
            valueName: "tree"
        ),
        completion: .directory
    )
    var from: String

    @Flag(help: "Pull all trees there, each into a log of its name.")
    var all = false

    @Option(
        help: ArgumentHelp("With --all: the folder of the logs; made if it is missing.", valueName: "folder"),
        completion: .directory
    )
    var to: String?

    /// It has no end of its own: SIGINT ends the process with 130.
    @Flag(help: "With a NATS server: go on with new events until interrupted.")
    var follow = false

    @OptionGroup(title: "Options of a tree") var tree: TreeOptions

    @Flag(help: "Let go of what compactions of the other log dropped, too.")
    var compacted = false

    /// Off unless given: nothing tells a forged note.
    @Flag(help: "Take the notes that recorders resume from, too; only from a tree that you have made yourself.")
    var bookmarks = false

    @Option(
        help: ArgumentHelp(
            "How long to wait for what has not arrived: files of a tree, events that no sender publishes: 90s, 30m.",
            valueName: "duration"
        ),
        transform: DurationText.parse
    )
    var arrival: Duration = .zero

    @OptionGroup(title: "Options of the log") var write: WriteOptions
    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

    func validate() throws {
        let isStream = NATSAddress.isAddress(from)
        if follow, !isStream || document.json { throw ValidationError("--follow is for nats://, without --json") }
        if all, isStream { throw ValidationError("--all is for trees; pull each stream by its name") }
        if all, log != nil {
            throw ValidationError("--all makes logs of the trees' names; say --to FOLDER in place of a log")
        }
        if all != (to != nil) { throw ValidationError("--all and --to go together") }
        if !all, log == nil { throw ValidationError("name the log, or pull all trees: --all --to FOLDER") }
    }

    /// - Throws: `Failure` with exit code 4 if a compaction would drop what the log holds. `EventLogError`: `notFound` (exit 1) if the
    ///   tree is not whole yet; `invalidArgument` (2) if the log forks off or a file is not that of the checkpoint. With `--all` the
    ///   exit code alone, that of the worst, after all were tried.
    func run() throws {
        if NATSAddress.isAddress(from) { return try pullStream() }
        let source = try tree.source(from, operation: "pull")
        guard let log else { return try pullAll(from: source) }
        let result = try result(from: source, into: log)
        let standard = output.standardOutput
        if document.json {
            try standard.line(JSONValue.object(json(result)).lines)
        } else {
            try standard.line(text(result))
        }
        try standard.flush()
    }

    /// Pulls one tree.
    func result(from source: any TreeSource, into log: String) throws -> LogPull.Result {
        let pull = LogPull(from: source, into: log, options: write.storeOptions(isQuiet: output.quiet))
        var request = LogPull.Request()
        (request.verifiers, request.takesBookmarks) = (try tree.verifiers(), bookmarks)
        request.followsCompactions = compacted
        return try taking(into: log) {
            try run(pull, request)
        } rewrites: {
            $0.rewrites
        }
    }

    /// Takes events, and looks after what a rewrite means for the log.
    func taking<Result>(into log: String, _ body: () throws -> Result, rewrites: (Result) -> Int) throws -> Result {
        do {
            let result = try body()
            // The joined log beside it may have what a rewrite took away.
            if rewrites(result) > 0 { JoinedLogs.removeKept(besideLogAt: log) }
            return result
        } catch let refusal as LogPull.CompactionRefused {
            throw Failure(
                "pull into \"\(log)\": the other log was compacted at \(refusal.decidedAt), and this one may hold what that dropped; say "
                    + "--compacted to let go of it, too, or pull into another path; nothing was changed",
                exitCode: Outcome.refused
            )
        }
    }

    /// Pulls, and again each second while files are still to arrive.
    private func run(_ pull: LogPull, _ request: LogPull.Request) throws -> LogPull.Result {
        let end = ContinuousClock.now + arrival
        while true {
            let progress = output.progress("pulling")
            defer { progress.end() }
            do {
                return try pull.run(request) { done, total in
                    progress.report("took \(done) of \(total)", done: Int(clamping: done), total: Int(clamping: total))
                }
            } catch let error as EventLogError where error.code == .notFound && ContinuousClock.now < end {
                usleep(1_000_000)
            }
        }
    }

    func text(_ result: LogPull.Result) -> String {
        let checkpoint = result.checkpoint.checkpoint
        if result.head > checkpoint.size {
            return "the log is ahead: \(result.head) events, of which the tree has the first \(checkpoint.size)"
        }
        let signers = tree.verifier.isEmpty ? "" : ", signed as asked"
        let end = "\(checkpoint.size) events, root \(checkpoint.root)\(signers)"
        if result.head == result.before { return "the log has everything already: \(end)" }
        let new = counted(Int(clamping: result.head - result.before), "event")
        let rewrites = result.rewrites > 0 ? " and followed \(counted(result.rewrites, "rewrite"))" : ""
        return "took \(new)\(rewrites): \(end)"
    }

    func json(_ result: LogPull.Result) -> JSONObject {
        let checkpoint = result.checkpoint.checkpoint
        return [
            "origin": .string(checkpoint.origin),
            "size": .string(String(checkpoint.size)),
            "root": .string(Base64.encode(checkpoint.root.bytes)),
            "before": .string(String(result.before)),
            "head": .string(String(result.head)),
            "rewrites": .int(result.rewrites),
            "verified": .bool(!tree.verifier.isEmpty),
        ]
    }
}
