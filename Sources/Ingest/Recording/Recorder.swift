public import EventLog

/// Appends a source's drafts to a log, in batches, and counts them.
///
/// Holds the source's lock, so a source has one recorder at a time (I6). `record` pulls a whole source; a live source
/// pushes with `accept` and ends with `finish`. Used by one task at a time.
public final class Recorder {
    /// The number of events after which a batch is appended; larger batches would only be acknowledged later.
    public static let batchEventsMax = 4_000
    /// The payload bytes after which a batch is appended.
    public static let batchBytesMax = 8 << 20

    private let store: EventStore
    private let source: SourceName
    private let lock: SourceLock
    private let progress: ((IngestSummary) -> Void)?
    /// Counts of the events appended, found again and passed over so far.
    private var summary = IngestSummary()
    /// The drafts taken since the last `pass` that was successful.
    private var batch = SourceBatch()
    /// Writes one batch while the next is made. `nil` under `fast` durability, where `append` does not wait for the
    /// disk.
    private let appender: Appender?
    /// The batch that the appender writes; kept because a refused batch is appended again with other keys.
    private var writing: SourceBatch?
    /// A batch that still has to be appended by `store`; it precedes all others, to keep the order.
    private var refused: SourceBatch?

    /// Takes the source's lock.
    ///
    /// - Parameter progress: called after each batch with the counts so far.
    /// - Throws: `IngestError` with code `invalidArgument` for the reserved source `logtool`; `EventLogError` with code
    ///   `locked` if the source already has a recorder.
    public init(store: EventStore, source: SourceName, progress: ((IngestSummary) -> Void)? = nil) throws {
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
        self.progress = progress
        lock = try store.acquireSourceLock(source)
        appender = store.isFast ? nil : Appender(store)
    }

