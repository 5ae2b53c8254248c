/// Commits batches to one log, under the write lock. A value, so that each store has its own waiting time for the one
/// log that they share.
struct LogCommit: Sendable {
    let core: LogCore
    let path: String
    /// How long a commit waits for another process that holds the write lock.
    let wait: Duration
    /// How many keys are kept in memory before they are written as a run.
    let keysInMemory: Int

    /// Commits a group of batches; returns one result for each, in their order.
    ///
    /// A key conflict refuses one batch. Any other error ends the transaction, and is the result of every batch of the
    /// group.
    ///
    /// - Parameter separatesKeys: whether a draft whose key is held with another payload gets a key of its own; else
    ///   its batch is refused.
    func commit(_ tickets: [AppendTicket], separatesKeys: Bool = false) -> [Result<AppendResult, any Error>] {
        do {
            return try EventLogError.wrapping("append to", path) {
                try core.writer.locked(core.directory, wait: wait) { try commitLocked(tickets, separatesKeys) }
            }
        } catch {
            return tickets.map { _ in .failure(error) }
        }
    }

    /// Tries again in a generation that has replaced this one, and with a larger map. The caller holds the write lock.
    private func commitLocked(
        _ tickets: [AppendTicket],
        _ separatesKeys: Bool
    ) throws -> [Result<AppendResult, any Error>] {
        for attempt in 0..<8 {
            let generation = try core.newestForWriting()
            do {
                if let results = try attemptCommit(tickets, generation, separatesKeys) { return results }
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
        _ tickets: [AppendTicket],
        _ generation: Generation,
        _ separatesKeys: Bool
    ) throws -> [Result<AppendResult, any Error>]? {
        let transaction = try generation.environment.beginWrite()
        let reader = LogReader(transaction.view, of: generation)
        // Only a write transaction is sure to see the newest commit: a read transaction may miss that of a process that
        // was killed just after it.
        if try reader.successor() != nil { return nil }
        var state = try core.writer.state(for: generation, reader, keysInMemory: keysInMemory)
        // The state is in motion from here on. If anything fails below, the next commit reads it from the log.
        core.writer.state = nil
        try state.catchUp(reader)
        var append = try AppendTransaction(
            transaction,
            generation: generation,
            state: state,
            separatesKeys: separatesKeys
        )
        var results: [Result<AppendResult, any Error>] = []
        for ticket in tickets {
            do {
                results.append(.success(try append.place(ticket)))
            } catch let error as EventLogError where error.code == .keyConflict {
                results.append(.failure(error))
            }
        }
        assert(results.count == tickets.count, "each batch is placed or refused")
        state = try append.commit()
        state.reserve.committed(generation.environment)
        core.writer.state = state
        return results
    }
}
