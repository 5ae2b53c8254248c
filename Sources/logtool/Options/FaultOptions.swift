import ArgumentParser

/// Faults in the messages from the server to the client.
struct FaultOptions: ParsableArguments {
    /// Faults that belong together.
    enum Preset: String, CaseIterable, ExpressibleByArgument {
        case reconnect
    }

    @Option(help: ArgumentHelp("Cut the connection behind the N-th message; may be given often.", valueName: "n"))
    var cutAfter: [Int] = []

    @Option(
        help: ArgumentHelp("Cut every connection so long after it opened.", valueName: "duration"),
        transform: DurationText.parse
    )
    var cutEvery: Duration?

    @Option(
        help: ArgumentHelp("Let each message wait so long.", valueName: "duration"),
        transform: DurationText.parse
    )
    var delay: Duration?

    @Option(help: ArgumentHelp("Keep the N-th message from the client; may be given often.", valueName: "n"))
    var drop: [Int] = []

    @Option(help: ArgumentHelp("Swap the N-th message with the next; may be given often.", valueName: "n"))
    var swap: [Int] = []

    @Option(help: ArgumentHelp("Send the N-th message twice; may be given often.", valueName: "n"))
    var duplicate: [Int] = []

    @Flag(help: "A cut leaves the client's connection open, with nothing passing.")
    var halfOpen = false

    @Option(help: ArgumentHelp("reconnect: the same as --cut-after 3.", valueName: "name"))
    var faults: Preset?
}
