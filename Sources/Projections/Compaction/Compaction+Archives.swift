public import EventLog

extension Compaction {
    /// Where what a compaction drops is kept.
    public enum Archiving: Sendable {
        /// In no other place.
        case none
        /// In a file beside the log (`ArchiveFile.path(beside:_:)`).
        case besideLog
        /// In a file at a path, where nothing is.
        case file(String)
    }

    /// The kind of the act that a restoration appends.
    package static let restorationKind = EventKind("logtool.restore/1" as StaticString)

    /// Brings back what the newest compactions dropped: afterwards the log holds the same events, byte for byte, and every earlier
    /// point can be replayed again.
    ///
    /// - Parameters:
    ///   - archives: Of the newest compaction, the one before, and so on; in any order.
    ///   - now: When the act is recorded.
    /// - Throws: As `EventStore.restore`; also if the log was redacted since: what is archived may hold the texts that went.
    public static func restore(
        _ archives: [Archive],
        into store: EventStore,
        now: Timestamp
    ) throws -> RestorationResult {
        try store.restore(archives, barredBy: [Redactions.actKind]) { undone, restored in
            let payload = JSONValue.object([
                "compactions": .array(undone.map { .string($0.description) }),
                "restored": .int(restored),
            ])
            return DraftEvent(recordedAt: now, source: .logtool, kind: restorationKind, payload: payload.canonicalBytes)
        }
    }

    /// A log for reading that holds what the newest compactions of another one dropped. See `EventStore.restoredCopy`.
    public static func restoredCopy(
        of store: EventStore,
        with archives: [Archive],
        in scratch: String
    ) throws -> EventStore {
        try store.restoredCopy(of: archives, barredBy: [Redactions.actKind], in: scratch)
    }
}
