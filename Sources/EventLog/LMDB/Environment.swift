import CLMDB
import Synchronization

/// One LMDB environment, open once in this process. The only owner of an `MDB_env`.
///
/// Every transaction holds it strongly, so that it is closed after the last of them (limits of the compiler and of LMDB
/// both ask for that). It counts its open transactions, since LMDB lets the map change only while there is none.
final class Environment: @unchecked Sendable {
    /// How an environment is opened.
    enum Access {
        /// Reading and writing; the files must be there.
        case readWrite
        /// Reading and writing; the files are made.
        case create
        /// Reading, from a place that cannot be written; `locks` is false where not even the lock file opens.
        case readOnly(locks: Bool)

        fileprivate var creates: Bool {
            if case .create = self { true } else { false }
        }

        fileprivate var flags: UInt32 {
            switch self {
            case .readWrite, .create: UInt32(MDB_NOTLS)
            case .readOnly(let locks): UInt32(MDB_NOTLS | MDB_RDONLY) | (locks ? 0 : UInt32(MDB_NOLOCK))
            }
        }
    }

    /// Why the pages of a data file may be read through LMDB, which maps them without looking.
    enum Pages {
        /// This process makes them.
        case own
        /// The caller looks at each page before LMDB reads it.
        case believed
        /// The mark beside the file covers them, or else a check finds nothing: it is given the file and a transaction
        /// whose state stays as it is meanwhile.
        case checked((DataFile, _ transaction: UInt64) throws -> Void)
    }

    /// Sparse: address space, not disk. Large enough that it hardly ever has to grow while readers are open.
    static let mapBytesInitial = 64 << 30
    private static let readersMax: UInt32 = 1024

    /// The folder with `data.mdb` and `lock.mdb`.
    private let folder: Folder
    /// Its path: what is open is known by it, and messages name it.
    let directory: String
    /// The tables, in the order in which their names were given.
    private(set) var tables: [Table] = []
    /// `nil` after the environment could not be opened again.
    private var handle: OpaquePointer?
    private let gate = Mutex(Gate())
    private let names: [String]
    private let access: Access
    private let mapBytes: Int
    private let mark: PageMark?

    private struct Gate {
        var transactions = 0
        var isChanging = false
        /// Whether a commit failed since the environment was opened.
        var isDistrusted = false
    }

    /// Opens an environment and its tables.
    ///
    /// - Throws: `LMDBError`; what the check of the pages throws.
    init(
        folder: Folder,
        tables names: [String],
        access: Access,
        pages: Pages,
        mapBytes: Int = Environment.mapBytesInitial
    ) throws {
        self.folder = folder
        directory = folder.path
        self.names = names
        self.access = access
        self.mapBytes = mapBytes
        try Self.claim(directory)
        do {
            let data = try folder.checkEnvironment()
            handle = try Self.open(folder, data, tableCount: names.count, access: access, mapBytes: mapBytes)
        } catch {
            Self.disclaim(directory)
            throw error
        }
        mark = PageMark(in: folder)
        if case .checked(let check) = pages { try checkPages(check) }
        tables = try openTables()
        if case .own = pages { notePages() }
    }

    deinit {
        if let handle { mdb_env_close(handle) }
        Self.disclaim(directory)
    }

    /// The directories that are open in this process. LMDB's file locks are lost where one is opened twice.
    private static let openDirectories = Mutex(Set<String>())

    private static func claim(_ directory: String) throws(LMDBError) {
        for _ in 0..<2000 {
            if openDirectories.withLock({ $0.insert(directory).inserted }) { return }
            pause(milliseconds: 5)
        }
        throw LMDBError(MDB_BAD_TXN, "open \(directory) twice in one process")
    }

    private static func disclaim(_ directory: String) {
        openDirectories.withLock { _ = $0.remove(directory) }
    }

