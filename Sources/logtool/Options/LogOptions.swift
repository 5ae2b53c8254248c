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
        try Self.open(path, isQuiet: isQuiet)
    }

    /// Opens a log for reading, with what people are to know of it.
    static func open(_ path: String, isQuiet: Bool) throws -> EventStore {
        let store = try EventStore.open(at: path, options: .withProgress(isQuiet: isQuiet))
        if !isQuiet, let notice = PartNotice.text(for: store, at: path) { StandardError.line("logtool: \(notice)") }
        return store
    }
}

/// What people are told before they read a part of a log.
enum PartNotice {
    /// `nil` where the log is whole, or so damaged that the command itself will say it.
    static func text(for store: EventStore, at path: String) -> String? {
        guard let isPart = try? store.read({ try $0.isPart() }), isPart, let statistics = try? store.statistics() else {
            return nil
        }
        return "\"\(path)\" is a part: it holds \(statistics.held) of \(statistics.head) events"
    }
}