    /// Records a source until it has caught up.
    ///
    /// Events appended before an error stay in the log. Another run continues behind them and duplicates nothing (I4).
    public static func record(
        _ source: some EventSource,
        into store: EventStore,
        progress: ((IngestSummary) -> Void)? = nil
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

    /// The error with what this run has left in the log. Call it once, after the last batch.
    func counting(_ error: any Error) -> any Error {
        summary.counting(error, store)
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

    /// Takes one piece; starts to append the batch if it is full.
    public func accept(_ item: SourceItem) throws {
        take(item)
        if isFull { try passFull() }
    }

    /// Appends everything taken so far; durable on return, except under `fast` durability.
    public func flush() throws {
        try pass()
        try settle { try appender?.finish() }
    }

    /// Appends everything taken so far, waits until it is durable, releases the source's lock and returns the counts.
    public func finish() throws -> IngestSummary {
        try flush()
        // Under `fast` durability nothing is counted before it is on the disk.
        summary.add(try store.flush())
        lock.release()
        return summary
    }
}

// MARK: - Batches

extension Recorder {
    /// Takes one piece without appending.
    private func take(_ item: SourceItem) {
        switch item {
        case .skipped(let issue): summary.skip(issue)
        case .draft: batch.append(item)
        }
    }

    /// True once the batch should be passed on.
    private var isFull: Bool {
        batch.drafts.count >= Self.batchEventsMax || batch.drafts.payloadByteCount >= Self.batchBytesMax
    }

    /// Begins to append the batch, and makes room for the next one, which will be about as large.
    private func passFull() throws {
        let full = batch
        try pass()
        batch = SourceBatch(roomOf: full)
    }

    /// Begins to append a batch as it is, without a copy. On return the batches of earlier calls are durable, except
    /// under `fast` durability.
    ///
    /// - Throws: as `EventStore.append`. The batch is kept; `flush` appends it.
    func append(_ pieces: SourceBatch) throws {
        for issue in pieces.skipped { summary.skip(issue) }
        batch = batch.isEmpty ? pieces : SourceBatch(joining: [batch, pieces])
        try pass()
    }

    /// Begins to append the batch. On return the batches of earlier calls are durable, except under `fast` durability.
    ///
    /// - Throws: as `EventStore.append`. The batch is kept, and the next call appends it.
    private func pass() throws {
        try appendRefused()
        // A batch may consist of a bookmark alone, or of skipped pieces.
        guard !batch.drafts.isEmpty || batch.bookmark != nil else {
            batch = SourceBatch()
            return try settle { try appender?.finish() }
        }
        if let appender {
            try settle { try appender.append(batch.drafts, bookmark: bookmark(batch)) }
            writing = batch
        } else {
            // Under `fast`, `append` returns before the disk has the batch, so an appender would gain nothing.
            assert(refused == nil, "a batch that waits is appended before another takes its place")
            refused = batch
        }
        batch = SourceBatch()
        try appendRefused()
    }

    /// Waits for the batch in `writing` by taking a step of the appender. If a key conflict refused that batch, appends
    /// it with separated keys and takes the step again.
    private func settle(_ step: () throws -> AppendResult?) throws {
        do {
            note(try step())
        } catch {
            // The step checks the limits of the next batch, so `invalidEnvelope` does not concern the one in `writing`.
            guard let error = error as? EventLogError, error.code != .invalidEnvelope else { throw error }
            assert(refused == nil, "a batch that waits is appended before another takes its place")
            (refused, writing) = (writing, nil)
            guard error.code == .keyConflict else { throw error }
            try appendRefused()
            note(try step())
        }
        writing = nil
    }

    /// Appends the batch in `refused`, if there is one. A key that is held with another payload gets a key of its own.
    /// After an error the batch stays in `refused`.
    private func appendRefused() throws {
        guard let batch = refused else { return }
        let result: AppendResult
        do {
            result = try store.append(batch.drafts, bookmark: bookmark(batch))
        } catch let error as EventLogError where error.code == .keyConflict {
            // Only now taken apart into single drafts: conflicts are rare, and the batch lies in one piece
            // (docs/decisions/0018-drafts-lie-in-one-piece.md).
            var drafts = batch.drafts.drafts
            Self.separateKeys(of: &drafts)
            try separateKeysOfLog(&drafts)
            result = try store.append(drafts, bookmark: bookmark(batch))
        }
        refused = nil
        note(result)
    }

    private func bookmark(_ batch: SourceBatch) -> Bookmark? {
        batch.bookmark.map { Bookmark(source: source, bytes: $0) }
    }

    /// Counts a result and reports the counts; does nothing for `nil`, which means that no batch was pending.
    private func note(_ result: AppendResult?) {
        guard let result else { return }
        summary.add(result)
        progress?(summary)
    }
}

// MARK: - Keys that are held with another payload

extension Recorder {
    /// Gives the later of two drafts with one key and different payloads a key of its own: the log would refuse the
    /// batch (I4), and evidence must not be lost.
    private static func separateKeys(of drafts: inout [DraftEvent]) {
        var holders: [EventKey: Int] = [:]
        for index in drafts.indices {
            guard let key = drafts[index].key else { continue }
            guard let holder = holders[key] else {
                holders[key] = index
                continue
            }
            if !drafts[index].repeats(kind: drafts[holder].kind, payload: drafts[holder].payload) {
                drafts[index].separateKey()
            }
        }
    }

    /// Gives each draft whose key the log holds with another payload a key of its own. An event that is dropped or
    /// redacted cannot be compared: its key decides alone (I4), so the draft counts as a repetition.
    private func separateKeysOfLog(_ drafts: inout [DraftEvent]) throws {
        let keyed = drafts.indices.filter { drafts[$0].key != nil }
        let keys = keyed.compactMap { drafts[$0].key }
        let holders = try store.read { try $0.sequences(of: keys, source: source) }
        assert(holders.count == keyed.count, "each key has one answer")
        for (index, sequence) in zip(keyed, holders) {
            guard let sequence, let holder = try store.read({ try $0.event(at: sequence) }),
                holder.envelope.holding == .whole,
                !drafts[index].repeats(kind: holder.envelope.kind, payload: holder.payload)
            else { continue }
            drafts[index].separateKey()
        }
    }
}

extension DraftEvent {
    /// True if the log takes the draft for the same event (I4).
    fileprivate func repeats(kind: EventKind, payload: [UInt8]) -> Bool {
        self.kind == kind && self.payload == payload
    }

    /// Replaces the key by `KEY~` and 16 hex digits of the payload's hash.
    fileprivate mutating func separateKey() {
        if let own = try? key?.separated(by: payload) { key = own }
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
