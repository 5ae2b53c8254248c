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
        try check(drafts)
        if drafts.isEmpty && bookmark == nil { return AppendResult(sequences: [], appended: 0, first: 0) }
        if let fast {
            try fast.add(prepare(drafts), bookmark: bookmark)
            return AppendResult(queued: drafts.count)
        }
        return try core.queue.submit(AppendTicket(prepare(drafts), bookmark: bookmark), commit: commit)
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
        fast?.committed() ?? AppendResult(sequences: [], appended: 0, first: 0)
    }

    /// Appends as `append` does under `synced`, but suspends the task instead of blocking a thread. Concurrent appends
    /// share a commit.
    public func enqueue(_ drafts: [DraftEvent], bookmark: Bookmark? = nil) async throws -> AppendResult {
        try await enqueue(DraftBatch(drafts), bookmark: bookmark)
    }

    /// The same for drafts that are already a `DraftBatch`.
    public func enqueue(_ drafts: DraftBatch, bookmark: Bookmark? = nil) async throws -> AppendResult {
        try check(drafts)
        if drafts.isEmpty && bookmark == nil { return AppendResult(sequences: [], appended: 0, first: 0) }
        let batch = prepare(drafts)
        return try await withCheckedThrowingContinuation { continuation in
            core.queue.start(batch, bookmark: bookmark, commit: commit) { continuation.resume(with: $0) }
        }
    }

    /// Commits batches with the options of this store.
    var commit: GroupCommitQueue.Commit { { [writer] in writer.commit($0) } }

    /// Computes everything that needs no lock: lanes, salts and leaf hashes.
    func prepare(_ drafts: DraftBatch) -> PreparedBatch {
        PreparedBatch(drafts, lanes: core.interner, salts: options.salt)
    }

    /// Refuses a payload over the limit (I3) and the source of acts (I1).
    func check(_ drafts: DraftBatch) throws {
        let reason: String
        if drafts.runs.contains(where: { $0.source == .logtool }) {
            reason = "the source \"logtool\" is reserved for what is done to the log itself"
        } else if drafts.longestPayload > EnvelopeLimits.payloadBytesMax {
            let most = EnvelopeLimits.payloadBytesMax
            reason = "a payload has \(drafts.longestPayload) bytes, at most \(most) are allowed"
        } else {
            return
        }
        throw EventLogError(.invalidEnvelope, operation: "append to", object: path, reason: reason)
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
