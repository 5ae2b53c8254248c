import ArgumentParser
import Clients
import EventLog
import Projections
import Reduction

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `logtool shrink`: the smallest log that still shows something. Searches in memory (`ShrinkSearch`), and writes the
/// result as a new log.
///
/// The log itself is never changed. `CandidateRunner` runs several tests at once; the first interesting candidate in
/// order wins, so the result does not depend on the number of cores.
struct ShrinkCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "shrink",
        abstract: "Make the smallest log for which a test still says yes.",
        usage: """
            logtool shrink LOG --run COMMAND -o OUT [options]
            logtool shrink LOG --when EXPRESSION [--against #PROFILE] -o OUT [options]
            logtool shrink LOG --against #PROFILE -o OUT [options]
            logtool shrink LOG --observed [--lag DURATION] -o OUT [options]
            """,
        discussion: """
            A command gets the state document on standard input; 0 says yes, anything else no. With --against alone yes is where the \
            two readings differ, with --when where the expression holds by --profile and not by the other one. With --observed yes is where a client \
            still showed what it first showed wrongly (docs/observed.md). Events go first, \
            then what is within JSON payloads and commits' texts; commits are left out whole, never rewritten. Exit code 1 where \
            the test says no of the whole log. An interrupted search goes on from OUT.shrink, \
            which also keeps the answers to other questions. With --anonymize this stays, and is listed: \(AnonymizeCommand.stays); \
            of the texts that the test names only what the answer depends on.
            """
    )

    static let examples = [
        Example(
            "logtool shrink bug.eventlog --when 'duplicate(messages, content)' -o small.eventlog",
            "what a doubled text takes"
        ),
        Example(
            "logtool shrink bug.eventlog --run 'jq -e \".issues | length > 0\"' -o small.eventlog",
            "by a command"
        ),
        Example(
            "logtool shrink bug.eventlog --against '#vibechannel-ios' -o small.eventlog --time 30s",
            "where a client reads otherwise, within 30 seconds"
        ),
    ]

    @OptionGroup var log: LogOptions
    @OptionGroup var decoders: DecoderOptions

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("Where the new log goes; nothing may be there.", valueName: "out"),
        completion: .directory
    )
    var target: String

    /// Shared with `bisect`, but exit codes mean something else here: 0 is "interesting", everything else is not
    /// (`InterestTest`).
    @OptionGroup(title: "Options of the test") var test: TestOptions

    @Option(
        help: ArgumentHelp("Another reading of the log, #PROFILE.", valueName: "profile"),
        transform: AgainstArgument.parse
    )
    var against: StateReference?

    @OptionGroup var reading: ProfileOptions

    @Flag(help: "Keep what the first observation of a client that the state contradicts takes.")
    var observed = false

    @Option(help: LagOption.help, transform: DurationText.parse)
    var lag: Duration?

    /// Counted from the start of the run. No test begins after it; those that are running are waited for.
    @Option(
        help: ArgumentHelp("Stop after this long with the best log so far.", valueName: "duration"),
        transform: DurationText.parse
    )
    var time: Duration?

    /// For logs that are to be shown to others. Equal texts get equal substitutes, so references hold.
    @Flag(
        help:
            "Replace words, ids, times and names, the same by the same, as far as the test still says yes; list what stays."
    )
    var anonymize = false

    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

    /// `--against` goes alone or with `--when`, which then compares two readings; a command judges one document.
    func validate() throws {
        guard test.isGiven || against != nil || observed else {
            throw ValidationError("give one of --run, --when, --against and --observed")
        }
        if observed, test.isGiven || against != nil {
            throw ValidationError("--observed goes without --run, --when and --against")
        }
        if lag != nil && !observed { throw ValidationError("--lag goes with --observed") }
        if test.run != nil && against != nil { throw ValidationError("--run and --against exclude each other") }
        if case .log(let path, _, let other) = against {
            guard path.isEmpty else {
                throw ValidationError("--against takes #PROFILE here, another reading of the same log")
            }
            guard other != reading.profile else {
                throw ValidationError("--against \"#\(other.rawValue)\" is the reading of --profile; give another one")
            }
        }
    }

    /// Searches, writes the result as a new log and prints it.
    ///
    /// - Throws: `EngineError` with code `no` if the test fails for the whole log, `Failure` if the target exists. The
    ///   target is refused both before the search and before the write, because a search may take long.
    mutating func run() throws {
        let begin = ContinuousClock.now
        let store = try decoders.used(in: log.open(isQuiet: output.quiet), isQuiet: output.quiet)
        try test.nameChannel(in: store)
        try NewLogTarget.refuseExisting(target, operation: "shrink")
        let test = try question(store)
        let shrinking = try LogShrinking(
            of: store,
            by: test,
            until: time.map { begin + $0 },
            answersAt: target + ".shrink"
        )
        if shrinking.foundCount > 0, !output.quiet {
            StandardError.line(
                "logtool: goes on after \(counted(shrinking.foundCount, "answer")) of an interrupted search"
            )
        }
        var result = try search(shrinking)
        try NewLogTarget.refuseExisting(target, operation: "shrink")
        // Before anything is written: a log that fails the test would be of no use.
        if anonymize { try result.anonymize(test) }
        try result.write(to: target)
        // Kept while the result is not minimal, because the next search would otherwise start from the beginning.
        if result.isMinimal { shrinking.forgetAnswers() }
        try tell(result, test.troubles.noted)
    }

    /// The test as the search puts it: what is tested, and by which readings. Commands are quiet, because several run
    /// at once.
    private func question(_ store: EventStore) throws -> InterestTest {
        if observed {
            let lag = lag ?? ObservedSearch.lag
            let options = StateQuery(profile: reading.profile).replayOptions
            guard let finding = try ObservedSearch(of: store, lag: lag, options: options).first() else {
                throw Failure(
                    "shrink --observed: no observation of a client differs from the state; see: logtool bisect LOG --observed",
                    exitCode: Outcome.no
                )
            }
            let question = ObservedQuestion(finding.differences[0], lag: lag)
            return InterestTest(question: .observed(question), profile: reading.profile)
        }
        var other: Profile?
        if case .log(_, _, let profile) = against { other = profile }
        var question = InterestTest.Question.readings
        switch test.test(isQuiet: true) {
        case .command(let command, let part): question = .command(command, part: part)
        case .expression(let expression): question = .expression(expression)
        case nil: break
        }
        return InterestTest(question: question, profile: reading.profile, other: other, sections: test.only)
    }

    /// Runs the search and reports its progress.
    ///
    /// Answers so far are in the file, so an interrupt loses at most the tests that are running.
    private func search(_ shrinking: LogShrinking) throws -> ShrinkResult {
        let progress = output.progress("asking of the whole log")
        defer { progress.end() }
        return try shrinking.run { left, tests in
            progress.report("\(counted(left, "event")) left, \(counted(tests, "test"))", done: tests)
        }
    }

    /// Prints the result. Notes about runs that counted as no, and how to go on, go to standard error.
    private func tell(_ result: ShrinkResult, _ troubles: (count: Int, first: String?)) throws {
        if let reason = troubles.first, !output.quiet {
            StandardError.line("logtool: \(counted(troubles.count, "run")) counted as no; of the first: \(reason)")
        }
        if !result.isMinimal, !output.quiet {
            StandardError.line(
                "logtool: to go on, remove \"\(target)\" and run the same again; \"\(target).shrink\" has the answers"
            )
        }
        let printer = ShrinkPrinter(
            output: output.standardOutput,
            path: target,
            profile: reading.profile,
            isJSON: document.json
        )
        try printer.print(result)
    }
}
