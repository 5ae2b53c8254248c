import ArgumentParser
import EventLog

/// `logtool proxy`: passes everything between clients and one target, and records it.
struct ProxyCommand: AsyncParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "proxy",
        abstract: "Pass a client's traffic to one target, record it, and make faults on demand.",
        usage: "logtool proxy LOG --to URL [--listen ADDRESS] [--decoder FILE] [--as NAME] [faults] [options]",
        discussion: """
            The client uses the proxy's address in place of the target's. Everything passes unchanged but for the fields that \
            name the proxy or the target; WebSockets, event streams and JSON are recorded in both directions. Faults change \
            the messages from the server to the client, and the log has what reached the client. It ends with Ctrl-C. See \
            docs/proxy.md.
            """
    )

    static let examples = [
        Example("logtool proxy bug.eventlog --to https://app.example", "open http://127.0.0.1:4000 in place of it"),
        Example(
            "logtool proxy bug.eventlog --to https://app.example --faults reconnect",
            "cut the connection behind the third message"
        ),
    ]

    @Argument(help: ArgumentHelp("The log's directory.", valueName: "log"), completion: .directory)
    var log: String

    @Option(help: ArgumentHelp("The target: scheme, host and port.", valueName: "url"))
    var to: String

    @OptionGroup var serving: ServingOptions

    @Option(help: ArgumentHelp("What reads the source from now on.", valueName: "file"), completion: .file())
    var decoder: String?

    @Option(
        help: ArgumentHelp(
            "Replace also what has this name, or lies at this JSON Pointer (/d/email); may be given often.",
            valueName: "name|pointer"
        )
    )
    var redact: [String] = []

    @Option(
        help: ArgumentHelp("Root certificates in PEM, in place of the system's.", valueName: "file"),
        completion: .file()
    )
    var caFile: String?

    @OptionGroup(title: "Faults") var faults: FaultOptions
    @OptionGroup(title: "Options of the log") var write: WriteOptions
    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

    /// Contacts nobody.
    func validate() throws {
        if faults.halfOpen, faults.cutAfter.isEmpty, faults.cutEvery == nil, faults.faults == nil {
            throw ValidationError("--half-open goes with --cut-after or --cut-every")
        }
        for number in faults.cutAfter + faults.drop + faults.swap + faults.duplicate where number < 1 {
            throw ValidationError("messages are counted from 1")
        }
    }
}
