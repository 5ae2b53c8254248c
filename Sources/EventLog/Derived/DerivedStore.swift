import Synchronization

/// Keeps what was computed from one generation of a log, so that it need not be computed again (I17).
///
/// It is an LMDB environment of its own, `cache-NNNNNN/` beside `gen-NNNNNN/`, made when something is first stored. It
/// may be wrong only by being absent: every value carries a checksum, the environment belongs to one log, one
/// generation and the place where it was made (`FolderStamp`), and it is removed with that generation. Deleting it
/// changes no answer. Commits are synced, so a power loss leaves the state of some commit (`docs/decisions/0002`). Any
/// number of threads and processes may use it.
public final class DerivedStore: Sendable {
    /// The layout of the environment; an environment of another layout is removed.
    static let layout: UInt32 = 2
    private static let environmentTables = ["tables", "values"]

    let environment: Environment
    package let folder: Folder
    private let directory: LogDirectory
    /// The name of the environment's folder in the log's directory.
    private let name: String
    /// Set once, for ever. `Generation` keeps a discarded store and makes no other one in its place.
    private let isDiscardedFlag = Mutex(false)

    private init(_ folder: Folder, _ directory: LogDirectory, _ name: String) throws {
        environment = try Environment(
            folder: folder,
            tables: Self.environmentTables,
            access: .readWrite,
            pages: .checked { try PageCheck.run($0, transaction: $1, isGrown: false) }
        )
        self.folder = folder
        self.directory = directory
        self.name = name
    }

    /// The table of a name and version, made if it is missing. What another version of it holds is removed.
    ///
    /// - Throws: `EventLogError` with code `io` or `damaged`; the caller must then do without the table.
    public func table(_ name: String, version: UInt32) throws -> DerivedTable {
        try EventLogError.wrapping("open derived table", name) {
            if let number = try registered(name, version) {
                return DerivedTable(store: self, name: name, number: number)
            }
            return DerivedTable(store: self, name: name, number: try register(name, version))
        }
    }

    /// The table of a name and version; `nil` if it is missing.
    func existingTable(_ name: String, version: UInt32) throws -> DerivedTable? {
        try registered(name, version).map { DerivedTable(store: self, name: name, number: $0) }
    }

    /// Removes the files, once. Threads and processes that have them open keep what they have, which nothing opens
    /// again. An error leaves the files where they are.
    public func discard() {
        let isFirst = isDiscardedFlag.withLock { flag in
            defer { flag = true }
            return !flag
        }
        if isFirst { try? directory.removeCache(name) }
    }

    /// Whether the files have been removed by this process.
    public var isDiscarded: Bool { isDiscardedFlag.withLock { $0 } }
}

// MARK: - Opening

extension DerivedStore {
    /// The log and the generation that the environment belongs to.
    struct Owner: Hashable {
        let identity: [UInt8]
        let generation: UInt32

        /// The value that names the owner of an environment at a place.
        func bytes(at place: Hash256) -> [UInt8] {
            var writer = ByteWriter()
            writer.write(DerivedStore.layout)
            writer.write(generation)
            writer.write(identity)
            writer.write(place)
            return writer.bytes
        }
    }

    /// The lock that one process at a time takes to merge keys.
    static let mergeLockName = "merge.lock"
    /// The files that are written beside the two of LMDB.
    static let fileNames = [PageMark.fileName, mergeLockName]

    /// Opens the environment; `nil` if there is none that may be used. One that is of no use is removed where that is
    /// allowed.
    static func open(_ directory: LogDirectory, _ owner: Owner) -> DerivedStore? {
        let name = LogDirectory.cacheName(owner.generation)
        do {
            guard let folder = try directory.folder.folder(name) else { return nil }
            // Nothing that was made elsewhere is opened, whether or not it came with a copy of the log.
            guard let place = try FolderStamp.hash(of: folder) else {
                try? directory.removeCache(name)
                return nil
            }
            try PageCheck.checkBeforeOpening(DataFile(in: folder))
            let store = try DerivedStore(folder, directory, name)
            if try store.owner() == owner.bytes(at: place) { return store }
            store.discard()
        } catch let error as LMDBError {
            // Without the right to write, leave the files to their owner. A full disk does not make them wrong.
            if error.isRefusedAccess || error.isBusy || error.isFullDisk { return nil }
            try? directory.removeCache(name)
        } catch is EventLogError {
            // An entry that no log makes, or one that may not be opened.
            return nil
        } catch {
            try? directory.removeCache(name)
        }
        return nil
    }

    /// Checks all pages of the newest state. Another process may commit during the check, and reuse pages of that
    /// state. So a failure counts only if the newest state is still the same.
    static func checkPages(of file: DataFile) throws {
        for attempt in 0..<10 {
            let before = file.metaPages()
            do {
                return try PageCheck.run(file)
            } catch {
                guard attempt < 9, file.metaPages() != before else { throw error }
            }
        }
    }

    /// Makes an empty environment.
    static func make(_ directory: LogDirectory, _ owner: Owner) throws -> DerivedStore {
        let name = LogDirectory.cacheName(owner.generation)
        // Made under another name and renamed, so that nobody opens it half made.
        let draft = "birth-cache-\(processNumber)-\(owner.generation)"
        let folder = directory.folder
        directory.removeRemainsOfCaches()
        try folder.removeFolder(draft)
        do {
            let made = try folder.makeFolder(draft)
            try fill(made, owner.bytes(at: try FolderStamp.make(in: made)))
            try folder.move(draft, to: name)
        } catch {
            try? folder.removeFolder(draft)
            throw error
        }
        guard let made = try folder.folder(name) else { throw LMDBError(notFoundErrno, "open derived data") }
        return try DerivedStore(made, directory, name)
    }

