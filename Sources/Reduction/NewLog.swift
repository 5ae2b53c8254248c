import EventLog
import Projections

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Makes logs of events that a search has kept or changed.
enum NewLog {
    /// The most events appended at once.
    private static let batchMax = 10_000

    /// Makes a log of the events, with new sequences, and of the decoder files of their sources. It appears at its path whole and verified, or not at all, because it is
    /// made in a temporary folder and copied by `EventStore.backup`.
    ///
    /// - Throws: `EventLogError` if something exists at the path, or the log cannot be written.
    static func write(_ events: [DraftEvent], _ decoders: Decoders = Decoders(), to path: String) throws {
        let scratch = try ScratchFolder(in: FileManager.default.temporaryDirectory.path)
        let store = try EventStore.openOrCreate(at: scratch.path + "/new.eventlog")
        var rest = events[...]
        while !rest.isEmpty {
            _ = try store.append(Array(rest.prefix(batchMax)))
            rest = rest.dropFirst(batchMax)
        }
        let sources = Set(events.map(\.source))
        let time = events.map(\.recordedAt).max() ?? Timestamp(seconds: 0)
        for source in decoders.sources where sources.contains(source) {
            try Decoders.set(decoders[source], for: source, in: store, at: time)
        }
        _ = try store.backup(to: path)
    }
}
