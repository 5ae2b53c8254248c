public import EventLog
import Synchronization

/// Appends a source's drafts to a log, in order, and counts them.
///
/// Holds the source's lock, so a source has one recorder at a time (I6). `record` pulls a whole source; a live source
/// pushes (`LiveRecorder`). A draft whose key the log holds with another payload gets a key of its own, because evidence
/// must not be lost (I4).
public final class Recorder: Sendable {
    /// The number of events after which a pulled batch is appended; larger batches would only be acknowledged later.
    public static let batchEventsMax = 4_000
    /// The payload bytes after which a pulled batch is appended.
    public static let batchBytesMax = 8 << 20
    /// How long an event of a live source waits for others. With the commit it is durable within 50 ms.
    static let linger = Duration.milliseconds(30)
    /// The pause before a live source's events are tried again while another process holds the log's lock.
    private static let lockedPause = Duration.seconds(1)

    private let store: EventStore
    private let source: SourceName
    private let lock: SourceLock
    private let stream: AppendStream
    /// Counts of the events appended, found again and passed over so far.
    private let tally: Tally

    /// The items of the next batch. The batch enters the stream under the same lock, so that the order stays.
    private struct Taken {
        /// The pulled pieces that are not added yet.
        var batch = SourceBatch()
        /// The bookmark that is valid once everything added is stored.
        var lastBookmark: [UInt8]?

        /// Takes a pulled piece; returns the batch once it is full.
        mutating func gather(_ item: SourceItem) -> SourceBatch? {
            batch.append(item)
            let isFull = batch.count >= batchEventsMax || batch.drafts.payloadByteCount >= batchBytesMax
            return isFull ? takeBatch() : nil
        }

        /// Takes the batch, and makes room for the next one, which will be about as large.
        mutating func takeBatch() -> SourceBatch {
            defer { batch = SourceBatch(roomOf: batch) }
            return batch
        }
    }

    private let taken = Mutex(Taken())

    /// Takes the source's lock.
    ///
    /// - Parameter progress: called after each commit with the counts so far, on the thread that commits.
    /// - Throws: `IngestError` with code `invalidArgument` for the reserved source `logtool`; `EventLogError` with code
    ///   `locked` if the source already has a recorder.
    public convenience init(
        store: EventStore,
        source: SourceName,
        progress: (@Sendable (IngestSummary) -> Void)? = nil
    ) throws {
        try self.init(store: store, source: source, isLive: false) { summary, _, _ in progress?(summary) }
    }

    /// - Parameters:
    ///   - isLive: whether the source goes on meanwhile, so that its events wait for others, and for the log's lock.
    ///   - stored: called after each commit with the counts so far, the pieces of the commit and how long it took.
    init(
        store: EventStore,
        source: SourceName,
        isLive: Bool,
        stored: @escaping @Sendable (IngestSummary, _ pieces: Int, Duration) -> Void
    ) throws {
        guard source != .logtool else {
            throw IngestError(
                .invalidArgument,
                operation: "record source",
                object: source.rawValue,
                reason: "the name is reserved for what is done to the log itself",
                advice: "choose another name with --as"
            )
        }
        self.store = store
        self.source = source
        lock = try store.acquireSourceLock(source)
        let tally = Tally()
        self.tally = tally
        var gathering = AppendStream.Gathering(linger: isLive ? Self.linger : .zero)
        if !isLive && store.isFast { gathering = .fast }
        // A pulled batch is written while the next one is made.
        if !isLive && !store.isFast { gathering.batchesMax = 2 }
        stream = store.stream(gathering) { error in
            let isLocked = (error as? EventLogError)?.code == .locked
            return isLive && isLocked ? .retry(after: Self.lockedPause) : .end
        } stored: { result, pieces, duration in
            let summary = tally.withLock { summary in
                summary.add(result)
                return summary
            }
            stored(summary, pieces, duration)
        }
    }

    /// Records a source until it has caught up.
    ///
    /// Events appended before an error stay in the log. Another run continues behind them and duplicates nothing (I4).
    public static func record(
        _ source: some EventSource,
        into store: EventStore,
        progress: (@Sendable (IngestSummary) -> Void)? = nil
    ) throws -> IngestSummary {
        let recorder = try Recorder(store: store, source: source.name, progress: progress)
        var drafts = try source.drafts(after: try recorder.history())
        do {
            // The source reads the next piece only when this one is taken, so memory is bounded by the batches.
            while let item = try drafts.next() { try recorder.accept(item) }
            return try recorder.finish()
        } catch {
            throw recorder.counting(error)
        }
    }

    /// The source's past in the log.
    public func history() throws -> RecordedHistory {
        let log = RecordedLog(store: store, source: source)
        return RecordedHistory(
            bookmark: try store.read { try $0.bookmark(of: source) },
            holdsKey: { try log.holds($0) },
            latestKey: { try log.latestKey() },
            events: { try log.forEachEvent($0) }
        )
    }

