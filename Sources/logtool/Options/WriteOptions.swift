import ArgumentParser
import EventLog

/// The log that a command writes, and how.
///
/// Shared by all commands that append. Reading needs neither: readers wait for no writer.
struct WriteOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("How long to wait for another writer: 90s, 30m.", valueName: "duration"),
        transform: DurationText.parse
    )
    var wait: Duration = .seconds(10)

    @Option(
        help: ArgumentHelp(
            "synced: each batch is on the disk before the next; fast: within 100 ms or 16 MiB, and all of it at the end.",
            valueName: "how"
        )
    )
    var durability = DurabilityChoice.synced

    /// The options to open the store with.
    func storeOptions(isQuiet: Bool) -> EventStore.Options {
        var options = EventStore.Options.withProgress(isQuiet: isQuiet)
        options.wait = wait
        options.durability = durability == .fast ? .fast : .synced
        return options
    }
}

/// When an append counts as done. The command itself ends only when everything is durable, in both cases (I5).
enum DurabilityChoice: String, CaseIterable, ExpressibleByArgument {
    case synced, fast
}
