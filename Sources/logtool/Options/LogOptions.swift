import ArgumentParser
import EventLog

/// The log that a command reads. Commands that may make the log have a path of their own.
struct LogOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("The log's directory.", valueName: "log"), completion: .directory)
    var path: String

    /// Opens the log for reading.
    ///
    /// Opening checks the log's pages unless a mark covers them (I24); that shows a progress line if it takes long.
    ///
    /// - Parameter isQuiet: Whether to hide progress and notices.
    /// - Throws: `EventLogError` with code `noLog` if there is none.
    func open(isQuiet: Bool = false) throws -> EventStore {
        try Self.open(path, isQuiet: isQuiet)
    }

    /// Opens a log for reading. Unless `isQuiet`, a notice on standard error names a log that is a part. The notice
    /// comes with every command that opens a part, because results of it look whole.
    static func open(_ path: String, isQuiet: Bool) throws -> EventStore {
        let store = try EventStore.open(at: path, options: .withProgress(isQuiet: isQuiet))
        if !isQuiet, let notice = PartNotice.text(for: store, at: path) { StandardError.line("logtool: \(notice)") }
        return store
    }
}

/// The notice for a log that is a part: a state made of it lacks what the missing events changed.
enum PartNotice {
    /// `nil` if the log is whole, or so damaged that the command itself will fail on it.
    static func text(for store: EventStore, at path: String) -> String? {
        guard let isPart = try? store.read({ try $0.isPart() }), isPart, let statistics = try? store.statistics() else {
            return nil
        }
        return "\"\(path)\" is a part: it holds \(statistics.held) of \(statistics.head) events"
    }
}