    /// Takes one piece; appends the batch if it is full. On return the batches before that one are durable, except under
    /// `fast` durability. Use it from one task at a time.
    public func accept(_ item: SourceItem) throws {
        if let full = taken.withLock({ $0.gather(item) }) { try append(full) }
    }

    /// Appends everything taken so far, waits until it is durable, releases the source's lock and returns the counts.
    public func finish() throws -> IngestSummary {
        try append(taken.withLock { $0.takeBatch() })
        try stream.wait(for: .everything)
        lock.release()
        return summary
    }

    /// Appends pieces. On return those of earlier calls are durable, except under `fast` durability.
    func append(_ pieces: SourceBatch) throws {
        try add(pieces)
        try stream.wait(for: .room)
    }

    /// The counts so far.
    private var summary: IngestSummary { tally.withLock { $0 } }

    /// The error with what this run has left in the log. Call it once, after the last batch.
    private func counting(_ error: any Error) -> any Error { tally.withLock { $0.counting(error, store) } }

    /// Adds pieces to the stream, in the order of the calls.
    private func add(_ pieces: SourceBatch) throws {
        guard !pieces.isEmpty else { return }
        try taken.withLock { taken in
            for issue in pieces.skipped { tally.withLock { $0.skip(issue) } }
            taken.lastBookmark = pieces.bookmark ?? taken.lastBookmark
            let bookmark = pieces.bookmark.map { Bookmark(source: source, bytes: $0) }
            do {
                try stream.add(pieces.drafts, bookmark: bookmark, pieces: pieces.count)
            } catch {
                // Nothing may follow pieces that are missing.
                stream.end(error)
                throw error
            }
        }
    }
}

// MARK: - Live sources

extension Recorder: PieceSink {
    /// Takes pieces at once, and returns once there is room for more. Cancelling the task does not take them back.
    ///
    /// - Throws: the error of an append that failed; from then on nothing is appended.
    func take(_ pieces: SourceBatch) async throws {
        try add(pieces)
        try await stream.reach(.room)
    }

    /// Returns once everything taken before the call is durable.
    ///
    /// - Throws: as `take`.
    func flush() async throws {
        try await stream.reach(.everything)
    }

    /// The number of pieces ever taken.
    var takenCount: UInt64 { stream.acceptedPieces }

    /// Replaces the bookmark if exactly `count` pieces were ever taken and all are stored. Later pieces bring a newer
    /// bookmark of their own, which must not be overwritten.
    ///
    /// - Parameter renewed: makes the new bookmark from the last one; `nil` leaves it.
    func renewBookmark(ifTaken count: UInt64, _ renewed: ([UInt8]) -> [UInt8]?) {
        taken.withLock { taken in
            guard takenCount == count, !stream.isBusy, let bookmark = taken.lastBookmark.flatMap(renewed)
            else { return }
            taken.lastBookmark = bookmark
            // A stream that has ended reports its error to whoever takes pieces.
            try? stream.add(DraftBatch(), bookmark: Bookmark(source: source, bytes: bookmark))
        }
    }

    /// Waits until everything taken is durable, releases the source's lock and returns the counts. Cancellation does not
    /// stop it.
    func finished() async throws -> IngestSummary {
        defer { lock.release() }
        stream.finish()
        do { try await flush() } catch { throw counting(error) }
        return summary
    }
}

/// Finds one source's events in a log.
private struct RecordedLog {
    let store: EventStore
    let source: SourceName

    /// True if an event, held or dropped, has the key.
    func holds(_ key: EventKey) throws -> Bool {
        try store.read { try $0.sequence(of: key, source: source) != nil }
    }

    /// Visits every event of the source that the log still holds, in order. Cost: reads the whole log.
    func forEachEvent(_ body: (RecordedEvent) throws -> Void) throws {
        try store.read { session in
            guard session.head > .zero else { return }
            try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                if event.source == source { try body(event.copied()) }
                return true
            }
        }
    }

    /// The key of the source's last event that has one. Cost: reads the log backwards, in blocks of 65,536 events,
    /// until a block contains it.
    func latestKey() throws -> EventKey? {
        try store.read { session in
            var latest: EventKey?
            var end = session.head.rawValue
            while end > 0, latest == nil {
                let start = end > 65_536 ? end - 65_536 : 0
                try session.forEachEvent(in: SequenceNumber(start + 1)...SequenceNumber(end)) { event in
                    if event.source == source { latest = event.key ?? latest }
                    return true
                }
                end = start
            }
            return latest
        }
    }
}

/// Counts that the recorder and its stream share; a reference, because a `Mutex` cannot be captured.
private final class Tally: Sendable {
    private let summary = Mutex(IngestSummary())

    func withLock<Value>(_ body: (inout sending IngestSummary) -> sending Value) -> sending Value {
        summary.withLock(body)
    }
}
