import ArgumentParser
import EventLog
import Projections

/// `logtool root`: the size and root that commit to a log as it is now.
///
/// Size and root commit to every event up to there, dropped ones included, because leaf hashes stay (I7). It is the
/// root of RFC 6962, so any implementation of that can check it.
struct RootCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "root",
        abstract: "Print the number of events and the root of the hash tree over them.",
        usage: "logtool root LOG [options]"
    )

    static let examples = [
        Example("logtool root chat.eventlog", "size and root, to compare with another machine's"),
        Example("logtool root chat.eventlog --json > root.json", "to keep, for verify --against"),
    ]

    @OptionGroup var log: LogOptions

    /// An earlier size gives the root that the log had then: a kept root can be found again.
    @Option(help: ArgumentHelp("Over the first so many events; default: all.", valueName: "n"))
    var size: UInt64?

    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

    /// - Throws: `EventLogError` with code `notFound` (exit 1) for a size beyond the head.
    func run() throws {
        let kept = try log.open(isQuiet: output.quiet).read { session in
            let size = size ?? session.head.rawValue
            return KeptRoot(size: size, root: try session.root(size: size))
        }
        let output = output.standardOutput
        try output.line(document.json ? String(decoding: kept.json, as: UTF8.self) : "\(kept.size) \(kept.root)")
        try output.flush()
    }
}
