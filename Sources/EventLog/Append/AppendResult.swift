/// A recorder's own note of where it stands, stored with the events that it belongs to.
public struct Bookmark: Hashable, Sendable {
    /// Whose note it is.
    public let source: SourceName
    /// The note; only the recorder reads it.
    public let bytes: [UInt8]

    /// Makes a bookmark.
    public init(source: SourceName, bytes: [UInt8]) {
        self.source = source
        self.bytes = bytes
    }
}

/// What an append did.
public struct AppendResult: Hashable, Sendable {
    /// One for each draft, in their order; of a duplicate that of the event which holds its key. Empty where a flush says
    /// what several appends did.
    public private(set) var sequences: [SequenceNumber]
    /// How many events are new.
    public private(set) var appended: Int
    /// How many drafts were held already.
    public private(set) var duplicates: Int
    /// The first of the new events.
    public private(set) var first: SequenceNumber?
    /// The last of the new events.
    public private(set) var last: SequenceNumber?

    /// How many drafts were taken and are not committed yet, under `fast` durability; their sequences are not known.
    public private(set) var queued = 0

    init(queued: Int) {
        self.init(sequences: [], appended: 0, first: 0)
        self.queued = queued
    }

    /// Counts what a later append did.
    mutating func add(_ other: AppendResult) {
        appended += other.appended
        duplicates += other.duplicates
        first = first ?? other.first
        last = other.last ?? last
    }

    init(sequences: [SequenceNumber], appended: Int, first: UInt64) {
        self.sequences = sequences
        self.appended = appended
        duplicates = sequences.count - appended
        self.first = appended > 0 ? SequenceNumber(first) : nil
        last = appended > 0 ? SequenceNumber(first + UInt64(appended) - 1) : nil
    }
}