    private static func open(
        _ folder: Folder,
        _ data: FileIdentity?,
        tableCount: Int,
        access: Access,
        mapBytes: Int
    ) throws(LMDBError) -> OpaquePointer {
        // LMDB would make a file that is missing.
        guard data != nil || access.creates else { throw LMDBError(notFoundErrno, "open \(folder.path)") }
        var created: OpaquePointer?
        try check(mdb_env_create(&created), "make an environment")
        guard let created else { throw LMDBError(MDB_INVALID, "make an environment") }
        do {
            try check(mdb_env_set_maxdbs(created, UInt32(tableCount)), "set the number of tables")
            try check(mdb_env_set_maxreaders(created, readersMax), "set the number of readers")
            try check(mdb_env_set_mapsize(created, mapBytes), "set the size of the map")
            if DamagedPages.endsProcess.load(ordering: .relaxed) { clmdb_catch_assertions(created) }
            let path = folder.pathForLibraries
            try check(mdb_env_open(created, path, access.flags, 0o600), "open \(folder.path)")
            try checkIdentity(of: created, data, folder)
        } catch {
            mdb_env_close(created)
            throw error
        }
        var dead: Int32 = 0
        _ = mdb_reader_check(created, &dead)
        return created
    }

    /// Whether LMDB has opened the file that was looked at before, or has made one in this folder.
    private static func checkIdentity(
        of handle: OpaquePointer,
        _ data: FileIdentity?,
        _ folder: Folder
    ) throws(LMDBError) {
        var descriptor: Int32 = -1
        try check(mdb_env_get_fd(handle, &descriptor), "look at what was opened")
        let wanted = data ?? (try? folder.checkEnvironment()) ?? nil
        guard wanted != nil, wanted == FileIdentity(of: descriptor) else {
            throw LMDBError(notFoundErrno, "open \(folder.path), whose data file was exchanged meanwhile")
        }
    }

    /// Opened anew, the tables get the same handles, since LMDB numbers them in the order of opening.
    private func openTables() throws(LMDBError) -> [Table] {
        let creates = access.creates
        var transaction: OpaquePointer?
        try check(mdb_txn_begin(handle, nil, creates ? 0 : UInt32(MDB_RDONLY), &transaction), "begin")
        guard let transaction else { throw LMDBError(MDB_INVALID, "begin") }
        var opened: [Table] = []
        do {
            for name in names {
                var table: MDB_dbi = 0
                let flags = creates ? UInt32(MDB_CREATE) : 0
                try check(mdb_dbi_open(transaction, name, flags, &table), "open table \(name)")
                opened.append(Table(name: name, handle: table))
            }
        } catch {
            mdb_txn_abort(transaction)
            throw error
        }
        try check(mdb_txn_commit(transaction), "open the tables")
        return opened
    }
}

// MARK: - Transactions

extension Environment {
    /// Begins to read the newest durable prefix. Never waits for a writer.
    func beginRead() throws(LMDBError) -> ReadTransaction {
        ReadTransaction(environment: self, handle: try begin(flags: UInt32(MDB_RDONLY)))
    }

    /// Begins to write, once every other writer has ended.
    func beginWrite() throws(LMDBError) -> WriteTransaction {
        if gate.withLock({ $0.isDistrusted }) { try reopen() }
        return WriteTransaction(environment: self, handle: try begin(flags: 0))
    }

    /// Notes that a write failed: nothing of the environment is believed, and it is opened again before the next one.
    func distrust() {
        gate.withLock { $0.isDistrusted = true }
    }

    private func begin(flags: UInt32) throws(LMDBError) -> OpaquePointer {
        for attempt in 0... {
            if handle == nil { try reopen() }
            enter()
            var transaction: OpaquePointer?
            let code = mdb_txn_begin(handle, nil, flags, &transaction)
            if code == MDB_SUCCESS, let transaction { return transaction }
            transactionEnded()
            let error = LMDBError(code, "begin a transaction")
            guard attempt < 3 else { throw error }
            if error.isMapResized {
                try changeMap(to: 0)
            } else if code == MDB_PANIC {
                // The meta page of a failed commit could not be written: LMDB refuses readers too until it is reopened.
                try reopen()
            } else if code == MDB_READERS_FULL {
                _ = clearDeadReaders()
            } else {
                throw error
            }
        }
        throw LMDBError(MDB_INVALID, "begin a transaction")
    }

