import EventLog

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Makes logs of events that a search has kept or changed.
enum NewLog {
    /// The most events appended at once.
    private static let batchMax = 10_000

    /// Makes a log of the events, with new sequences. It appears at its path whole and verified, or not at all, because it is
    /// made in a temporary folder and copied by `EventStore.backup`.
    ///
    /// - Throws: `EventLogError` if something exists at the path, or the log cannot be written.
    static func write(_ events: [DraftEvent], to path: String) throws {
        let scratch = try ScratchFolder(in: FileManager.default.temporaryDirectory.path)
        let store = try EventStore.openOrCreate(at: scratch.path + "/new.eventlog")
        var rest = events[...]
        while !rest.isEmpty {
            _ = try store.append(Array(rest.prefix(batchMax)))
            rest = rest.dropFirst(batchMax)
        }
        _ = try store.backup(to: path)
    }
}
