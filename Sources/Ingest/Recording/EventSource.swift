public import EventLog

/// Something outside that a recorder reads remote changes from. It owns no storage and no retry loop.
public protocol EventSource {
    /// What it hands out.
    associatedtype Drafts: DraftSequence

    /// The recorder's name in the log.
    var name: SourceName { get }

    /// Begins to read after what the log holds already. Reads only as far as needed to find that the source is usable.
    func drafts(after history: RecordedHistory) throws -> Drafts
}

/// What a source hands out, piece by piece; nothing is read before it is asked for.
public protocol DraftSequence {
    /// The next piece; `nil` when the source has caught up.
    mutating func next() throws -> SourceItem?
}

/// One piece of what a source hands out.
public enum SourceItem: Sendable {
    /// An event to append, and the bookmark that is valid once it and all before it are stored.
    case draft(DraftEvent, bookmark: [UInt8]? = nil)
    /// A piece of input that is no event.
    case skipped(IngestIssue)
}

/// What a source may ask about its own past in the log.
///
/// A bookmark is a hint: losing it costs a second reading, never a double (I15).
public struct RecordedHistory: Sendable {
    /// What the source stored as its bookmark; `nil` if there is none.
    public let bookmark: [UInt8]?
    private let holdsKey: @Sendable (EventKey) throws -> Bool
    private let findLatestKey: @Sendable () throws -> EventKey?
    private let visitEvents: @Sendable ((RecordedEvent) throws -> Void) throws -> Void

    /// Nothing recorded yet.
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

    /// Whether an event of the source was ever appended under a key.
    public func holds(_ key: EventKey) throws -> Bool {
        try holdsKey(key)
    }

    /// The key of the source's last event that the log still holds. Cost: may read the log from its end.
    public func latestKey() throws -> EventKey? {
        try findLatestKey()
    }

    /// Visits every event of the source that the log still holds, in order. Cost: reads the whole log.
    public func forEachEvent(_ body: (RecordedEvent) throws -> Void) throws {
        try visitEvents(body)
    }
}
