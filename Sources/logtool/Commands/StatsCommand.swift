import ArgumentParser
import EventLog
import Joining
import Projections

/// `logtool stats`: counts and sizes of a log.
///
/// The counts are of one session's prefix. The files' sizes are read before it, so they may be of an earlier commit.
/// `LogStatistics` states the cost.
struct StatsCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Show how much a log holds: events per source and kind, time span, size, state.",
        usage: "logtool stats LOG [options]"
    )

    static let examples = [
        Example("logtool stats chat.eventlog", "sizes and counts"),
        Example("logtool stats year", "the logs of a folder as one, and what each gives"),
        Example("logtool stats chat.eventlog --json", "the same for scripts"),
    ]

    @OptionGroup var log: LogOptions
    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

    func run() throws {
        let joined = try JoinedLogs.open(log.path, isQuiet: output.quiet, scratch: ScratchFolders.make)
        let store = try joined?.store ?? log.open(isQuiet: output.quiet)
        let size = try store.statistics()
        let progress = output.progress("counting")
        let statistics = try store.read { try LogStatistics(session: $0, store: size, progress: progress) }
        progress.end()
        let paged = output.paged(unless: document.json ? .document : .text)
        let printer = StatisticsPrinter(output: paged, statistics: statistics, logs: joined?.members ?? [])
        if document.json { try printer.printDocument() } else { try printer.printText() }
        try printer.output.flush()
    }
}
