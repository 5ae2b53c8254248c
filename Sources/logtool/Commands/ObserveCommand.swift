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

    @OptionGroup var serving: ServingOptions

    @OptionGroup(title: "Options of the log") var write: WriteOptions
    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions
}
