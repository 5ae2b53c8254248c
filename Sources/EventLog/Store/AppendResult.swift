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
    /// One for each draft, in their order; of a duplicate that of the event which holds its key.
    public let sequences: [SequenceNumber]
    /// How many events are new.
    public let appended: Int
    /// How many drafts were held already.
    public let duplicates: Int
    /// The first of the new events.
    public let first: SequenceNumber?
    /// The last of the new events.
    public let last: SequenceNumber?

    init(sequences: [SequenceNumber], appended: Int, first: UInt64) {
        self.sequences = sequences
        self.appended = appended
        duplicates = sequences.count - appended
        self.first = appended > 0 ? SequenceNumber(first) : nil
        last = appended > 0 ? SequenceNumber(first + UInt64(appended) - 1) : nil
    }
}
