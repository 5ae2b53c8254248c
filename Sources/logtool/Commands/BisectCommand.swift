import ArgumentParser
import EventLog
import Projections

/// `logtool bisect`: the first event after which the state is wrong.
///
/// The command chooses ends and test. `Bisection` searches, `StateWalk` folds, and `BisectionPrinter` prints. Ends
/// become sequences at the start, so a log that grows meanwhile moves neither.
struct BisectCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "bisect",
        abstract: "Find the first event after which a state is wrong.",
        usage: """
            logtool bisect LOG --run COMMAND [--good P] [--bad P] [options]
            logtool bisect LOG --when EXPRESSION [--all] [options]
            logtool bisect LOG --against LOG2|#PROFILE [options]
            logtool bisect LOG --play COMMAND [options]
            """,
        discussion: """
            A command gets the state document on standard input and answers by git's exit codes: 0 is good, 125 cannot say, 1 to \
            127 are bad, anything else stops the search. An expression is bad where it holds. Tests at most log2(events) + 2 \
            states. Exit code 1 where nothing is found. An interrupted search prints the command that goes on with it.
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
        Example("logtool bisect bug.eventlog --play './drive-client'", "where a real client shows the bug"),
    ]

    @OptionGroup var log: LogOptions

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
        help: ArgumentHelp("With --play: gateway, sse or realtime; default: what the log holds.", valueName: "form")
    )
    var playAs: PlayForm?

    @Flag(help: "With --when: every event where the answer changes, in one pass over the log.")
    var all = false

    /// Whose reading is tested; with `--against`, the reading on this side.
    @OptionGroup var reading: ProfileOptions

    @OptionGroup(title: "Options of the test") var test: TestOptions
    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

    /// Refuses all but one test: with two, a state could be good and bad at once.
    func validate() throws {
        guard [test.isGiven, against != nil, play != nil].filter({ $0 }).count == 1 else {
            throw ValidationError("give one of --run, --when, --against and --play")
        }
        if playAs != nil && play == nil { throw ValidationError("--play-as goes with --play") }
        // A command drives a client that connects. `files` and `git` write into a directory instead.
        if playAs?.isServer == false { throw ValidationError("--play-as is gateway, sse or realtime") }
        // Expressions cost little at each event. A command would be started once for each, a client be served the log
        // each time.
        if all && test.when == nil { throw ValidationError("--all goes with --when") }
    }

    /// - Throws: `Outcome.no` unless one event was found; the printed reason is then on standard output. `Failure` with
    ///   exit code 2 for points in the wrong order and for a test that gives no answer.
    mutating func run() throws {
        let store = try log.open(isQuiet: output.quiet)
        try test.nameChannel(in: store)
        let range = try store.read { try ends(in: $0) }
        var query = StateQuery(profile: reading.profile)
        // Limits what a command gets. The fold is always whole.
        query.sections = test.only
        if all, let expression = test.when { return try printAll(expression, store, query, range) }
        var bisection = Bisection(good: range.good, bad: range.bad)
        var walk = StateWalk(store: store, query: query)
        let outcome = try search(&bisection, &walk)
        let printer = BisectionPrinter(output: output.standardOutput, log: log.path, isJSON: document.json)
        try printer.print(outcome, tested: bisection.tested, walk: walk)
        // The printer has given the reason; another line on standard error would repeat it.
        guard case .first = outcome else { throw Outcome.no }
    }

    // MARK: - Ends

    /// The points between which to search. The first is taken as good and the last as bad; `Bisection` tests both.
    ///
    /// - Throws: `Failure` with exit code 2 if the ends are equal or in the wrong order; `ProjectionError` (exit 1) for
    ///   a point beyond the head.
    private func ends(in session: borrowing ReadSession) throws -> (good: SequenceNumber, bad: SequenceNumber) {
        // States before the last compaction can no longer be folded.
        let good = try self.good?.resolve(in: session) ?? session.decidedAt
        let bad = try self.bad?.resolve(in: session) ?? session.head
        guard good != bad else {
            throw Failure(
                "bisect: --good and --bad are both sequence \(good); give two points with events between them"
            )
        }
        guard good < bad else {
            throw Failure(
                "bisect: --good (\(good)) comes after --bad (\(bad)); bisect finds where good becomes bad. To find where it "
                    + "becomes good again, give the points the other way round and negate the test"
            )
        }
        return (good, bad)
    }

    // MARK: - Search

    /// Searches by a command, an expression or a client. Commands get the document's bytes; equal states give equal
    /// bytes, so a command that is a function of its input answers alike.
    private func search(_ bisection: inout Bisection, _ walk: inout StateWalk) throws -> Bisection.Outcome {
        let progress = output.progress("looking for the first bad event")
        defer { progress.end() }
        let steps = Self.steps(from: bisection.good, to: bisection.bad)
        var count = 0
        // Skipped states can make the search longer than `steps`.
        let tell = { (point: SequenceNumber) in
            count += 1
            progress.report("testing the state at \(point)", done: count, total: max(count, steps))
        }
        if let against { return try compare(&bisection, &walk, with: against, tell) }
        // With `--json` a program reads, and the command's own output on standard error would only be noise.
        let isQuiet = output.quiet || document.json
        // A client gets a fixed minute: `--timeout` belongs to `--run`.
        let driver = play.map { TestCommand(line: $0, timeout: .seconds(60), isQuiet: isQuiet) }
        let given = driver.map { StateTest.command($0, part: StatePartQuery()) } ?? test.test(isQuiet: isQuiet)
        // `validate` has refused a command line without a test.
        guard let given else { return .same(.skip) }
        let test = try driver == nil ? BisectedTest(given) : BisectedTest(given, playing: walk.store, as: playAs)
        let options = walk.query.documentOptions
        // For `confirm`. A search tests each point once.
        var seen: [SequenceNumber: Verdict] = [:]
        let outcome = try bisection.run(narrowed: tellHowToGoOn) { point in
            tell(point)
            let state = try walk.state(at: point)
            let verdict = try test.verdict(state, options: options)
            // The search goes on to the right of a good state, so its events need no second fold.
            if verdict == .good { walk.begin(from: state) }
            seen[point] = verdict
            return verdict
        }
        if case .first(let first) = outcome { try confirm(first, seen, test, walk) }
        return outcome
    }

    /// Sets the line that an interrupt prints: the command that continues from here. Called each time that the range
    /// narrows.
    private func tellHowToGoOn(good: SequenceNumber, bad: SequenceNumber) {
        guard !output.quiet else { return }
        let resumption = BisectionResumption(arguments: Array(CommandLine.arguments.dropFirst()))
        Interrupts.leave("logtool: interrupted; to go on: \(resumption.command(good: good, bad: bad))")
    }

    /// The greatest number of states that a search between two points tests: both ends, then one for each halving.
    private static func steps(from good: SequenceNumber, to bad: SequenceNumber) -> Int {
        assert(good < bad, "ends in the wrong order were refused")
        return 2 + (UInt64.bitWidth - (bad.rawValue - good.rawValue).leadingZeroBitCount)
    }

    /// Tests the two states around the answer again. If a command answers differently for the same bytes, nothing was
    /// found. Expressions cannot.
    private func confirm(
        _ first: SequenceNumber,
        _ seen: [SequenceNumber: Verdict],
        _ test: BisectedTest,
        _ walk: StateWalk
    ) throws {
        guard case .command(let command, _) = test.test else { return }
        // Both states were tested: a search ends only when its two ends are neighbours.
        for point in [SequenceNumber(first.rawValue - 1), first] {
            let again = try test.verdict(walk.state(at: point), options: walk.query.documentOptions)
            guard let before = seen[point], before != again else { continue }
            throw Failure(
                "bisect: \"\(command.line)\" does not answer the same twice: at sequence \(point) it was \(before.rawValue), then "
                    + "\(again.rawValue); a test must depend on the state alone",
                exitCode: Outcome.no
            )
        }
    }

    /// Compares states at the same sequence of two logs, or of two readings of this one. Digests decide; if two
    /// readings' digests differ, their rows do.
    ///
    /// Without `--bad`, the search ends where the shorter log does.
    ///
    /// `--against` takes no point, because the search chooses the points of both sides (`AgainstArgument`).
    private func compare(
        _ bisection: inout Bisection,
        _ walk: inout StateWalk,
        with reference: StateReference,
        _ tell: (SequenceNumber) -> Void
    ) throws -> Bisection.Outcome {
        var (other, otherQuery) = (walk.store, walk.query)
        if case .log(let path, _, let profile) = reference {
            otherQuery.profile = profile
            if !path.isEmpty { other = try EventStore.open(at: path) }
        }
        let heads = try [walk.store, other].map { try $0.read { $0.head } }
        if let shorter = heads.min(), bad == nil, shorter < bisection.bad {
            bisection = Bisection(good: bisection.good, bad: shorter)
            guard bisection.good < shorter else {
                throw Failure("bisect: the other log ends at sequence \(shorter), before --good (\(bisection.good))")
            }
        }
        let isSameReading = walk.query.profile == otherQuery.profile
        var walks = [walk, StateWalk(store: other, query: otherQuery)]
        // The printer folds the answer's changes from the nearest good state, which this walk holds by then.
        defer { walk = walks[0] }
        return try bisection.run(narrowed: tellHowToGoOn) { point in
            tell(point)
            // A copy, because a concurrent closure may not read a variable that changes.
            let now = walks
            // The folds of the two logs are independent.
            var states = try concurrentMap(now.indices) { try now[$0].state(at: point) }
            // Digests also cover orders, which may differ between two readings whose documents are the same.
            guard
                states[0].digest() == states[1].digest()
                    || !isSameReading && StateDiff.differences(states[0], states[1]).isEmpty
            else { return .bad }
            for index in states.indices { walks[index].begin(from: states[index]) }
            return .good
        }
    }

    // MARK: - All changes

    /// Prints every event at which the answer changes, in one pass: an expression is cheap enough to be tested after
    /// each event.
    ///
    /// - Throws: `Outcome.no` if the answer never changes. `Failure` if the expression has no answer after an event
    ///   that touches what it reads.
    private func printAll(
        _ expression: StateExpression,
        _ store: EventStore,
        _ query: StateQuery,
        _ range: (good: SequenceNumber, bad: SequenceNumber)
    ) throws {
        let walk = StateWalk(store: store, query: query)
        let start = try walk.state(at: range.good)
        var list = AnswerChanges(expression, at: start)
        try store.read { session in
            _ = try Replay.advance(start, over: session, through: range.bad, options: query.replayOptions) {
                event,
                state in
                try list.add(event, state)
                return true
            }
        }
        let output = output.standardOutput
        try list.print(to: output, asJSON: document.json)
        try output.flush()
        if list.changes.isEmpty { throw Outcome.no }
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
