import EventLog

/// Pieces that a source hands out together, in order.
struct SourceBatch: Sendable {
    /// A bookmark that is valid once so many of the drafts are stored.
    struct Mark: Sendable {
        let count: Int
        let bookmark: [UInt8]
    }

    private(set) var drafts = DraftBatch()
    /// In order.
    private(set) var marks: [Mark] = []
    /// Pieces of input that are no events.
    private(set) var skipped: [IngestIssue] = []

    /// What a piece counts beside its payload against the limit of what waits.
    private static let pieceBytes = 256

    /// The bookmark that is valid once all drafts are stored.
    var bookmark: [UInt8]? { marks.last?.bookmark }

    /// How many pieces there are.
    var count: Int { drafts.count + skipped.count }

    /// Whether there is nothing to store, not even a bookmark.
    var isEmpty: Bool { count == 0 && marks.isEmpty }

    /// About the memory that it takes.
    var weight: Int {
        drafts.payloadByteCount + count * Self.pieceBytes + marks.reduce(0) { $0 + $1.bookmark.count }
    }

    mutating func append(_ item: SourceItem) {
        switch item {
        case .skipped(let issue): skipped.append(issue)
        case .draft(let draft, let bookmark):
            drafts.append(draft)
            if let bookmark { mark(bookmark) }
        }
    }

    mutating func append(_ draft: DraftEvent) {
        drafts.append(draft)
    }

    /// Adds a draft of its parts; the bytes are copied.
    mutating func append(
        recordedAt: Timestamp,
        source: SourceName,
        kind: EventKind,
        key: UnsafeRawBufferPointer,
        attributes: Attributes,
        payload: UnsafeRawBufferPointer
    ) {
        drafts.append(
            recordedAt: recordedAt,
            source: source,
            kind: kind,
            key: key,
            attributes: attributes,
            payload: payload
        )
    }

    /// Adds the drafts of another batch behind those that are there, with their bookmarks.
    mutating func append(draftsOf other: SourceBatch) {
        let countBefore = drafts.count
        drafts.append(contentsOf: other.drafts)
        marks += other.marks.map { Mark(count: countBefore + $0.count, bookmark: $0.bookmark) }
    }

    /// Says which bookmark is valid once the drafts up to here are stored; another one for the same drafts no longer is.
    mutating func mark(_ bookmark: [UInt8]) {
        if marks.last?.count == drafts.count { marks.removeLast() }
        marks.append(Mark(count: drafts.count, bookmark: bookmark))
    }

    mutating func removeMarks() {
        marks = []
    }
}

extension SourceBatch {
    /// A batch of a bookmark alone.
    init(bookmark: [UInt8]) {
        mark(bookmark)
    }

    init(_ items: [SourceItem]) {
        for item in items { append(item) }
    }

    /// A batch of no pieces with room for as many drafts as another holds.
    init(roomOf other: SourceBatch) {
        drafts = DraftBatch(roomOf: other.drafts)
    }
}
