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
            origins, and never writes to the log. The whole page is in the browser's memory, so of a log of more than some 100,000 events choose \
            some, with --from or another selector. It ends with Ctrl-C.
            """
    )

    static let examples = [
        Example("logtool view chat.eventlog", "open the address that it prints"),
        Example(
            "logtool view chat.eventlog --from head~1000 --profile retrocast-web",
            "the last 1,000 as a client reads them"
        ),
    ]

    @OptionGroup var log: LogOptions

    @OptionGroup var listening: ListenOptions

    @OptionGroup var reading: ProfileOptions
    @OptionGroup var other: AgainstOptions
    @OptionGroup var selectors: SelectorOptions
    @OptionGroup var decoders: DecoderOptions
    @OptionGroup var output: OutputOptions
}