    private func enter() {
        while true {
            let entered = gate.withLock { gate in
                if gate.isChanging { return false }
                gate.transactions += 1
                return true
            }
            if entered { return }
            pause(milliseconds: 1)
        }
    }

    func transactionEnded() {
        gate.withLock { $0.transactions -= 1 }
    }

    /// Frees the slots of readers whose process is gone, and says how many there were.
    func clearDeadReaders() -> Int {
        var dead: Int32 = 0
        return mdb_reader_check(handle, &dead) == MDB_SUCCESS ? Int(dead) : 0
    }
}

// MARK: - Pages

extension Environment {
    /// The data file as LMDB has it open.
    private func dataFile() -> DataFile? {
        var descriptor: Int32 = -1
        guard let handle, mdb_env_get_fd(handle, &descriptor) == MDB_SUCCESS else { return nil }
        return DataFile(lent: descriptor, folder.path(of: Folder.dataFileName))
    }

    /// Commits, and lets the mark follow where it covers the state before.
    func commit(_ transaction: OpaquePointer) -> Int32 {
        guard let mark, let file = dataFile() else { return mdb_txn_commit(transaction) }
        let number = UInt64(mdb_txn_id(transaction))
        return mark.following(file, from: number - 1, to: number) {
            let code = mdb_txn_commit(transaction)
            return (code, code == MDB_SUCCESS)
        }
    }

    /// Notes that all pages of the newest state are well-formed: this process made them.
    private func notePages() {
        guard let file = dataFile(), let newest = file.newestTransaction() else { return }
        mark?.set(file, checkedAt: file.stamp(), newest)
    }

    /// Notes that all pages of a transaction's state were looked at, of a file that had a stamp before.
    func notePages(of transaction: UInt64, checkedAt stamp: FileStamp?) {
        if let file = dataFile() { mark?.set(file, checkedAt: stamp, transaction) }
    }

    /// Has all pages of the newest state looked at, unless the mark covers them.
    ///
    /// A read transaction keeps the state as it is while others commit. Where there are no locks nothing does, so that a
    /// state that has moved on is looked at again.
    private func checkPages(_ check: (DataFile, UInt64) throws -> Void) throws {
        guard let file = dataFile() else { throw LMDBError(MDB_INVALID, "open \(directory)") }
        if let mark, mark.covers(file) { return }
        for attempt in 0..<Self.checksMax {
            let stamp = file.stamp()
            do {
                let transaction = try beginRead()
                let number = transaction.view.transaction
                if let newest = file.newestTransaction(), newest != number {
                    // Either a commit is just being made known, or a process was killed at this point.
                    if attempt < Self.checksMax - 1 {
                        pause(milliseconds: 1)
                        continue
                    }
                    try check(file, newest)
                }
                try check(file, number)
                _ = transaction.view
                notePages(of: number, checkedAt: stamp)
                return
            } catch {
                guard attempt < Self.checksMax - 1, file.stamp() != stamp else { throw error }
            }
        }
    }

    private static let checksMax = 4
}

// MARK: - Copying

extension Environment {
    /// Writes the newest durable prefix into an empty file, not synced yet. Writers wait only while the two meta pages are
    /// copied.
    func copy(to file: OpenFile) throws(LMDBError) {
        // An open transaction keeps the map in its place meanwhile.
        let transaction = try beginRead()
        try check(mdb_env_copyfd2(handle, file.descriptor, 0), "copy the data file")
        _ = transaction.view
    }
}

// MARK: - The map and the data file

extension Environment {
    /// Doubles the map. Waits until this process has no transaction open here, at most ten seconds.
    func growMap() throws(LMDBError) {
        var info = MDB_envinfo()
        try check(mdb_env_info(handle, &info), "read the size of the map")
        try changeMap(to: info.me_mapsize * 2)
    }

    /// What LMDB says of the map and its readers.
    func information() throws(LMDBError) -> EnvironmentInformation {
        var info = MDB_envinfo()
        try check(mdb_env_info(handle, &info), "read the state of the environment")
        return EnvironmentInformation(
            mapBytes: UInt64(info.me_mapsize),
            lastPage: UInt64(info.me_last_pgno),
            lastTransaction: UInt64(info.me_last_txnid),
            readerSlots: Int(info.me_numreaders)
        )
    }

