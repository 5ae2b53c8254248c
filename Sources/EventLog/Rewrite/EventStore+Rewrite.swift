extension EventStore {
    /// Rewrites the log into a new generation and switches to it in one commit (I9).
    ///
    /// Appends continue while the log is copied; they wait only while the last events are copied. Open sessions keep
    /// reading the old generation. A crash at any point leaves the old log or the new one.
    ///
    /// - Parameter proof: receives a session on the new generation before the switch. The session lacks the act and may
    ///   lack the newest events (see its `head`). If `proof` throws, the log stays unchanged.
    /// - Throws: what `proof` throws; `EventLogError` with code `invalidArgument` if the plan does not fit the log or
    ///   the log is a part.
    public func rewrite(
        _ plan: RewritePlan,
        proof: (borrowing ReadSession) throws -> Void = { _ in }
    ) throws -> RewriteResult {
        try plan.check(path: path)
        if try core.current.read({ try $0.isPart() }) { throw EventLogError.isPart("rewrite", path) }
        if let scratch = plan.scratch { return try rehearse(plan, in: scratch, proof: proof) }
        return try rewriting { old, number in
            let target = try core.generation(number, creates: true)
            let copy = try decidedCopy(plan, from: old, to: target)
            try proof(try session(on: target))
            return try switchOver(plan, copy, from: old, to: target)
        }
    }

    /// Calls `body` with the newest generation and the number of the next one, under the lock that lets one rewrite run at a time.
    /// Removes the next generation if `body` throws before the switch.
    func rewriting<Result>(_ body: (_ old: Generation, _ number: UInt32) throws -> Result) throws -> Result {
        let lock = try FileLock(LogDirectory.rewriteLock, in: core.directory.folder)
        try lock.acquire(wait: options.wait, operation: "rewrite log at", object: path)
        defer { lock.release() }
        return try EventLogError.wrapping("rewrite log at", path) {
            let old = try certainNewest()
            try core.directory.removeLeftovers(except: old.number)
            let number = old.number + 1
            _ = try core.directory.folder.makeFolder(LogDirectory.generationName(number))
            do {
                return try body(old, number)
            } catch {
                // Nothing refers to the new generation yet. If it cannot be removed now, the next rewrite removes it.
                // After the switch the new generation is the current one and must stay.
                if core.current.number == old.number { try? core.directory.discard(number) }
                throw error
            }
        }
    }

    /// Runs a dry run into the folder `scratch`, without a lock and without a change to the log.
    ///
    /// Reads the newest generation that this process knows of. Its files stay in `scratch`, which the caller removes.
    private func rehearse(
        _ plan: RewritePlan,
        in scratch: String,
        proof: (borrowing ReadSession) throws -> Void
    ) throws -> RewriteResult {
        try EventLogError.wrapping("rewrite log at", path) {
            let old = core.current
            let directory = LogDirectory(try Folder(at: scratch))
            _ = try directory.folder.makeFolder(LogDirectory.generationName(old.number + 1))
            let target = try Generation(
                directory: directory,
                number: old.number + 1,
                access: .create,
                pages: .own,
                lanes: core.interner
            )
            let copy = try decidedCopy(plan, from: old, to: target)
            try proof(try session(on: target))
            return try old.read { reader in
                try copy.copyTail(reader)
                let act = try finish(plan, copy, reader, target)
                let bytes = (core.directory.dataBytes(old.number), directory.dataBytes(target.number))
                return try report(plan, act: act, reader, target, bytes: bytes)
            }
        }
    }

    /// Copies the log into the new generation, up to nearly its head.
    ///
    /// Carries out the plan up to the head of a first read session, then follows what was appended since.
    func decidedCopy(
        _ plan: RewritePlan,
        from old: Generation,
        to target: Generation,
        restoring restoration: Restoration? = nil
    ) throws -> GenerationCopy {
        let rewrites = try old.read { try $0.acts().count }
        let copy = GenerationCopy(
            plan: plan,
            target: target,
            rewrite: UInt32(rewrites) + 1,
            restoration: restoration,
            progress: StoreWork.Activity.copying.reporter(to: options.progress)
        )
        try old.read { reader in
            guard try reader.head() >= plan.decidedAt.rawValue else {
                throw EventLogError(
                    .invalidArgument,
                    operation: "rewrite log at",
                    object: path,
                    reason: "the decision at \(plan.decidedAt) lies behind the head"
                )
            }
            try copy.copyDecided(reader)
        }
        try catchUp(copy, old)
        return copy
    }

    /// The result of a rewrite. `heldAfter` leaves out the act, which the new generation already holds.
    private func report(
        _ plan: RewritePlan,
        act: UInt64,
        _ reader: LogReader,
        _ target: Generation,
        bytes: (before: UInt64, after: UInt64)
    ) throws -> RewriteResult {
        RewriteResult(
            act: SequenceNumber(act),
            generation: target.number,
            heldBefore: try reader.heldCount(),
            heldAfter: try target.read { try $0.heldCount() } - UInt64(plan.earlierActs.count) - 1,
            sealedAfter: try target.read { try $0.sealing()?.events ?? 0 },
            bytesBefore: bytes.before,
            bytesAfter: bytes.after,
            isRefused: plan.mustShrink && bytes.after > bytes.before
        )
    }

    /// Copies events that were appended meanwhile, until fewer than 1,000 are left, for which writers can wait, or for
    /// 20 rounds.
    private func catchUp(_ copy: GenerationCopy, _ old: Generation) throws {
        for _ in 0..<20 {
            let head = try old.read { reader in
                try copy.copyTail(reader)
                return try reader.head()
            }
            if try old.read({ try $0.head() }) - head < 1000 { return }
        }
    }

    /// Copies the last events, appends the act, checks every page and makes the new generation the log's. Writers wait
    /// from the write lock to the commit; the check takes 15 ms for 122 MB in memory.
    ///
    /// For a dry run, or if the result is refused, it does everything but the commit, and removes the new generation.
    func switchOver(
        _ plan: RewritePlan,
        _ copy: GenerationCopy,
        from old: Generation,
        to target: Generation
    ) throws -> RewriteResult {
        let result = try core.writer.locked(core.directory, wait: options.wait) {
            let transaction = try old.environment.beginWrite()
            let reader = LogReader(transaction.view, of: old)
            try copy.copyTail(reader)
            let act = try finish(plan, copy, reader, target)
            let bytes = (core.directory.dataBytes(old.number), core.directory.dataBytes(target.number))
            let result = try report(plan, act: act, reader, target, bytes: bytes)
            if plan.isDryRun || result.isRefused { return result }
            try core.switchOver(to: target, by: transaction, reader.tables, operation: "rewrite log at")
            return result
        }
        // Nothing refers to this generation any more. If it cannot be removed now, the next rewrite removes it.
        try? core.directory.discard(plan.isDryRun || result.isRefused ? target.number : old.number)
        return result
    }

    /// Checks that both generations have the same root, then appends the acts to the new one. Returns the sequence of the
    /// last one.
    private func finish(
        _ plan: RewritePlan,
        _ copy: GenerationCopy,
        _ reader: LogReader,
        _ target: Generation
    ) throws -> UInt64 {
        let head = try reader.head()
        try copy.write { transaction, _ in try copy.copyBookmarks(reader, transaction) }
        let roots = (
            try reader.root(over: 0..<head), try target.read { try $0.root(over: 0..<head) }
        )
        guard roots.0 == roots.1 else { throw reader.damaged("the copy has another root than the log") }
        for act in plan.earlierActs {
            _ = try place({ _ in act }, in: target)
        }
        let last = head + UInt64(plan.earlierActs.count) + 1
        let acts = try reader.acts() + Array(head + 1...last)
        let placed = try place(
            { plan.act(naming: try Remains($0, acts: acts, head: last - 1)) },
            acts: acts,
            in: target
        )
        guard placed == last else { throw reader.damaged("an act's key is held already") }
        return last
    }

    /// Appends an act to a generation that nothing refers to yet.
    ///
    /// - Parameters:
    ///   - act: Makes the act of what the generation holds.
    ///   - acts: The acts of all rewrites, if this one completes them.
    /// - Returns: Its sequence; `nil` if another event holds its key, so that nothing was appended.
    private func place(
        _ act: (LogReader) throws -> DraftEvent,
        acts: [UInt64]? = nil,
        in target: Generation
    ) throws -> UInt64? {
        let transaction = try target.environment.beginWrite()
        let reader = LogReader(transaction.view, of: target)
        // The switch may still fail, so no derived data is stored for the new generation.
        var state = try WriterState(reader, generation: target, keysInMemory: nil)
        try state.catchUp(reader)
        if let acts {
            try transaction.putMeta(
                acts.flatMap { withKey($0) { Array($0) } },
                named: MetaName.acts,
                in: target.tables.meta
            )
        }
        let draft = try act(reader)
        var append = try AppendTransaction(transaction, generation: target, state: state)
        let result = try append.place(writer.batch(of: DraftBatch([draft])))
        _ = try append.commit()
        return result.appended == 1 ? result.first?.rawValue : nil
    }

    /// Removes what interrupted rewrites left: a generation that was never switched to, and one that was left behind. The next
    /// rewrite does so as well; a text that must be gone cannot wait for it.
    ///
    /// - Throws: `EventLogError` with code `locked` while another rewrite runs.
    package func removeLeftovers() throws {
        let lock = try FileLock(LogDirectory.rewriteLock, in: core.directory.folder)
        try lock.acquire(wait: options.wait, operation: "clean log at", object: path)
        defer { lock.release() }
        try core.directory.removeLeftovers(except: try certainNewest().number)
    }

    /// Does so if there is anything to remove, for a command that finds nothing left to do: it may have been killed once it had taken
    /// effect. Leaves it to another rewrite that runs. O(names in the folder) where there is nothing.
    package func removeLeftoversIfAny() throws {
        guard try core.directory.hasLeftovers() else { return }
        do {
            try removeLeftovers()
        } catch let error as EventLogError where error.code == .locked {}
    }

    /// The newest generation, found in write transactions. A read transaction may miss the last commit of a process
    /// that was killed, and a generation that something refers to must not be removed as a leftover.
    func certainNewest() throws -> Generation {
        while true {
            let generation = try core.newestForWriting()
            let transaction = try generation.environment.beginWrite()
            if try LogReader(transaction.view, of: generation).successor() == nil { return generation }
            _ = try core.follow(from: generation)
        }
    }

    /// A session on a generation that nothing refers to yet, for the proof.
    private func session(on generation: Generation) throws -> ReadSession {
        let transaction = try generation.environment.beginRead()
        let reader = LogReader(transaction.view, of: generation)
        let head = try reader.head()
        let decidedAt = try reader.decidedAt()
        return ReadSession(
            transaction: transaction,
            generation: generation,
            head: head,
            decidedAt: decidedAt,
            hasAct: false,
            attachment: attachment
        )
    }
}

