import ArgumentParser
import EventLog

/// The log that a command reads.
struct LogOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("The log's directory.", valueName: "log"), completion: .directory)
    var path: String

    /// Opens the log for reading.
    func open() throws -> EventStore {
        try EventStore.open(at: path)
    }
}
