extension EventStore {
    /// Appends drafts in order: all of them or none, durable on return (I5).
    ///
    /// A draft whose source and key are held already with the same kind and payload appends nothing and gets the
    /// sequence of that event (I4). Appends of several threads share a commit.
    ///
    /// - Parameter bookmark: stored in the same transaction, also where every draft is a duplicate.
    /// - Throws: `EventLogError` with code `keyConflict` (a key is held with another payload), `invalidEnvelope` (a
    ///   payload over 16 MiB, or the source `logtool`), `locked`, `io` or `damaged`. Nothing is appended then.
    public func append(_ drafts: [DraftEvent], bookmark: Bookmark? = nil) throws -> AppendResult {
        for draft in drafts { try check(draft) }
        let ticket = AppendTicket(prepare(drafts), bookmark: bookmark)
        if drafts.isEmpty && bookmark == nil { return AppendResult(sequences: [], appended: 0, first: 0) }
        return try core.queue.submit(ticket) { commit($0) }
    }

    /// Appends as `append` does, without blocking a thread: the task goes on when the events are durable. For tasks that
    /// append at once; they share commits.
    public func enqueue(_ drafts: [DraftEvent], bookmark: Bookmark? = nil) async throws -> AppendResult {
        for draft in drafts { try check(draft) }
        if drafts.isEmpty && bookmark == nil { return AppendResult(sequences: [], appended: 0, first: 0) }
        let batch = prepare(drafts)
        return try await withCheckedThrowingContinuation { continuation in
            start(batch, bookmark: bookmark) { continuation.resume(with: $0) }
        }
    }

    /// Hands a batch to the queue's thread.
    func start(
        _ batch: PreparedBatch,
        bookmark: Bookmark?,
        settled: @escaping @Sendable (Result<AppendResult, any Error>) -> Void
    ) {
        core.queue.start(batch, bookmark: bookmark, commit: { self.commit($0) }, settled: settled)
    }

    /// Computes everything that needs no lock.
    func prepare(_ drafts: [DraftEvent]) -> PreparedBatch {
        PreparedBatch(drafts, lanes: core.interner, salts: options.salt)
    }

    func check(_ draft: DraftEvent) throws {
        let reason: String
        if draft.source == .logtool {
            reason = "the source \"logtool\" is reserved for what is done to the log itself"
        } else if draft.payload.count > EnvelopeLimits.payloadBytesMax {
            reason = "a payload has \(draft.payload.count) bytes, at most \(EnvelopeLimits.payloadBytesMax) are allowed"
        } else {
            return
        }
        throw EventLogError(.invalidEnvelope, operation: "append to", object: path, reason: reason)
    }

    /// Commits a group of batches; answers with what became of each.
    private func commit(_ tickets: [AppendTicket]) -> [Result<AppendResult, any Error>] {
        do {
            return try EventLogError.wrapping("append to", path) {
                try core.writer.locked(core.directory, wait: options.wait) { try commitLocked(tickets) }
            }
        } catch {
            return tickets.map { _ in .failure(error) }
        }
    }

    private func commitLocked(_ tickets: [AppendTicket]) throws -> [Result<AppendResult, any Error>] {
        for attempt in 0..<8 {
            let generation = try newestForWriting()
            do {
                if let results = try attemptCommit(tickets, generation) { return results }
                _ = try core.follow(from: generation)
            } catch let error as LMDBError {
                core.writer.state = nil
                guard error.isMapFull, attempt < 7 else {
                    // After a failed commit or sync nothing of the old environment is believed.
                    try? generation.environment.reopen()
                    throw error
                }
                try generation.environment.growMap()
            }
        }
        throw LMDBError(0, "grow the map")
    }

    /// Answers with `nil` where another generation has taken this one's place.
    private func attemptCommit(
        _ tickets: [AppendTicket],
        _ generation: Generation
    ) throws -> [Result<AppendResult, any Error>]? {
        let transaction = try generation.environment.beginWrite()
        let reader = LogReader(transaction.view, of: generation)
        // A read transaction may be behind what a process committed that was killed then: only here is it certain.
        if try reader.successor() != nil { return nil }
        var state = try core.writer.state(for: generation, reader, keysInMemory: options.keysInMemory)
        core.writer.state = nil
        try state.catchUp(reader)
        var append = try AppendTransaction(transaction, generation: generation, state: state)
        var results: [Result<AppendResult, any Error>] = []
        for ticket in tickets {
            do {
                results.append(.success(try append.place(ticket)))
            } catch let error as EventLogError where error.code == .keyConflict {
                results.append(.failure(error))
            }
        }
        core.writer.state = try append.commit()
        return results
    }

    /// Waits until what is derived from the appends of this process is stored.
    package func drainDerivedData() throws {
        let keys = try core.writer.locked(core.directory, wait: options.wait) { core.writer.state?.keys }
        keys?.drain()
    }

    /// The generation that nothing has replaced. Under the write lock no other can take its place.
    func newestForWriting() throws -> Generation {
        var generation = core.current
        while try generation.read({ try $0.successor() }) != nil {
            generation = try core.follow(from: generation)
        }
        guard generation.isWritable else { throw LMDBError(readOnlyErrno, "write") }
        return generation
    }
}

extension LogWriter {
    /// What is known of a generation: from the last commit, or read from the log.
    func state(for generation: Generation, _ reader: LogReader, keysInMemory: Int) throws -> WriterState {
        if let state, state.generation === generation { return state }
        return try WriterState(reader, generation: generation, keysInMemory: keysInMemory)
    }
}