    /// Lets the data file hold so many pages: where it does not, writes a step of zeros behind its end, not synced.
    ///
    /// - Returns: whether it holds them now.
    func reserve(pages: UInt64, step: Int) -> Bool {
        var statistics = MDB_stat()
        var descriptor: Int32 = -1
        guard mdb_env_stat(handle, &statistics) == MDB_SUCCESS, mdb_env_get_fd(handle, &descriptor) == MDB_SUCCESS
        else { return false }
        let byteCount = pages * UInt64(statistics.ms_psize)
        guard let file = dataFile(), let mark, file.stamp().map({ $0.byteCount < byteCount }) ?? true else {
            return extendFile(descriptor, to: byteCount, step: step)
        }
        let newest = file.newestTransaction() ?? 0
        return mark.following(file, from: newest, to: newest) {
            let isReserved = extendFile(descriptor, to: byteCount, step: step)
            return (isReserved, isReserved)
        }
    }

    /// Closes and opens the environment again: after a failed commit nothing of the old one is believed.
    func reopen() throws(LMDBError) {
        try alone("open the environment again") { () throws(LMDBError) in
            if let handle { mdb_env_close(handle) }
            handle = nil
            let data: FileIdentity?
            do {
                data = try folder.checkEnvironment()
            } catch {
                throw LMDBError(MDB_INVALID, "open \(directory) again: \(error)")
            }
            handle = try Self.open(folder, data, tableCount: names.count, access: .readWrite, mapBytes: mapBytes)
            _ = try openTables()
            gate.withLock { $0.isDistrusted = false }
        }
    }

    private func changeMap(to bytes: Int) throws(LMDBError) {
        try alone("grow the map") { () throws(LMDBError) in
            try check(mdb_env_set_mapsize(handle, bytes), "grow the map")
        }
    }

    /// Runs a change while no transaction of this process is open in the environment, and keeps new ones waiting.
    private func alone(_ operation: String, _ change: () throws(LMDBError) -> Void) throws(LMDBError) {
        for attempt in 0... {
            let isAlone = gate.withLock { gate in
                if gate.isChanging || gate.transactions > 0 { return false }
                gate.isChanging = true
                return true
            }
            if isAlone { break }
            guard attempt < 2000 else { throw LMDBError(MDB_BAD_TXN, "\(operation): a read session stays open") }
            pause(milliseconds: 5)
        }
        defer { gate.withLock { $0.isChanging = false } }
        try change()
    }
}

/// What LMDB says of an environment.
struct EnvironmentInformation {
    let mapBytes: UInt64
    let lastPage: UInt64
    let lastTransaction: UInt64
    let readerSlots: Int
}

// MARK: - Readers

extension Environment {
    /// The open read transactions of all processes.
    func readers() -> [EnvironmentReader] {
        _ = clearDeadReaders()
        var readers: [EnvironmentReader] = []
        guard let handle else { return [] }
        withUnsafeMutablePointer(to: &readers) { pointer in
            _ = mdb_reader_list(handle, collectReader, pointer)
        }
        return readers
    }
}

/// An open read transaction of some process.
struct EnvironmentReader {
    let process: Int32
    /// The commit whose state it sees.
    let transaction: UInt64
}

/// Takes one line of LMDB's list, `pid thread txnid`, where a slot without a transaction has `-` or nothing.
private func collectReader(_ line: UnsafePointer<CChar>?, _ context: UnsafeMutableRawPointer?) -> Int32 {
    guard let line, let context else { return 0 }
    let columns = String(cString: line).split(whereSeparator: \.isWhitespace)
    if columns.count == 3, let process = Int32(columns[0]), let number = UInt64(columns[2]) {
        let reader = EnvironmentReader(process: process, transaction: number)
        context.assumingMemoryBound(to: [EnvironmentReader].self).pointee.append(reader)
    }
    return 0
}
