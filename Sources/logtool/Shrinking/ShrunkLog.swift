import EventLog

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Writes the events that a search has kept.
enum ShrunkLog {
    /// The most events appended at once.
    private static let batchMax = 10_000

    /// Makes a log of these events, with new sequences. It appears at its path whole and verified, or not at all,
    /// because it is made in a scratch folder and copied by `backup`.
    static func write(_ events: [CandidateEvent], to path: String) throws {
        let scratch = try ScratchFolder()
        let store = try EventStore.openOrCreate(at: scratch.path + "/shrunk.eventlog")
        var rest = events[...]
        while !rest.isEmpty {
            _ = try store.append(rest.prefix(batchMax).map(\.draft))
            rest = rest.dropFirst(batchMax)
        }
        _ = try store.backup(to: path)
    }
}
