/// A recorder's own note of how far it has read, stored in the commit of the events that it belongs to. A hint: losing
/// it costs a second reading, never a second event (I15).
public struct Bookmark: Hashable, Sendable {
    /// The source whose recorder wrote it.
    public let source: SourceName
    /// The note; only the recorder reads it.
    public let bytes: [UInt8]

    /// Makes a bookmark.
    public init(source: SourceName, bytes: [UInt8]) {
        self.source = source
        self.bytes = bytes
    }
}

/// The result of an append.
public struct AppendResult: Hashable, Sendable {
    /// One for each draft, in their order; for a duplicate, the sequence of the event that holds its key. Empty if the
    /// result sums up several appends, or if the drafts are only queued.
    public private(set) var sequences: [SequenceNumber]
    /// How many events are new.
    public private(set) var appended: Int
    /// How many drafts were already in the log.
    public private(set) var duplicates: Int
    /// The first of the new events; `nil` if there are none.
    public private(set) var first: SequenceNumber?
    /// The last of the new events; `nil` if there are none.
    public private(set) var last: SequenceNumber?

    /// How many drafts are queued and not yet committed, under `fast` durability; their sequences are not known yet.
    public private(set) var queued = 0

    /// The result of an append under `fast`.
    init(queued: Int) {
        self.init(sequences: [], appended: 0, first: 0)
        self.queued = queued
    }

    /// Adds the counts of a later append. `sequences` and `queued` stay as they are.
    mutating func add(_ other: AppendResult) {
        appended += other.appended
        duplicates += other.duplicates
        first = first ?? other.first
        last = other.last ?? last
    }

    init(sequences: [SequenceNumber], appended: Int, first: UInt64) {
        assert(appended <= sequences.count, "each new event has a sequence")
        self.sequences = sequences
        self.appended = appended
        duplicates = sequences.count - appended
        self.first = appended > 0 ? SequenceNumber(first) : nil
        last = appended > 0 ? SequenceNumber(first + UInt64(appended) - 1) : nil
    }
}
