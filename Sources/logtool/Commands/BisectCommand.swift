import ArgumentParser
import Clients
import EventLog
import Playback
import Projections
import Reduction

/// `logtool bisect`: the first event after which the state is wrong.
///
/// The command chooses ends and test. `LogBisection` searches, and `BisectionPrinter` prints. Ends become sequences at the
/// start, so a log that grows meanwhile moves neither.
struct BisectCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "bisect",
        abstract: "Find the first event after which a state is wrong.",
        usage: """
            logtool bisect LOG --run COMMAND [--good P] [--bad P] [options]
            logtool bisect LOG --when EXPRESSION [--all] [options]
            logtool bisect LOG --against LOG2|#PROFILE [options]
            logtool bisect LOG --play COMMAND [options]
            logtool bisect LOG --observed [--lag DURATION] [options]
            """,
        discussion: """
            A command gets the state document on standard input and answers by git's exit codes: 0 is good, 125 cannot say, 1 to \
            127 are bad, anything else stops the search. An expression is bad where it holds. Tests at most log2(events) + 2 \
            states. With --observed, each observation of a client (docs/observed.md) is compared with the state at which it was, in \
            order. Exit code 1 where nothing is found. An interrupted search prints the command that goes on with it.
            """
    )

    static let examples = [
        Example(
            "logtool bisect bug.eventlog --when 'duplicate(messages[channel=\"10\"], content)'",
            "the event that shows a text twice"
        ),
        Example(
            "logtool bisect bug.eventlog --run 'jq -e \".messages | length < 4\"' --channel guild/10",
            "by a command, over one channel"
        ),
        Example(
            "logtool bisect bug.eventlog --against '#vibechannel-ios'",
            "where a client's reading parts from the log's"
        ),
        Example("logtool bisect bug.eventlog --when 'exists(issues)' --all", "every event where the answer changes"),
        Example("logtool bisect bug.eventlog --observed", "what a client itself showed wrongly"),
        Example("logtool bisect bug.eventlog --play './drive-client'", "where a real client shows the bug"),
    ]

    @OptionGroup var log: LogOptions
    @OptionGroup var decoders: DecoderOptions

    /// Without it, the search begins before the first event, or where the last compaction was decided: earlier states
    /// can no longer be folded.
    @Option(
        help: ArgumentHelp(
            "A point where all is well; default: before the first event, or where the last compaction was decided.",
            valueName: "point"
        ),
        transform: PointArgument.parse
    )
    var good: Point?

    @Option(
        help: ArgumentHelp("A point where it is wrong; default: head.", valueName: "point"),
        transform: PointArgument.parse
    )
    var bad: Point?

    /// Both sides are compared at the same sequence, so another log tells something only as far as it holds the same
    /// events in the same order.
    @Option(
        help: ArgumentHelp("Another log, or #PROFILE: bad is where the digests differ.", valueName: "log"),
        transform: AgainstArgument.parse
    )
    var against: StateReference?

    /// Each tested state costs a server on a new port and a run of the client.
    @Option(
        help: ArgumentHelp(
            "A shell command that drives a client against the log up to a point, played at $EVENTLOG_PLAY_URL.",
            valueName: "command"
        )
    )
    var play: String?

    @Option(
        help: ArgumentHelp(
            "With --play: ws, http, sse, gateway or realtime; default: what the log holds.",
            valueName: "form"
        )
    )
    var playAs: PlayForm?

    @Flag(help: "Find the first observation of a client that the state contradicts, and the event responsible.")
    var observed = false

    @Option(help: LagOption.help, transform: DurationText.parse)
    var lag: Duration?

    @Flag(help: "With --when: every event where the answer changes, in one pass over the log.")
    var all = false

    /// Whose reading is tested; with `--against`, the reading on this side.
    @OptionGroup var reading: ProfileOptions

    @OptionGroup(title: "Options of the test") var test: TestOptions
    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

    /// Refuses all but one test: with two, a state could be good and bad at once.
    func validate() throws {
        guard [test.isGiven, against != nil, play != nil, observed].filter({ $0 }).count == 1 else {
            throw ValidationError("give one of --run, --when, --against, --play and --observed")
        }
        if lag != nil && !observed { throw ValidationError("--lag goes with --observed") }
        if playAs != nil && play == nil { throw ValidationError("--play-as goes with --play") }
        // A command drives a client that connects. `files` and `git` write into a directory instead.
        if playAs?.isServer == false { throw ValidationError("--play-as is ws, http, sse, gateway or realtime") }
        // Expressions cost little at each event. A command would be started once for each, a client be served the log
        // each time.
        if all && test.when == nil { throw ValidationError("--all goes with --when") }
    }

    /// - Throws: `Outcome.no` unless one event was found; the printed reason is then on standard output. `EngineError` for
    ///   points in the wrong order and for a test that gives no answer; `ProjectionError` for a point beyond the head.
    mutating func run() throws {
        let store = try decoders.used(in: log.open(isQuiet: output.quiet), isQuiet: output.quiet)
        try test.nameChannel(in: store)
        var query = StateQuery(profile: reading.profile)
        // Limits what a command gets. The fold is always whole.
        query.sections = test.only
        let (good, bad) = try store.read { (try self.good?.resolve(in: $0), try self.bad?.resolve(in: $0)) }
        if observed { return try printFirstObserved(store, good ?? .zero, bad, query.replayOptions) }
        var search = try LogBisection(of: store, good: good, bad: bad, options: query.replayOptions)
        if all, let expression = test.when { return try printAll(expression, store, search) }
        let outcome = try run(&search, query)
        let printer = BisectionPrinter(output: output.standardOutput, log: log.path, isJSON: document.json)
        try printer.print(outcome, tested: search.tested, walk: search.walk)
        // The printer has given the reason; another line on standard error would repeat it.
        guard case .first = outcome else { throw Outcome.no }
    }

    /// Searches by a command, an expression or a client, or compares. Commands get the document's bytes; equal states give
    /// equal bytes, so a command that is a function of its input answers alike.
    private func run(_ search: inout LogBisection, _ query: StateQuery) throws -> Bisection.Outcome {
        let progress = output.progress("looking for the first bad event")
        defer { progress.end() }
        let steps = search.stepsMax
        var count = 0
        // Skipped states can make the search longer than `steps`.
        search.testing = { point in
            count += 1
            progress.report("testing the state at \(point)", done: count, total: max(count, steps))
        }
        search.narrowed = tellHowToGoOn
        if let against {
            var (other, otherQuery) = (search.walk.store, query)
            if case .log(let path, _, let profile) = against {
                otherQuery.profile = profile
                if !path.isEmpty { other = try decoders.used(in: EventStore.open(at: path), isQuiet: output.quiet) }
            }
            return try search.run(against: other, options: otherQuery.replayOptions, endsWithShorter: bad == nil)
        }
        let options = query.documentOptions
        // With `--json` a program reads, and the command's own output on standard error would only be noise.
        let isQuiet = output.quiet || document.json
        if let play {
            // A client gets a fixed minute: `--timeout` belongs to `--run`.
            let driver = TestCommand(line: play, timeout: .seconds(60), isQuiet: isQuiet)
            let served = try Self.served(search.walk.store, as: playAs)
            return try search.run(confirming: play) { try served(driver, $0, options) }
        }
        // `validate` has refused a command line without a test.
        guard let test = test.test(isQuiet: isQuiet) else { return .same(.skip) }
        // Expressions cannot answer the same question in two ways.
        var (name, first): (String?, SequenceNumber?)
        switch test {
        case .command(let command, _): name = command.line
        case .expression(let expression): first = try search.firstChance(of: expression)
        }
        return try search.run(confirming: name, from: first) { try test.verdict($0, options: options) }
    }

    /// A test of a client that is served the log up to a state. Its command gets the document, too, and the address of the
    /// server in its environment.
    private static func served(
        _ store: EventStore,
        as form: PlayForm?
    ) throws -> (TestCommand, LogState, DocumentOptions) throws -> Verdict {
        #if Recorders
        // The source is not an option: the log must have exactly one that fits.
        let playback = try LogPlayback(of: store, as: form, options: StateQuery().replayOptions)
        return { command, state, options in
            try playback.serving(through: state.sequence) { address in
                var command = command
                // The address changes with each point, because each server has its own port.
                command.variables = ["EVENTLOG_PLAY_URL": "http://\(address)"]
                return try StateTest.command(command, part: StatePartQuery()).verdict(state, options: options)
            }
        }
        #else
        throw Failure.noRecorders("bisect --play")
        #endif
    }

    /// Sets the line that an interrupt prints: the command that continues from here. Called each time that the range
    /// narrows.
    private func tellHowToGoOn(good: SequenceNumber, bad: SequenceNumber) {
        guard !output.quiet else { return }
        let resumption = BisectionResumption(arguments: Array(CommandLine.arguments.dropFirst()))
        Interrupts.leave("logtool: interrupted; to go on: \(resumption.command(good: good, bad: bad))")
    }

    /// Prints every event at which the answer changes, in one pass: an expression is cheap enough to be tested after
    /// each event.
    ///
    /// - Throws: `Outcome.no` if the answer never changes; as `AnswerChanges.find`.
    private func printAll(_ expression: StateExpression, _ store: EventStore, _ search: LogBisection) throws {
        let changes = try AnswerChanges.find(
            expression,
            in: store,
            from: search.good,
            through: search.bad,
            options: search.walk.options
        )
        let output = output.standardOutput
        try changes.print(to: output, asJSON: document.json)
        try output.flush()
        if changes.changes.isEmpty { throw Outcome.no }
    }
}

/// The value of `--against`: a log, or `#PROFILE` for another reading of the same log, which has an empty path here.
enum AgainstArgument {
    /// Reads the value. Opens nothing: a missing log is reported when the comparison opens it.
    ///
    /// - Throws: `ValidationError` for a state document, standard input, and a log with a point.
    static func parse(_ text: String) throws -> StateReference {
        if text.hasPrefix("#") {
            return .log(path: "", point: nil, profile: try ProfileArgument.parse(String(text.dropFirst())))
        }
        guard case .log(let path, nil, let profile) = try StateReference.parse(text) else {
            throw ValidationError("\"\(text)\" is no log: write LOG, LOG#PROFILE or #PROFILE")
        }
        return .log(path: path, point: nil, profile: profile)
    }
}