extension LogDirectory {
    /// Bytes that a generation's data file occupies on disk; 0 if it is missing.
    func dataBytes(_ number: UInt32) -> UInt64 {
        ((try? generation(number)) ?? nil)?.allocatedBytes(of: Folder.dataFileName) ?? 0
    }

    /// Removes a generation and its derived data. Renames it first, so that nothing opens half of it. Open sessions
    /// keep reading it.
    func discard(_ number: UInt32) throws {
        try removeCache(Self.cacheName(number))
        try generation(number)?.checkRemovable()
        try folder.move(Self.generationName(number), to: Self.discardedName(number))
        try folder.removeFolder(Self.discardedName(number))
        try folder.sync()
    }

    /// Whether there is more than one generation, or a half-made or discarded one.
    func hasLeftovers() throws -> Bool {
        let isOfCache = { (name: String) in name.hasPrefix("birth-cache-") || name.hasPrefix("gone-cache-") }
        return try generations().count > 1
            || folder.names().contains { ($0.hasPrefix("gone-") || $0.hasPrefix("birth-")) && !isOfCache($0) }
    }

    /// Removes leftovers of interrupted rewrites and births: every generation but `current`, derived data of others,
    /// and half-made folders. The caller holds the rewrite lock.
    func removeLeftovers(except current: UInt32) throws {
        for number in try generations() where number != current { try discard(number) }
        for name in try folder.names() where name.hasPrefix("cache-") && name != Self.cacheName(current) {
            try removeCache(name)
        }
        for name in try folder.names() where name.hasPrefix("gone-") || name.hasPrefix("birth-") {
            // Processes that only read make derived data without this lock, and may be doing so now.
            // `removeRemainsOfCaches` removes the remains of processes that have ended.
            if name.hasPrefix("birth-cache-") || name.hasPrefix("gone-cache-") { continue }
            try folder.removeFolder(name)
        }
        removeRemainsOfCaches()
    }
}
