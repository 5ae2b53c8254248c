import ArgumentParser
import EventLog
import Projections

/// `logtool compact`: drops what the state does not need.
struct CompactCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract:
            "Keep the most recent messages of each channel and what the rest of the state needs; drop the other events.",
        usage: "logtool compact LOG [options]",
        discussion: """
            Before anything takes effect it is proved that the events kept give the same state. Leaf hashes are kept \
            for ever, so earlier roots can still be proved. States before the compaction can no longer be replayed.
            """
    )

    static let examples = [
        Example("logtool compact chat.eventlog --dry-run", "what would go"),
        Example("logtool compact chat.eventlog", "keep 500 messages of each channel"),
        Example("logtool compact chat.eventlog --keep 100 --json", "keep 100, and report for scripts"),
    ]

    @OptionGroup var log: LogOptions

    @Option(help: ArgumentHelp("How many messages of each channel stay.", valueName: "n"))
    var keep = 500

    @Flag(help: "Change nothing; print the same figures.")
    var dryRun = false

    @Option(
        help: ArgumentHelp("How long to wait for another writer: 90s, 30m.", valueName: "duration"),
        transform: DurationText.parse
    )
    var wait: Duration = .seconds(10)

    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if keep < 0 { throw ValidationError("--keep is a count: 0 or more") }
    }

    func run() throws {
        var options = EventStore.Options()
        options.wait = wait
        let progress = output.progress("deciding what stays, and proving it")
        let summary = try Compaction.run(
            EventStore.open(at: log.path, options: options),
            policy: RetentionPolicy(messagesPerChannel: keep),
            now: SystemClock.now,
            isDryRun: dryRun
        )
        progress.end()
        let printer = CompactionPrinter(output: output.standardOutput, summary: summary, isDryRun: dryRun)
        if document.json { try printer.printDocument() } else { try printer.printText() }
        try printer.output.flush()
    }
}
