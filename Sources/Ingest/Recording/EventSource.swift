public import EventLog

/// An outside source of remote changes that a recorder pulls. It owns no storage and no retry loop.
public protocol EventSource {
    /// The sequence of drafts that it gives.
    associatedtype Drafts: DraftSequence

    /// The recorder's name in the log.
    var name: SourceName { get }

    /// Begins to read behind what the log already holds. Reads only enough to learn if the source is usable.
    ///
    /// - Throws: `IngestError` if it is not.
    func drafts(after history: RecordedHistory) throws -> Drafts
}

/// The pieces of a source, one at a time; nothing is read before a caller needs it.
public protocol DraftSequence {
    /// The next piece; `nil` once the source has caught up.
    mutating func next() throws -> SourceItem?
}

/// One piece of a source: an event, or input that was passed over.
public enum SourceItem: Sendable {
    /// An event to append, and the bookmark that is valid once it and all before it are stored.
    case draft(DraftEvent, bookmark: [UInt8]? = nil)
    /// A piece of input that gives no event, and why.
    case skipped(IngestIssue)
}

/// A source's own past in the log.
///
/// The bookmark is a hint: losing it costs a second reading, never a duplicate (I15).
public struct RecordedHistory: Sendable {
    /// The bookmark that the source stored last; `nil` if there is none.
    public let bookmark: [UInt8]?
    private let holdsKey: @Sendable (EventKey) throws -> Bool
    private let findLatestKey: @Sendable () throws -> EventKey?
    private let visitEvents: @Sendable ((RecordedEvent) throws -> Void) throws -> Void

    /// The history of a source that recorded nothing yet.
    public static var empty: RecordedHistory {
        RecordedHistory(bookmark: nil, holdsKey: { _ in false }, latestKey: { nil })
    }

    /// Makes a history of a bookmark and three look-ups.
    public init(
        bookmark: [UInt8]?,
        holdsKey: @escaping @Sendable (EventKey) throws -> Bool,
        latestKey: @escaping @Sendable () throws -> EventKey?,
        events: @escaping @Sendable ((RecordedEvent) throws -> Void) throws -> Void = { _ in }
    ) {
        self.bookmark = bookmark
        self.holdsKey = holdsKey
        self.findLatestKey = latestKey
        visitEvents = events
    }

    /// True if the source ever appended an event under `key`, even if that event was dropped since.
    public func holds(_ key: EventKey) throws -> Bool {
        try holdsKey(key)
    }

    /// The key of the source's last event with a key that the log still holds; `nil` if there is none. Cost: may read
    /// the whole log, from its end.
    public func latestKey() throws -> EventKey? {
        try findLatestKey()
    }

    /// Visits every event of the source that the log still holds, in order. Cost: reads the whole log.
    public func forEachEvent(_ body: (RecordedEvent) throws -> Void) throws {
        try visitEvents(body)
    }
}
