/// Makes batches of drafts and commits them to one log, under the write lock. A value, so that each store has its own
/// options for the one log that they share.
struct LogCommit: Sendable {
    let core: LogCore
    let path: String
    /// How long a commit waits for another process that holds the write lock.
    let wait: Duration
    /// How many keys are kept in memory before they are written as a run.
    let keysInMemory: Int
    /// Where salts come from.
    let salt: SaltSource

    /// Commits a group of batches; returns one result for each, in their order.
    ///
    /// A key conflict refuses one batch. Any other error ends the transaction, and is the result of every batch of the
    /// group.
    ///
    func commit(_ batches: [QueuedBatch]) -> [Result<AppendResult, any Error>] {
        do {
            return try EventLogError.wrapping("append to", path) {
                try core.writer.locked(core.directory, wait: wait) {
                    try commitLocked { try attemptCommit(batches, $0) }
                }
            }
        } catch {
            return batches.map { _ in .failure(error) }
        }
    }

    /// Commits events of another copy of this log, in their places, with the salts that they have there.
    ///
    /// - Throws: `EventLogError` with code `invalidArgument` if the log does not end with `head`, or has the key of one of them.
    func commit(copies batch: PreparedBatch, behind head: UInt64, bookmarks: [Bookmark]) throws {
        try EventLogError.wrapping("append to", path) {
            try core.writer.locked(core.directory, wait: wait) {
                try commitLocked { try attemptCommit(copies: batch, behind: head, bookmarks, $0) }
            }
        }
    }

    /// Tries again in a generation that has replaced this one, and with a larger map. The caller holds the write lock.
    ///
    /// - Parameter attempt: returns `nil` if another generation has replaced the one that it got.
    private func commitLocked<Outcome>(_ attemptCommit: (Generation) throws -> Outcome?) throws -> Outcome {
        for attempt in 0..<8 {
            let generation = try core.newestForWriting()
            do {
                if let outcome = try attemptCommit(generation) { return outcome }
                _ = try core.follow(from: generation)
            } catch let error as LMDBError {
                core.writer.state = nil
                guard error.isMapFull, attempt < 7 else {
                    // After a failed commit or sync nothing in the open environment is trusted (I5).
                    generation.environment.distrust()
                    throw error
                }
                try generation.environment.growMap()
            }
        }
        throw LMDBError(LMDBError.gaveUp, "follow the log's generations, which are replaced too fast")
    }

    /// Returns `nil` if another generation has replaced this one (I9).
    private func attemptCommit(
        _ batches: [QueuedBatch],
        _ generation: Generation
    ) throws -> [Result<AppendResult, any Error>]? {
        guard var append = try beginAppend(generation) else { return nil }
        var results: [Result<AppendResult, any Error>] = []
        for batch in batches {
            do {
                let separatesKeys = batch.stream != nil
                let result = try append.place(batch.batch, bookmark: batch.bookmark, separatesKeys: separatesKeys)
                results.append(.success(result))
            } catch let error as EventLogError where error.code == .keyConflict {
                results.append(.failure(error))
            }
        }
        assert(results.count == batches.count, "each batch is placed or refused")
        try finish(append, generation)
        return results
    }

    /// Returns `nil` if another generation has replaced this one (I9).
    private func attemptCommit(
        copies batch: PreparedBatch,
        behind head: UInt64,
        _ bookmarks: [Bookmark],
        _ generation: Generation
    ) throws -> Void? {
        guard var append = try beginAppend(generation) else { return nil }
        let reason: String
        if append.base != head {
            reason = "the log has \(append.base) events, and the copies begin behind \(head)"
        } else if try append.place(batch).appended != batch.events.count {
            reason = "the log has the key of a copied event already"
        } else {
            for bookmark in bookmarks { append.keep(bookmark) }
            return try finish(append, generation)
        }
        throw EventLogError(.invalidArgument, operation: "append to", object: path, reason: reason)
    }

    /// Begins a transaction behind the newest commit; `nil` if another generation has replaced this one (I9).
    private func beginAppend(_ generation: Generation) throws -> AppendTransaction? {
        let transaction = try generation.environment.beginWrite()
        let reader = LogReader(transaction.view, of: generation)
        // Only a write transaction is sure to see the newest commit: a read transaction may miss that of a process that
        // was killed just after it.
        if try reader.successor() != nil { return nil }
        var state = try core.writer.state(for: generation, reader, keysInMemory: keysInMemory)
        // The state is in motion from here on. If anything fails below, the next commit reads it from the log.
        core.writer.state = nil
        try state.catchUp(reader)
        return try AppendTransaction(transaction, generation: generation, state: state)
    }

    private func finish(_ append: consuming AppendTransaction, _ generation: Generation) throws {
        var state = try append.commit()
        state.reserve.committed(generation.environment)
        core.writer.state = state
    }
}

// MARK: - Batches

extension LogCommit {
    /// Computes everything of a batch that needs no lock: lanes, salts and leaf hashes.
    ///
    /// - Throws: `EventLogError` with code `invalidEnvelope` for a payload over the limit (I3) and for the source of acts
    ///   (I1).
    func prepared(_ drafts: DraftBatch) throws -> PreparedBatch {
        let reason: String
        if drafts.runs.contains(where: { $0.source == .logtool }) {
            reason = "the source \"logtool\" is reserved for what is done to the log itself"
        } else if drafts.longestPayload > EnvelopeLimits.payloadBytesMax {
            let most = EnvelopeLimits.payloadBytesMax
            reason = "a payload has \(drafts.longestPayload) bytes, at most \(most) are allowed"
        } else {
            return batch(of: drafts)
        }
        throw EventLogError(.invalidEnvelope, operation: "append to", object: path, reason: reason)
    }

    /// The same for drafts that need no check.
    func batch(of drafts: DraftBatch) -> PreparedBatch { PreparedBatch(drafts, lanes: core.interner, salts: salt) }
}
