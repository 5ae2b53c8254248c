import Synchronization

extension Generation {
    /// The derived data of this generation; `nil` if none exists that belongs to it (I17), if this process has
    /// discarded it, or if the log cannot be written.
    func existingDerivedStore() throws -> DerivedStore? {
        guard isWritable else { return nil }
        let owner = try derivedOwner()
        return derived.withLock { derived in
            if let derived { return derived.isDiscarded ? nil : derived }
            derived = DerivedStore.open(directory, owner)
            return derived
        }
    }

    /// The derived data of this generation, made if missing.
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
    /// The derived data of the generation that is read; `nil` if none exists.
    ///
    /// - Throws: `EventLogError` if the log cannot be read; the caller can do without (I17).
    public func existingDerivedStore() throws -> DerivedStore? { try generation.existingDerivedStore() }

    /// The derived data of the generation that is read, made if missing.
    ///
    /// - Throws: `EventLogError` with code `io` if the log cannot be written; the caller can do without (I17).
    public func derivedStore() throws -> DerivedStore {
        try EventLogError.wrapping("open derived data of", generation.logPath) { try generation.derivedStore() }
    }
}

extension EventStore {
    /// The derived data of the newest generation, made if missing.
    ///
    /// - Throws: `EventLogError` with code `io` if the log cannot be written; the caller can do without (I17).
    public func derivedStore() throws -> DerivedStore {
        try EventLogError.wrapping("open derived data of", path) { try newestGeneration().derivedStore() }
    }
}
