import Synchronization

extension Generation {
    /// What was derived from this generation, where it is there and fits; `nil` else.
    func existingDerivedStore() throws -> DerivedStore? {
        guard isWritable else { return nil }
        let owner = try derivedOwner()
        return derived.withLock { derived in
            if let derived { return derived.isDiscarded ? nil : derived }
            derived = DerivedStore.open(directory, owner)
            return derived
        }
    }

    /// What was derived from this generation, made where it is missing.
    func derivedStore() throws -> DerivedStore {
        if let existing = try existingDerivedStore() { return existing }
        let owner = try derivedOwner()
        return try derived.withLock { derived in
            if let derived {
                guard derived.isDiscarded else { return derived }
                throw LMDBError(readOnlyErrno, "use derived data that this process has discarded")
            }
            guard isWritable else { throw LMDBError(readOnlyErrno, "write derived data") }
            let made = try DerivedStore.make(directory, owner)
            derived = made
            return made
        }
    }

    private func derivedOwner() throws -> DerivedStore.Owner {
        DerivedStore.Owner(identity: try read { try $0.meta(MetaName.identity) } ?? [], generation: number)
    }
}

extension ReadSession {
    /// What is derived from the generation that is read; `nil` where nothing is.
    ///
    /// - Throws: `EventLogError` where the log cannot be read; the caller then does without.
    public func existingDerivedStore() throws -> DerivedStore? { try generation.existingDerivedStore() }

    /// What is derived from the generation that is read, made where it is missing.
    ///
    /// - Throws: `EventLogError` with code `io` where the log may not be written; the caller then does without.
    public func derivedStore() throws -> DerivedStore {
        try EventLogError.wrapping("open derived data of", generation.logPath) { try generation.derivedStore() }
    }
}

extension EventStore {
    /// What is derived from the newest generation, made where it is missing.
    ///
    /// - Throws: `EventLogError` with code `io` where the log may not be written; the caller then does without.
    public func derivedStore() throws -> DerivedStore {
        try EventLogError.wrapping("open derived data of", path) { try newestGeneration().derivedStore() }
    }
}
