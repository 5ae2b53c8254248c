#if Recorders
import EventLog

/// Where the journal of a source goes on: what earlier runs left.
struct JournalStart {
    let bookmark: JournalBookmark?
    /// The number of the connection that the latest key names; 0 for none.
    let latestNumber: UInt64
    /// True if the log holds nothing of the source.
    let isFirstRun: Bool

    init(_ history: RecordedHistory) throws {
        bookmark = history.bookmark.flatMap { JournalBookmark(bytes: $0) }
        let latestKey = try history.latestKey()
        latestNumber = latestKey.flatMap { Self.connectionNumber(in: $0.rawValue) } ?? 0
        isFirstRun = bookmark == nil && latestKey == nil
    }

    /// The number of the last connection: the greater of the bookmark's and the latest key's, because either may be behind.
    var number: UInt64 { max(bookmark?.number ?? 0, latestNumber) }

    /// The open gaps of earlier runs.
    func gaps(of source: SourceName, steps: @escaping @Sendable () -> Int64) -> OpenGaps {
        OpenGaps(bookmark?.gaps ?? [], of: source, steps: steps)
    }

    /// The number in a key: `cN/…`, or `gap/cN/…`. `nil` for other keys, and for the greatest number, which has no
    /// successor.
    static func connectionNumber(in key: String) -> UInt64? {
        key.split(separator: "/").lazy.filter { $0.first == "c" }.compactMap { UInt64($0.dropFirst()) }
            .first { $0 < UInt64.max }
    }
}
#endif
