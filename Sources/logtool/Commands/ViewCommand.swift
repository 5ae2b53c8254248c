import ArgumentParser
import EventLog
import Playback
import Projections

/// `logtool view`: shows a log in a browser, and follows it.
struct ViewCommand: AsyncParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "view",
        abstract: "Show a log in a browser, step by step, and follow it as it grows.",
        usage: "logtool view LOG [--listen ADDRESS] [options]",
        discussion: """
            Prints an address with a token that counts once: the browser that opens it gets the page of logtool report with every \
            text as it was recorded, and nobody else does. It listens on this machine alone, refuses other hosts and \
            origins, and never writes to the log. The page asks for what it shows, so the log may be long: kept states make a \
            jump cheap, and the browser holds little of it. Events chosen by more than --from and --to, and what is shown beside the \
            log (another reading, another log, the log without some events), are in the browser's memory as a whole. The page finds the event between a good and a bad point with which an expression begins to hold, and \
            with --freeze it writes fixtures into a folder. With --with-archive it shows the log as it is now, and does not follow it. It ends with Ctrl-C.
            """
    )

    static let examples = [
        Example("logtool view chat.eventlog", "open the address that it prints"),
        Example(
            "logtool view chat.eventlog --from head~1000 --profile retrocast-web",
            "the last 1,000 as a client reads them"
        ),
        Example("logtool view chat.eventlog --without 17", "beside it, what would have been without event 17"),
        Example("logtool view before.eventlog --against after.eventlog", "two logs side by side"),
    ]

    @OptionGroup var log: LogOptions

    @OptionGroup var listening: ListenOptions

    @Option(
        help: ArgumentHelp("Let the page write fixtures into this folder.", valueName: "folder"),
        completion: .directory
    )
    var freeze: String?

    @OptionGroup var reading: ProfileOptions
    @OptionGroup var other: AgainstOptions
    @OptionGroup var selectors: SelectorOptions
    @OptionGroup var archives: ArchiveOptions
    @OptionGroup var decoders: DecoderOptions
    @OptionGroup var output: OutputOptions

    func validate() throws { try other.refuse(selectors) }
}
