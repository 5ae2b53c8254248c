import ArgumentParser

/// The log that a command writes, and how.
struct WriteOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("How long to wait for another writer: 90s, 30m.", valueName: "duration"),
        transform: DurationText.parse
    )
    var wait: Duration = .seconds(10)

    @Option(help: ArgumentHelp("synced: on disk when done; fast: queued, synced within 100 ms.", valueName: "how"))
    var durability = DurabilityChoice.synced
}

/// When an append counts as done.
enum DurabilityChoice: String, CaseIterable, ExpressibleByArgument {
    case synced, fast
}
