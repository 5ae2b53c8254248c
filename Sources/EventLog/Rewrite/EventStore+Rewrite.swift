extension EventStore {
    /// Rewrites the log into a new generation, and switches to it in one commit (I9).
    ///
    /// Appends go on while the log is copied; they wait only for the last of it. Readers go on in what they read. A
    /// crash at any point leaves the old log or the new one.
    ///
    /// - Parameter proof: gets a session on the new generation before the switch, without the act and perhaps without
    ///   the newest events (`head` says where it ends). If it throws, the log stays as it is.
    /// - Throws: what `proof` throws; `EventLogError` with code `invalidArgument` where the plan does not fit the log.
    public func rewrite(
        _ plan: RewritePlan,
        proof: (borrowing ReadSession) throws -> Void = { _ in }
    ) throws -> RewriteResult {
        try plan.check(path: path)
        if try core.current.read({ try $0.isPart() }) { throw EventLogError.isPart("rewrite", path) }
        if let scratch = plan.scratch { return try rehearse(plan, in: scratch, proof: proof) }
        let lock = try FileLock(LogDirectory.rewriteLock, in: core.directory.folder)
        try lock.acquire(wait: options.wait, operation: "rewrite log at", object: path)
        defer { lock.release() }
        return try EventLogError.wrapping("rewrite log at", path) {
            let old = try certainNewest()
            try core.directory.removeLeftovers(except: old.number)
            let number = old.number + 1
            _ = try core.directory.folder.makeFolder(LogDirectory.generationName(number))
            do {
                return try rewrite(plan, from: old, to: number, proof: proof)
            } catch {
                // Nothing refers to the new generation yet; what cannot be removed now goes with the next rewrite.
                if core.current.number == old.number { try? core.directory.discard(number) }
                throw error
            }
        }
    }

    private func rewrite(
        _ plan: RewritePlan,
        from old: Generation,
        to number: UInt32,
        proof: (borrowing ReadSession) throws -> Void
    ) throws -> RewriteResult {
        let target = try core.generation(number, creates: true)
        let copy = try decidedCopy(plan, from: old, to: target)
        try proof(try session(on: target))
        return try switchOver(plan, copy, from: old, to: target)
    }

    /// A rewrite into another folder, without a lock and without a change to the log.
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

    /// A copy of the log in a new generation up to nearly its head.
    private func decidedCopy(
        _ plan: RewritePlan,
        from old: Generation,
        to target: Generation
    ) throws -> GenerationCopy {
        let rewrites = try old.read { try $0.acts().count }
        let copy = GenerationCopy(
            plan: plan,
            target: target,
            rewrite: UInt32(rewrites) + 1,
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
            heldBefore: try reader.view.count(of: reader.tables.events),
            heldAfter: try target.read { try $0.view.count(of: $0.tables.events) } - 1,
            bytesBefore: bytes.before,
            bytesAfter: bytes.after,
            isRefused: plan.mustShrink && bytes.after > bytes.before
        )
    }

    /// Copies what has been appended meanwhile, until the rest is short enough to let writers wait for it.
    private func catchUp(_ copy: GenerationCopy, _ old: Generation) throws {
        for _ in 0..<20 {
            let head = try old.read { reader in
                try copy.copyTail(reader)
                return try reader.head()
            }
            if try old.read({ try $0.head() }) - head < 1000 { return }
        }
    }

    private func switchOver(
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
            try target.folder.sync()
            try core.directory.folder.sync()
            let successor = withKey(target.number) { Array($0) }
            try transaction.putMeta(successor, named: MetaName.successor, in: reader.tables.meta)
            try transaction.commit()
            core.writer.state = nil
            core.adopt(target)
            return result
        }
        // What nothing refers to any more is removed now or by the next rewrite.
        try? core.directory.discard(plan.isDryRun || result.isRefused ? target.number : old.number)
        return result
    }

    /// Appends the act to the new generation and checks that the two have the same tree; answers with its sequence.
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
        let transaction = try target.environment.beginWrite()
        let targetReader = LogReader(transaction.view, of: target)
        // The generation may never come to be: nothing is stored beside it yet.
        var state = try WriterState(targetReader, generation: target, keysInMemory: nil)
        try state.catchUp(targetReader)
        let acts = try reader.acts() + [head + 1]
        try transaction.putMeta(
            acts.flatMap { withKey($0) { Array($0) } },
            named: MetaName.acts,
            in: target.tables.meta
        )
        var append = try AppendTransaction(transaction, generation: target, state: state)
        let act = plan.act(naming: try Remains(targetReader, acts: acts, head: head))
        let result = try append.place(AppendTicket(prepare(DraftBatch([act])), bookmark: nil))
        _ = try append.commit()
        guard result.appended == 1, result.first?.rawValue == head + 1 else {
            throw reader.damaged("the act's key is held already")
        }
        return head + 1
    }

    /// The newest generation, looked up in write transactions: a reader may be behind what a process committed that was
    /// killed then, and a generation that something refers to must not be taken for a leftover.
    func certainNewest() throws -> Generation {
        while true {
            let generation = try core.newestForWriting()
            let transaction = try generation.environment.beginWrite()
            if try LogReader(transaction.view, of: generation).successor() == nil { return generation }
            _ = try core.follow(from: generation)
        }
    }

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
            hasAct: false
        )
    }
}

extension LogDirectory {
    /// Bytes that a generation's data file occupies.
    func dataBytes(_ number: UInt32) -> UInt64 {
        ((try? generation(number)) ?? nil)?.allocatedBytes(of: Folder.dataFileName) ?? 0
    }

    /// Removes a generation that nobody may open any more. Whoever reads it goes on.
    func discard(_ number: UInt32) throws {
        try removeCache(Self.cacheName(number))
        try generation(number)?.checkRemovable()
        try folder.move(Self.generationName(number), to: Self.discardedName(number))
        try folder.removeFolder(Self.discardedName(number))
        try folder.sync()
    }

    /// Removes what rewrites left that were cut short: a generation that nothing refers to, or one that was replaced.
    func removeLeftovers(except current: UInt32) throws {
        for number in try generations() where number != current { try discard(number) }
        for name in try folder.names() where name.hasPrefix("cache-") && name != Self.cacheName(current) {
            try removeCache(name)
        }
        for name in try folder.names() where name.hasPrefix("gone-") || name.hasPrefix("birth-") {
            try folder.removeFolder(name)
        }
    }
}
