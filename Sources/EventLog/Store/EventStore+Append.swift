extension EventStore {
    /// Appends drafts in order: all of them or none, durable on return (I5).
    ///
    /// A draft whose source and key are held already with the same kind and payload appends nothing and gets the
    /// sequence of that event (I4). Concurrent appends share a commit.
    ///
    /// Under `fast` durability it returns once the batch is queued, without sequences; see `flush()`.
    ///
    /// - Parameter bookmark: stored in the same transaction, even if every draft is a duplicate.
    /// - Throws: `EventLogError` with code `keyConflict` (a key is held with another payload), `invalidEnvelope` (a
    ///   payload over 16 MiB, or the source `logtool`), `locked`, `io` or `damaged`. Nothing is appended then.
    public func append(_ drafts: [DraftEvent], bookmark: Bookmark? = nil) throws -> AppendResult {
        try append(DraftBatch(drafts), bookmark: bookmark)
    }

    /// The same for drafts that are already a `DraftBatch`.
    public func append(_ drafts: DraftBatch, bookmark: Bookmark? = nil) throws -> AppendResult {
        if drafts.isEmpty && bookmark == nil { return AppendResult(sequences: [], appended: 0, first: 0) }
        if let fast {
            try fast.add(drafts, bookmark: bookmark)
            try fast.wait(for: .room)
            return AppendResult(queued: drafts.count)
        }
        return try begin(writer.prepared(drafts), bookmark: bookmark).wait().get()
    }

    /// Appends as `append` does under `synced`, and returns at once: for a task, which must not block.
    ///
    /// - Parameter told: called once, on the thread that commits, with what `append` would return or throw. It must not
    ///   block.
    /// - Throws: `EventLogError` with code `invalidEnvelope`; then `told` is not called.
    public func append(
        _ drafts: DraftBatch,
        bookmark: Bookmark? = nil,
        told: @escaping @Sendable (Result<AppendResult, any Error>) -> Void
    ) throws {
        let batch = try writer.prepared(drafts)
        core.queue.add(QueuedBatch(batch, bookmark: bookmark, writer: writer, receiver: .caller(told)))
    }

    /// Queues a batch, for a thread that waits for the result.
    func begin(_ batch: PreparedBatch, bookmark: Bookmark?) -> Awaited<Result<AppendResult, any Error>> {
        let awaited = Awaited<Result<AppendResult, any Error>>()
        core.queue.add(QueuedBatch(batch, bookmark: bookmark, writer: writer, receiver: .caller { awaited.set($0) }))
        return awaited
    }

    /// Appends events of another copy of this log, in their places and with their salts: all of them or none, durable on return
    /// (I5). The caller has checked them against a root that covers this log's own events, too.
    ///
    /// - Parameters:
    ///   - events: whole events, whose sequences follow the head.
    ///   - bookmarks: stored in the same transaction.
    /// - Throws: `EventLogError` with code `invalidArgument` if the log goes on otherwise meanwhile, or an event is not whole;
    ///   `locked`, `io` or `damaged`.
    package func append(copies events: [RecordedEvent], bookmarks: [Bookmark] = []) throws {
        guard let first = events.first?.envelope.sequence.rawValue else { return }
        let places = events.indices.map { SequenceNumber(first + UInt64($0)) }
        guard first > 0, events.map(\.envelope.sequence) == places,
            let batch = PreparedBatch(copiesOf: events, lanes: core.interner)
        else {
            throw EventLogError(
                .invalidArgument,
                operation: "append to",
                object: path,
                reason: "the copies from sequence \(first) on are not whole, or do not follow one another"
            )
        }
        try writer.commit(copies: batch, behind: first - 1, bookmarks: bookmarks)
    }

    /// Waits until everything that was appended under `fast` durability is durable.
    ///
    /// - Returns: the counts of what was appended since the last flush, without sequences; zeros under `synced`.
    /// - Throws: as `append`. Batches that are not committed stay queued.
    @discardableResult
    public func flush() throws -> AppendResult {
        try fast?.flush() ?? AppendResult(sequences: [], appended: 0, first: 0)
    }

    /// The counts of what is durable of the appends since the last successful flush; zeros under `synced`.
    package func committedSinceFlush() -> AppendResult {
        fast?.done ?? AppendResult(sequences: [], appended: 0, first: 0)
    }

    /// Makes a stream of batches into this log, for a producer that goes on before they are durable.
    ///
    /// - Parameters:
    ///   - remedy: what becomes of batches that were not committed.
    ///   - stored: called on the commit thread after each commit, before those who wait are woken, with the counts of
    ///     the stream's batches in it, their pieces and the commit's duration.
    package func stream(
        _ gathering: AppendStream.Gathering,
        remedy: @escaping @Sendable (any Error) -> AppendStream.Remedy,
        stored: @escaping @Sendable (AppendResult, _ pieces: Int, Duration) -> Void
    ) -> AppendStream {
        AppendStream(writer, gathering: gathering, remedy: remedy, stored: stored)
    }

    /// Waits until the keys that this process appended are stored in the derived data.
    package func drainDerivedData() throws {
        let keys = try core.writer.locked(core.directory, wait: options.wait) { core.writer.state?.keys }
        keys?.drain()
    }
}

extension LogCore {
    /// The newest generation. Under the write lock, nothing can replace it.
    ///
    /// - Throws: `LMDBError` if it cannot be written.
    func newestForWriting() throws -> Generation {
        var generation = current
        while try generation.read({ try $0.successor() }) != nil {
            generation = try follow(from: generation)
        }
        guard generation.isWritable else { throw LMDBError(readOnlyErrno, "write") }
        return generation
    }
}

extension LogWriter {
    /// The state of a generation after the last commit, or else read from the log. The caller holds the write lock.
    func state(for generation: Generation, _ reader: LogReader, keysInMemory: Int) throws -> WriterState {
        if let state, state.generation === generation { return state }
        return try WriterState(reader, generation: generation, keysInMemory: keysInMemory)
    }
}
