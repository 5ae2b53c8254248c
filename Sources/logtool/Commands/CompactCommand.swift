import ArgumentParser
import EventLog
import Projections

/// `logtool compact`: drops what the state does not need.
///
/// It asks for no `--yes`: the policy says what goes, and `--dry-run` prints the same figures first. The library
/// decides, proves and switches (`Compaction`, I9, I13); the command only prints.
struct CompactCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract:
            "Keep the messages that the log's policy keeps and what the rest of the state needs; drop the other events.",
        usage: "logtool compact LOG [options]",
        discussion: """
            The policy is that of logtool policy; without one the 500 newest messages of each channel stay, with what they answer, and \
            as many deleted ones. --keep, --keep-within and --deleted stand in for it once, in every channel.

            Before anything takes effect it is proved that the kept events give the retained state: the state without \
            the messages, deleted texts and revisions that go. Leaf hashes are kept for ever, so earlier roots can still \
            be proved. States before the compaction can no longer be replayed. A log that would grow is left alone, unless --force \
            says that the texts have to go all the same.

            What goes is kept in an archive, a compressed file beside the log: with logtool import it goes back into the log, and \
            replay, history, audit, diff, events, report and view read the log with it (--with-archive). --no-archive drops it for good.
            """
    )

    static let examples = [
        Example("logtool compact chat.eventlog --dry-run", "what would go; needs no write permission"),
        Example("logtool compact chat.eventlog --dry-run --list", "every message that would go"),
        Example("logtool compact chat.eventlog", "keep what the policy says, and put the rest into an archive"),
        Example("logtool compact chat.eventlog --no-archive", "drop the rest for good"),
        Example("logtool compact chat.eventlog --seal", "compress what stays as well"),
        Example("logtool compact chat.eventlog --keep 100 --json", "keep 100 this time, and report for scripts"),
    ]

    @OptionGroup var log: LogOptions

    /// Stands in for what the log's policy says, in every channel, for this run.
    @OptionGroup var rule: RetentionRuleOptions

    @OptionGroup var rewrite: RewriteOptions

    @Flag(help: "With --dry-run: name every message that would go.")
    var list = false

    @Flag(help: "Put the kept events into compressed blocks, in the same rewrite; see logtool help seal.")
    var seal = false

    @OptionGroup var age: SealAgeOptions

    @Flag(help: "Compact also a log that would take more bytes afterwards.")
    var force = false

    @Option(
        help: ArgumentHelp("Where to put the archive; default: beside the log.", valueName: "file"),
        completion: .file()
    )
    var archive: String?

    @Flag(help: "Make no archive: what is dropped is gone for good.")
    var noArchive = false

    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if list, !rewrite.dryRun {
            throw ValidationError("--list goes with --dry-run: what has gone has no name any more")
        }
        if age.olderThan != nil, !seal { throw ValidationError("--older-than goes with --seal") }
        if noArchive, archive != nil { throw ValidationError("--archive and --no-archive exclude each other") }
    }

    /// Compacts and prints the figures. A log that needs all its events, and one that would grow, end with 0: both are
    /// answers.
    ///
    /// - Throws: `ProjectionError` with code `unproved` (exit 1) if the kept events do not give the retained state;
    ///   `EventLogError` with code `locked` (exit 11) after `--wait`. The log is unchanged then.
    func run() throws {
        if let archive, !rewrite.dryRun {
            try NewLogTarget.refuseExisting(archive, operation: "write an archive", exitCode: Outcome.refused)
        }
        let progress = output.progress("deciding what stays, and proving it")
        let store = try rewrite.open(log, reportingTo: progress)
        let policy = try store.read { try RetentionPolicy(inForce: $0) }.overruled(by: rule.rule)
        let summary = try rewrite.withScratch(for: log) { try compact(store, policy, scratch: $0, progress) }
        let gone = list ? try messagesToGo(summary, progress) : nil
        progress.end()
        let printer = CompactionPrinter(
            output: output.standardOutput,
            summary: summary,
            isDryRun: rewrite.dryRun,
            isOverruled: !rule.rule.isEmpty,
            path: log.path,
            makesArchive: archive != nil || !noArchive && policy.archivesMax != 0,
            gone: gone
        )
        if document.json { try printer.printDocument() } else { try printer.printText() }
        try printer.output.flush()
    }

    /// The messages that the state loses, live and deleted, in its order; none where nothing would be dropped.
    private func messagesToGo(_ summary: CompactionSummary, _ progress: Progress) throws -> [StateDifference] {
        guard summary.events.after < summary.events.before else { return [] }
        let store = try log.open(isQuiet: true)
        let state = try StateLoader(store: store, progress: progress, isQuiet: true).logState(for: StateQuery())
        let retained = state.retained(by: summary.policy)
        return StateDiff.differences(state, retained).filter { $0.entity.kind == .message && $0.change == .removed }
    }

    /// Runs the compaction, or only finds out what would go. It proves the kept events (I13) and is refused if the log would grow;
    /// both leave the log as it was.
    private func compact(
        _ store: EventStore,
        _ policy: RetentionPolicy,
        scratch: String?,
        _ progress: Progress
    ) throws -> CompactionSummary {
        let now = SystemClock.now
        return try Compaction.run(
            store,
            policy: policy,
            now: now,
            isDryRun: rewrite.dryRun,
            scratch: scratch,
            leavesSmall: !force,
            archiving: noArchive ? .none : archive.map { .file($0) } ?? .besideLog,
            sealing: seal ? try age.limit(now: now) : nil,
            keeping: KeptStateOptions(build: ProgramIdentity.build),
            progress: { progress.report("folded \($0) of \($1)", done: Int($0.rawValue), total: Int($1.rawValue)) }
        )
    }
}
