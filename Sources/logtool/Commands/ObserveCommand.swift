import ArgumentParser
import EventLog

/// `logtool observe`: takes what clients say that they show, beside whatever records their traffic.
struct ObserveCommand: AsyncParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "observe",
        abstract: "Record what clients themselves show, sent to an address of this machine.",
        usage: "logtool observe LOG [--listen ADDRESS] [--as NAME] [options]",
        discussion: """
            A client sends what it shows as JSON to POST /_eventlog/observed (docs/observed.md); bisect, diff and shrink compare it with \
            the state (--observed). Another command may record the traffic into the same log. It ends with Ctrl-C.
            """
    )

    static let examples = [
        Example("logtool observe bug.eventlog", "take observations at http://127.0.0.1:4001/_eventlog/observed")
    ]

    @Argument(help: ArgumentHelp("The log's directory.", valueName: "log"), completion: .directory)
    var log: String

    @Option(help: ArgumentHelp("Where to listen; port 0 is a free one.", valueName: "address"))
    var listen = "127.0.0.1:4001"

    @Flag(help: "Listen on any address, and answer to any host name.")
    var allowRemote = false

    @Option(name: .customLong("as"), help: ArgumentHelp("The source's name in the log.", valueName: "name"))
    var name = "observed"

    @OptionGroup(title: "Options of the log") var write: WriteOptions
    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

    /// Refuses an address of elsewhere, unless it is allowed.
    func validate() throws {
        if name == SourceName.logtool.rawValue { throw ValidationError("the source name \"logtool\" is reserved") }
        _ = try ListenAddress(listen, allowsRemote: allowRemote)
    }
}