    private static func fill(_ draft: Folder, _ owner: [UInt8]) throws {
        let environment = try Environment(folder: draft, tables: environmentTables, access: .create, pages: .own)
        let transaction = try environment.beginWrite()
        try transaction.putSummed(owner, at: ownerKey, in: environment.tables[0])
        try transaction.commit()
    }

    /// The table `tables` has the owner under `00`, the last table number under `01`, and each table under `02` and its
    /// name (`docs/format.md`).
    private static let ownerKey: [UInt8] = [0]

    private func owner() throws -> [UInt8]? {
        try read { try summed(Self.ownerKey, $0) }
    }
}

// MARK: - Tables

extension DerivedStore {
    /// The number of a table; `nil` if it is missing or has another version.
    private func registered(_ name: String, _ version: UInt32) throws -> UInt32? {
        try read { try number(of: name, version, $0) }
    }

    /// Gives the table a number that no table had before, so that entries which a crash leaves behind belong to no
    /// table.
    ///
    /// The entries of the former version are removed after the commit, in commits of their own, because there may be
    /// many.
    private func register(_ name: String, _ version: UInt32) throws -> UInt32 {
        let (number, former) = try write { transaction -> (UInt32, UInt32?) in
            if let number = try self.number(of: name, version, transaction.view) { return (number, nil) }
            let former = try entry(of: name, transaction.view)?.number
            let last = try summed(Self.lastNumberKey, transaction.view)
            let number = (last.flatMap { $0.withUnsafeBytes { $0.bigEndian(as: UInt32.self) } } ?? 0) + 1
            let tables = environment.tables[0]
            try transaction.putSummed(withKey(number) { Array($0) }, at: Self.lastNumberKey, in: tables)
            var writer = ByteWriter()
            writer.write(version)
            writer.write(number)
            try transaction.putSummed(writer.bytes, at: Self.key(of: name), in: tables)
            return (number, former)
        }
        if let former { try DerivedTable(store: self, name: name, number: former).removeAll() }
        return number
    }

    private static let lastNumberKey: [UInt8] = [1]

    private static func key(of name: String) -> [UInt8] { [2] + Array(name.utf8) }

    private func entry(of name: String, _ view: TransactionView) throws -> (version: UInt32, number: UInt32)? {
        guard let bytes = try summed(Self.key(of: name), view) else { return nil }
        return bytes.withUnsafeBytes { raw in
            guard let version = raw.bigEndian(as: UInt32.self), let number = raw.bigEndian(at: 4, as: UInt32.self)
            else { return nil }
            return (version, number)
        }
    }

    private func number(of name: String, _ version: UInt32, _ view: TransactionView) throws -> UInt32? {
        guard let entry = try entry(of: name, view), entry.version == version else { return nil }
        return entry.number
    }

    /// A value of the table `tables`, copied; `nil` if it is missing or does not fit its checksum.
    private func summed(_ key: [UInt8], _ view: TransactionView) throws -> [UInt8]? {
        let table = environment.tables[0]
        return try key.withUnsafeBytes { key in
            guard let stored = try view.value(of: key, in: table) else { return nil }
            return Checksum.opened(stored, table: table.name, key: key).map { Array($0) }
        }
    }

    /// Lends the state of the newest commit; the view must not leave `body`.
    func read<Result>(_ body: (TransactionView) throws -> Result) throws -> Result {
        let transaction = try environment.beginRead()
        let result = try body(transaction.view)
        // Keeps the transaction open until here.
        _ = transaction.view
        return result
    }

    /// Runs one write transaction. Runs `body` again if the map has to grow first, so `body` must not have effects
    /// elsewhere that may not happen twice.
    func write<Result>(_ body: (borrowing WriteTransaction) throws -> Result) throws -> Result {
        for attempt in 0..<8 {
            do {
                let transaction = try environment.beginWrite()
                let result = try body(transaction)
                try transaction.commit()
                return result
            } catch let error as LMDBError {
                guard error.isMapFull, attempt < 7 else { throw error }
                try environment.growMap()
            }
        }
        throw LMDBError(LMDBError.gaveUp, "write derived data")
    }
}

extension LogDirectory {
    /// Removes the remains of processes that ended while they made derived data (`birth-cache-PID-N`) or removed it
    /// (`gone-cache-N-PID`). A folder that cannot be removed stays, and is no error.
    func removeRemainsOfCaches() {
        for name in (try? folder.names()) ?? [] {
            let parts = name.split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 4, parts[1] == "cache", parts[0] == "birth" || parts[0] == "gone",
                let process = Partial.process(named: parts[parts[0] == "birth" ? 2 : 3]), Partial.isGone(process)
            else { continue }
            try? folder.removeFolder(name)
        }
    }

    /// Removes a folder of derived data that others may have open: they keep the files, whose names are gone. Renames
    /// it first, so that nobody opens half of it.
    func removeCache(_ name: String) throws {
        guard let cache = try folder.folder(name) else { return }
        try cache.checkRemovable()
        let gone = "gone-\(name)-\(processNumber)"
        try folder.removeFolder(gone)
        try folder.move(name, to: gone)
        try folder.removeFolder(gone)
    }
}
