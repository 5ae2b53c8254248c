extension LogDirectory {
    /// Makes a log, or completes one whose birth a crash interrupted. Does nothing if the log exists.
    ///
    /// FORMAT is written last: until then no log exists (I8). The environment is made under another name and renamed
    /// when complete, so a generation without FORMAT is whole and lacks only that file.
    static func giveBirth(at path: String, wait: Duration) throws {
        try Directory.makeWithParents(path)
        try LogDirectory(Folder(at: path)).giveBirth(wait: wait)
    }

    private func giveBirth(wait: Duration) throws {
        guard try isEmptyOrLog() else { throw foreign() }
        try checkEntries()
        let lock = try FileLock(Self.writeLock, in: folder)
        try lock.acquire(wait: wait, operation: "make log at", object: path)
        defer { lock.release() }
        // Another process may have made the log while this one waited for the lock.
        guard try folder.kind(of: LogFormat.fileName) == .nothing else { return }
        // A generation without FORMAT is of a birth that was cut short: its identity is kept.
        let identity = try finishedGenerationIdentity() ?? makeFirstGeneration()
        _ = try folder.folderMadeIfMissing(Self.sources)
        try folder.sync()
        try write(LogFormat(identity: identity))
    }

    /// Writes FORMAT, the last file of a log's birth.
    func write(_ format: LogFormat) throws {
        try folder.replaceFile(LogFormat.fileName, with: format.bytes)
    }

    /// Raises the version in FORMAT if a generation that is to be the log's has blocks of sealed events: a program that does not know
    /// them must not open it. Before the switch, so that a crash leaves a version that is too high, which does no harm.
    func note(sealingOf generation: Generation) throws {
        guard let format = try format(), format.version < LogFormat.version, try generation.isSealed() else { return }
        try write(LogFormat(identity: format.identity, isSealed: true))
    }

    /// The log's FORMAT; `nil` if no log exists.
    func format() throws -> LogFormat? {
        try folder.bytes(of: LogFormat.fileName).map { try LogFormat($0, path: path) }
    }

    /// The identity of a generation that an earlier birth has finished; `nil` if there is none.
    private func finishedGenerationIdentity() throws -> [UInt8]? {
        guard let number = try generations().first else { return nil }
        let generation = try Generation.open(directory: self, number: number, lanes: LaneInterner())
        return try generation.read { try $0.meta(MetaName.identity) }
    }

    private func makeFirstGeneration() throws -> [UInt8] {
        let identity = systemRandomBytes(16)
        try makeGeneration(1) { transaction, tables in
            try transaction.putMeta(identity, named: MetaName.identity, in: tables.meta)
        }
        return identity
    }

    /// Makes a generation with what `fill` writes. It appears under its name complete and synced, or not at all.
    func makeGeneration(
        _ number: UInt32,
        fill: (borrowing WriteTransaction, LogTables) throws -> Void
    ) throws {
        let draft = "birth-\(processNumber)-\(number)"
        // The remains of an earlier process that had the same number.
        try folder.removeFolder(draft)
        let made = try folder.makeFolder(draft)
        do {
            try Self.fill(made, fill)
        } catch let error as LMDBError {
            throw EventLogError(error, operation: "make log at", object: path)
        }
        // The folder's entries must be on the disk before it gets its name.
        try made.sync()
        try folder.move(draft, to: Self.generationName(number))
        try folder.sync()
    }

    private static func fill(
        _ draft: Folder,
        _ fill: (borrowing WriteTransaction, LogTables) throws -> Void
    ) throws {
        let environment = try Environment(folder: draft, tables: LogTables.names, access: .create, pages: .own)
        let transaction = try environment.beginWrite()
        try fill(transaction, LogTables(environment.tables))
        try transaction.commit()
    }

    /// The error for a directory that holds something else: nothing is put beside files of others.
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
        try putSummed(value, at: Array(name.utf8), in: table)
    }

    /// Stores a value with its checksum, in place of any former one.
    func putSummed(_ value: [UInt8], at key: [UInt8], in table: Table) throws(LMDBError) {
        try withSealed(value, at: key, in: table) { value, key throws(LMDBError) in try put(value, at: key, in: table) }
    }

    /// Stores a value with its checksum under a key that has none.
    func insertSummed(_ value: [UInt8], at key: [UInt8], in table: Table) throws(LMDBError) {
        try withSealed(value, at: key, in: table) { value, key throws(LMDBError) in
            try insert(value, at: key, in: table)
        }
    }

    private func withSealed(
        _ value: [UInt8],
        at key: [UInt8],
        in table: Table,
        _ body: (_ value: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer) throws(LMDBError) -> Void
    ) throws(LMDBError) {
        let summed = key.withUnsafeBytes { Checksum.summed(value, table: table.name, key: $0) }
        // `withUnsafeBytes` forgets the type of the error; `body` throws nothing but `LMDBError`.
        do {
            try key.withUnsafeBytes { key in try summed.withUnsafeBytes { try body($0, key) } }
        } catch let error as LMDBError {
            throw error
        } catch {
            throw LMDBError(LMDBError.gaveUp, "write to \(table.name)")
        }
    }
}
