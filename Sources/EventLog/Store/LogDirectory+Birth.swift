extension LogDirectory {
    /// Gives birth to a log, or ends a birth that a crash cut short; where there is a log already, does nothing.
    ///
    /// FORMAT is made last: until then there is no log (I8). The environment is made under another name and renamed
    /// when it is complete, so that a generation without FORMAT is whole and only lacks that file.
    func giveBirth(wait: Duration) throws {
        try Directory.makeWithParents(path)
        guard try isEmptyOrLog() else { throw foreign() }
        let lock = try FileLock.open(writeLock)
        try lock.acquire(wait: wait, operation: "make log at", object: path)
        defer { lock.release() }
        guard Directory.kind(of: formatFile) == .nothing else { return }
        let identity = try finishedGenerationIdentity() ?? makeFirstGeneration()
        if Directory.kind(of: sources) == .nothing { try Directory.make(sources) }
        try Directory.sync(path)
        try SmallFile.replace(formatFile, with: LogFormat(identity: identity).bytes)
    }

    /// The log's FORMAT, or `nil` where there is no log.
    func format() throws -> LogFormat? {
        guard Directory.kind(of: path) == .directory, let bytes = try SmallFile.read(formatFile) else { return nil }
        return try LogFormat(bytes, path: path)
    }

    private func finishedGenerationIdentity() throws -> [UInt8]? {
        guard let number = try generations().first else { return nil }
        let generation = try Generation(directory: self, number: number, access: .readWrite, lanes: LaneInterner())
        return try generation.read { try $0.meta(MetaName.identity) }
    }

    private func makeFirstGeneration() throws -> [UInt8] {
        let identity = systemRandomBytes(16)
        try makeGeneration(1) { transaction, tables in
            try transaction.putMeta(identity, named: MetaName.identity, in: tables.meta)
        }
        return identity
    }

    /// Makes a generation that holds what the closure writes; it appears under its name as a whole, and synced.
    func makeGeneration(
        _ number: UInt32,
        fill: (borrowing WriteTransaction, LogTables) throws -> Void
    ) throws {
        let draft = "\(path)/birth-\(processNumber)-\(number)"
        if Directory.kind(of: draft) == .directory { try Directory.removeFlat(draft) }
        try Directory.make(draft)
        do {
            try Self.fill(draft, fill)
        } catch let error as LMDBError {
            throw EventLogError(error, operation: "make log at", object: path)
        }
        try Directory.sync(draft)
        try Directory.move(draft, to: generation(number))
        try Directory.sync(path)
    }

    private static func fill(
        _ draft: String,
        _ fill: (borrowing WriteTransaction, LogTables) throws -> Void
    ) throws {
        let environment = try Environment(directory: draft, tables: LogTables.names, access: .create)
        let transaction = try environment.beginWrite()
        try fill(transaction, LogTables(environment.tables))
        try transaction.commit()
    }

    private func foreign() -> EventLogError {
        EventLogError(
            .invalidArgument,
            operation: "make log at",
            object: path,
            reason: "the directory is not empty and is no log",
            advice: "name a directory that is not there yet"
        )
    }
}

extension WriteTransaction {
    /// Stores a value of `meta` with its checksum.
    func putMeta(_ value: [UInt8], named name: String, in table: Table) throws(LMDBError) {
        try putSealed(value, at: Array(name.utf8), in: table)
    }

    /// Stores a value with its checksum.
    func putSealed(_ value: [UInt8], at key: [UInt8], in table: Table) throws(LMDBError) {
        let sealed = key.withUnsafeBytes { Checksum.sealed(value, table: table.name, key: $0) }
        do {
            try key.withUnsafeBytes { key in try sealed.withUnsafeBytes { try put($0, at: key, in: table) } }
        } catch let error as LMDBError {
            throw error
        } catch {
            throw LMDBError(0, "write to \(table.name)")
        }
    }
}
