import ArgumentParser
import EventLog

/// The log that a command reads.
struct LogOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("The log's directory.", valueName: "log"), completion: .directory)
    var path: String

    /// Opens the log for reading.
    ///
    /// - Parameter isQuiet: Whether to say nothing of a check of its pages that takes long.
    func open(isQuiet: Bool = false) throws -> EventStore {
        try EventStore.open(at: path, options: .withProgress(isQuiet: isQuiet))
    }
}
