import ArgumentParser
import EventLog

/// The log that a command writes, and how.
struct WriteOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("How long to wait for another writer: 90s, 30m.", valueName: "duration"),
        transform: DurationText.parse
    )
    var wait: Duration = .seconds(10)

    @Option(help: ArgumentHelp("synced: on the disk when done; fast may be done a little sooner.", valueName: "how"))
    var durability = DurabilityChoice.synced

    /// How the store is to be opened. `fast` allows to acknowledge early and asks for nothing: synced fulfils it too.
    var storeOptions: EventStore.Options {
        var options = EventStore.Options()
        options.wait = wait
        return options
    }
}

/// When an append counts as done.
enum DurabilityChoice: String, CaseIterable, ExpressibleByArgument {
    case synced, fast
}
