import EventLog

/// Pieces that a source hands over together, in order. The order between drafts and skipped pieces is not kept; nothing
/// depends on it.
struct SourceBatch: Sendable {
    /// A bookmark that is valid once the first `count` drafts are stored.
    struct Mark: Sendable {
        let count: Int
        let bookmark: [UInt8]
    }

    var drafts = DraftBatch()
    /// Sorted by `count`, ascending.
    private(set) var marks: [Mark] = []
    /// Pieces of input that gave no event, in order.
    private(set) var skipped: [IngestIssue] = []

    /// The bookmark that is valid once all drafts are stored.
    var bookmark: [UInt8]? { marks.last?.bookmark }

    /// The number of drafts and skipped pieces.
    var count: Int { drafts.count + skipped.count }

    /// True if the batch holds no piece and no bookmark.
    var isEmpty: Bool { count == 0 && marks.isEmpty }

    mutating func append(_ item: SourceItem) {
        switch item {
        case .skipped(let issue): skipped.append(issue)
        case .draft(let draft, let bookmark):
            drafts.append(draft)
            if let bookmark { mark(bookmark) }
        }
    }

    /// Sets the bookmark that is valid once all drafts added so far are stored; replaces an earlier one for the same
    /// drafts.
    mutating func mark(_ bookmark: [UInt8]) {
        if marks.last?.count == drafts.count { marks.removeLast() }
        assert((marks.last?.count ?? 0) <= drafts.count, "marks are in the order of the drafts that they cover")
        marks.append(Mark(count: drafts.count, bookmark: bookmark))
    }

    /// Changes the drafts, as many as before.
    mutating func changeDrafts(_ change: (DraftEvent) throws -> DraftEvent) rethrows {
        drafts = DraftBatch(try drafts.drafts.map(change))
    }

    /// Forgets the bookmarks that meet a condition.
    mutating func removeMarks(where isMeant: ([UInt8]) -> Bool) {
        marks.removeAll { isMeant($0.bookmark) }
    }

    /// Forgets the bookmarks, for a source whose bookmark is made elsewhere.
    mutating func removeMarks() {
        marks = []
    }
}

extension SourceBatch {
    /// A batch that holds a bookmark alone.
    init(bookmark: [UInt8]) {
        mark(bookmark)
    }

    /// A batch of items, in order.
    init(_ items: [SourceItem]) {
        for item in items { append(item) }
    }

    /// An empty batch with capacity for the drafts of `other`.
    init(roomOf other: SourceBatch) {
        drafts = DraftBatch(roomOf: other.drafts)
    }
}

/// Takes the pieces of a live source: a `Recorder`.
protocol PieceSink: Sendable {
    var takenCount: UInt64 { get }
    func take(_ pieces: SourceBatch) async throws
    func flush() async throws
    func renewBookmark(ifTaken count: UInt64, _ renewed: ([UInt8]) -> [UInt8]?)
}
