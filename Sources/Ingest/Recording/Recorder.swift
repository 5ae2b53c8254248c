public import EventLog

/// Appends what a source hands out to a log, in batches, and counts.
///
/// The only recorder of its source while it lives (it holds the source's lock). Sources that are pulled hand over
/// everything by `record`; sources that are live push with `accept` and end with `finish`. Used by one task at a time.
public final class Recorder {
    /// The most events of one batch; more would only make each append slower to acknowledge.
    public static let batchEventsMax = 4_000
    /// The payload bytes after which a batch is appended.
    public static let batchBytesMax = 8 << 20

    private let store: EventStore
    private let source: SourceName
    private let lock: SourceLock
    private let progress: ((IngestSummary) -> Void)?
    private var summary = IngestSummary()
    /// What was taken and not passed on yet.
    private var batch = SourceBatch()
    /// Writes one batch while the next is made. `nil` under `fast` durability, which waits for no batch.
    private let appender: Appender?
    /// What the appender writes; kept, since it may have to be appended in another way.
    private var writing: SourceBatch?
    /// What could not be written as it is, and comes before everything else.
    private var refused: SourceBatch?

    /// Takes the source's lock.
    ///
    /// - Parameter progress: called after each batch with the counts so far.
    /// - Throws: `IngestError` with code `invalidArgument` for the reserved source `logtool`; `EventLogError` with code
    ///   `locked` where the source has its recorder already.
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
    /// What was appended before an error stays; the same run again goes on from there and doubles nothing (I4).
    public static func record(
        _ source: some EventSource,
        into store: EventStore,
        progress: ((IngestSummary) -> Void)? = nil
    ) throws -> IngestSummary {
        let recorder = try Recorder(store: store, source: source.name, progress: progress)
        var drafts = try source.drafts(after: try recorder.history())
        while let item = try drafts.next() { try recorder.accept(item) }
        return try recorder.finish()
    }

    /// What the log holds of the source.
    public func history() throws -> RecordedHistory {
        let log = RecordedLog(store: store, source: source)
        return RecordedHistory(
            bookmark: try store.read { try $0.bookmark(of: source) },
            holdsKey: { try log.holds($0) },
            latestKey: { try log.latestKey() },
            events: { try log.forEachEvent($0) }
        )
    }

    /// Takes one piece; passes the batch on if it is full.
    public func accept(_ item: SourceItem) throws {
        take(item)
        if isFull { try pass() }
    }

    /// Appends what waits; durable on return.
    public func flush() throws {
        try pass()
        try settle { try appender?.finish() }
    }

    /// Appends what waits, gives the source's lock back and says what was done.
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
    /// Takes pieces; whoever does so passes them on when the batch is full.
    func take(_ pieces: SourceBatch) {
        for issue in pieces.skipped { summary.skip(issue) }
        batch.append(draftsOf: pieces)
    }

    private func take(_ item: SourceItem) {
        switch item {
        case .skipped(let issue): summary.skip(issue)
        case .draft: batch.append(item)
        }
    }

    /// Whether the batch should be passed on.
    var isFull: Bool {
        batch.drafts.count >= Self.batchEventsMax || batch.drafts.payloadByteCount >= Self.batchBytesMax
    }

    /// Begins to append what waits; on return all that was passed on before is durable.
    ///
    /// - Throws: as `EventStore.append`. What waits is kept, and appended by the next call.
    func pass() throws {
        try appendRefused()
        // A bookmark may come alone.
        guard !batch.drafts.isEmpty || batch.bookmark != nil else { return }
        if let appender {
            try settle { try appender.append(batch.drafts, bookmark: bookmark(batch)) }
            writing = batch
        } else {
            refused = batch
        }
        batch = SourceBatch(roomOf: batch)
        try appendRefused()
    }

    /// Waits for the batch that is written, by a step of the appender; where it could not be written as it is, appends it
    /// in another way and makes the step again.
    private func settle(_ step: () throws -> AppendResult?) throws {
        do {
            note(try step())
        } catch {
            // What breaks a limit is the batch to come.
            guard let error = error as? EventLogError, error.code != .invalidEnvelope else { throw error }
            (refused, writing) = (writing, nil)
            guard error.code == .keyConflict else { throw error }
            try appendRefused()
            note(try step())
        }
        writing = nil
    }

    private func appendRefused() throws {
        guard let batch = refused else { return }
        let result: AppendResult
        do {
            result = try store.append(batch.drafts, bookmark: bookmark(batch))
        } catch let error as EventLogError where error.code == .keyConflict {
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

    private func note(_ result: AppendResult?) {
        guard let result else { return }
        summary.add(result)
        progress?(summary)
    }
}

// MARK: - Keys that are held with another payload

extension Recorder {
    /// Evidence is never refused (I4): of two drafts with one key and different payloads, the later gets a key of its
    /// own.
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

    private func separateKeysOfLog(_ drafts: inout [DraftEvent]) throws {
        let keyed = drafts.indices.filter { drafts[$0].key != nil }
        let keys = keyed.compactMap { drafts[$0].key }
        let holders = try store.read { try $0.sequences(of: keys, source: source) }
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
    fileprivate func repeats(kind: EventKind, payload: [UInt8]) -> Bool {
        self.kind == kind && self.payload == payload
    }

    /// Replaces the key by `KEY~` and 16 hex digits of the payload's hash.
    fileprivate mutating func separateKey() {
        if let own = try? key?.separated(by: payload) { key = own }
    }
}

/// Looks for a source's events in a log.
private struct RecordedLog {
    let store: EventStore
    let source: SourceName

    /// Whether an event has the key, held or dropped.
    func holds(_ key: EventKey) throws -> Bool {
        try store.read { try $0.sequence(of: key, source: source) != nil }
    }

    /// Visits every event of the source that is held. Cost: reads the whole log.
    func forEachEvent(_ body: (RecordedEvent) throws -> Void) throws {
        try store.read { session in
            guard session.head > .zero else { return }
            try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                if event.source == source { try body(event.copied()) }
                return true
            }
        }
    }

    /// The key of the source's last event. Cost: reads the log from its end up to that event.
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
