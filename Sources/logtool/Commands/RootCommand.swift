import ArgumentParser
import EventLog
import Projections

/// `logtool root`: the size and root that commit to a log as it is now.
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

    @Option(help: ArgumentHelp("Over the first so many events; default: all.", valueName: "n"))
    var size: UInt64?

    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

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
