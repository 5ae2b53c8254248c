import ArgumentParser
import EventLog

/// The log that a command writes, and how.
struct WriteOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("How long to wait for another writer: 90s, 30m.", valueName: "duration"),
        transform: DurationText.parse
    )
    var wait: Duration = .seconds(10)

    /// How the store is to be opened.
    var storeOptions: EventStore.Options {
        var options = EventStore.Options()
        options.wait = wait
        return options
    }
}
