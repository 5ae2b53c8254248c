import CLMDB
import Synchronization

/// One LMDB environment, open at most once at a time in this process (I6). The only owner of an `MDB_env`.
///
/// Every transaction holds it strongly, so that it closes after the last of them: LMDB must not be closed under an open
/// transaction. It counts its open transactions, because LMDB lets the map change only while there are none.
///
/// `@unchecked Sendable` is right because `tables` is set in `init` alone, `gate` is a mutex, and `handle` is replaced
/// only within `alone`: then nobody uses it, for `gate` counts transactions and other calls. LMDB itself may be called
/// from any thread.
final class Environment: @unchecked Sendable {
    /// How an environment is opened.
    enum Access {
        /// For reading and writing; the files must exist.
        case readWrite
        /// For reading and writing; makes the files.
        case create
        /// For reading only, where the files cannot be written; `locks` is false if the lock file cannot be opened
        /// either.
        case readOnly(locks: Bool)

        var creates: Bool {
            if case .create = self { true } else { false }
        }

        /// Whether LMDB uses the table of readers.
        var locks: Bool {
            if case .readOnly(locks: false) = self { false } else { true }
        }

        var flags: UInt32 {
            switch self {
            case .readWrite, .create: UInt32(MDB_NOTLS)
            case .readOnly(let locks): UInt32(MDB_NOTLS | MDB_RDONLY) | (locks ? 0 : UInt32(MDB_NOLOCK))
            }
        }
    }

    /// Why LMDB may read the pages of a data file, which it maps without checking them (I24).
    enum Pages {
        /// This process writes all of them.
        case own
        /// The caller checks each page before LMDB reads it.
        case believed
        /// The mark beside the file covers them, or the check passes. The check gets the file and the number of a
        /// transaction whose pages do not change while it runs.
        case checked((DataFile, _ transaction: UInt64) throws -> Void)
    }

    /// Initial size of the map in bytes. It takes address space, not disk, and is so large that it hardly ever has to
    /// grow while readers are open.
    static let mapBytesInitial = 64 << 30
    /// Slots in the table of readers: one for each open read transaction, of all processes together. The process that
    /// makes `lock.mdb` decides. `Folder.checkEnvironment` refuses a table that is much larger than this one.
    static let readersMax: UInt32 = 1024

    /// The folder with `data.mdb` and `lock.mdb`.
    private let folder: Folder
    /// The folder's path: the entry in `OpenDirectories`, and the name in messages.
    let directory: String
    /// The tables, in the order in which their names were given.
    private(set) var tables: [Table] = []
    /// `nil` after `reopen` failed.
    private var handle: OpaquePointer?
    private let gate = Mutex(Gate())
    /// The arguments with which `reopen` opens the environment and its tables again.
    private let names: [String]
    private let access: Access
    private let mapBytes: Int
    /// `nil` if the mark cannot be used, as in a folder of another user. Then each opening checks the pages.
    private let mark: PageMark?

    private struct Gate {
        /// Open transactions, and calls in progress that use the handle without one.
        var transactions = 0
        /// Whether a thread is in `alone`. New transactions and calls wait until it has left.
        var isChanging = false
        /// Whether a commit failed since the environment was opened.
        var isDistrusted = false
    }

    /// Opens an environment and its tables. Waits at most ten seconds for this process to close the same directory.
    ///
    /// - Throws: `LMDBError`; whatever the check of the pages throws.
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
        try OpenDirectories.claim(directory)
        do {
            let data = try folder.checkEnvironment()
            handle = try Self.open(folder, data, tableCount: names.count, access: access, mapBytes: mapBytes)
        } catch {
            OpenDirectories.disclaim(directory)
            throw error
        }
        // All properties are set from here on, so an error below runs `deinit`, which closes the environment and frees
        // its directory.
        //
        // The check precedes `openTables`, the first call in which LMDB reads a tree.
        mark = PageMark(in: folder)
        if case .checked(let check) = pages { try checkPages(check) }
        tables = try openTables()
        if case .own = pages { notePages() }
    }

    deinit {
        if let handle { mdb_env_close(handle) }
        OpenDirectories.disclaim(directory)
    }

    /// Opens the tables in the order of `names`. LMDB numbers them in the order of opening, so that a reopened
    /// environment gives them the same handles.
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
        // Also a read transaction must be committed here: LMDB makes the handles of tables public only with the commit,
        // and closes them if the transaction is aborted.
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

    /// Begins to write; waits for every other writer to end.
    func beginWrite() throws(LMDBError) -> WriteTransaction {
        if gate.withLock({ $0.isDistrusted }) { try reopen() }
        return WriteTransaction(environment: self, handle: try begin(flags: 0))
    }

    /// Notes that a write failed. The next `beginWrite` reopens the environment first, because nothing in it is trusted
    /// (I5).
    func distrust() {
        gate.withLock { $0.isDistrusted = true }
    }

    /// Begins a transaction, in at most four attempts: another process may have enlarged the map, a failed commit may
    /// have left the environment unusable, or killed readers may have filled the table of readers.
    ///
    /// The use that `enter` counted ends with `transactionEnded`.
    private func begin(flags: UInt32) throws(LMDBError) -> OpaquePointer {
        for attempt in 0... {
            enter()
            if handle == nil {
                leave()
                try reopen()
                enter()
            }
            var transaction: OpaquePointer?
            let code = mdb_txn_begin(handle, nil, flags, &transaction)
            if code == MDB_SUCCESS, let transaction { return transaction }
            leave()
            let error = LMDBError(code, "begin a transaction")
            guard attempt < 3 else { throw error }
            if error.isMapResized {
                // Zero takes over the size that the other process has set.
                try changeMap(to: 0)
            } else if code == MDB_PANIC {
                // LMDB could not write the meta page of a commit. It refuses readers too until it is reopened.
                try reopen()
            } else if code == MDB_READERS_FULL {
                _ = clearDeadReaders()
            } else {
                throw error
            }
        }
        throw LMDBError(MDB_INVALID, "begin a transaction")
    }

    /// Counts a use of the handle, such as a transaction that is about to begin; waits while the map changes or the
    /// environment is reopened, which in turn waits for all uses to end.
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

    /// Uncounts a transaction. Each one calls it exactly once, when it has ended.
    func transactionEnded() { leave() }

    /// Lends the handle to a call outside any transaction; `nil` if the environment could not be reopened.
    private func withHandle<Result>(_ body: (OpaquePointer?) -> Result) -> Result {
        enter()
        defer { leave() }
        return body(handle)
    }

    private func leave() {
        gate.withLock { gate in
            assert(gate.transactions > 0, "a use was counted before it ends")
            gate.transactions -= 1
        }
    }

    /// Frees the reader slots of ended processes; returns how many it freed.
    func clearDeadReaders() -> Int {
        var dead: Int32 = 0
        return withHandle { mdb_reader_check($0, &dead) } == MDB_SUCCESS ? Int(dead) : 0
    }
}

// MARK: - Pages

extension Environment {
    /// The data file as LMDB has it open; valid while the handle is in use.
    private func dataFile() -> DataFile? {
        var descriptor: Int32 = -1
        guard withHandle({ mdb_env_get_fd($0, &descriptor) }) == MDB_SUCCESS else { return nil }
        return DataFile(lent: descriptor, folder.path(of: Folder.dataFileName))
    }

    /// The reason of a write that gave a code. LMDB returns `EIO` where the disk took a part of a write, as a disk does
    /// that is filling up.
    func cause(of code: Int32) -> Int32 {
        code == inputOutputErrno && dataFile()?.isDiskFull() == true ? fullDiskErrno : code
    }

    /// Commits, and renews the mark if it covered the state before (I24).
    func commit(_ transaction: OpaquePointer) -> Int32 {
        guard let mark, let file = dataFile() else { return mdb_txn_commit(transaction) }
        // LMDB numbers commits without gaps, and a write transaction has its number before it is committed.
        let number = UInt64(mdb_txn_id(transaction))
        return mark.following(file, from: number - 1, to: number) {
            let code = mdb_txn_commit(transaction)
            return (code, code == MDB_SUCCESS)
        }
    }

    /// Sets the mark for the newest state, all of whose pages this process wrote.
    private func notePages() {
        guard let file = dataFile(), let newest = file.newestTransaction() else { return }
        mark?.set(file, checkedAt: file.stamp(), newest)
    }

    /// Sets the mark for a transaction's state after a check of all its pages; `stamp` is the file's stamp before the
    /// check.
    func notePages(of transaction: UInt64, checkedAt stamp: FileStamp?) {
        withHandle { _ in
            if let file = dataFile() { mark?.set(file, checkedAt: stamp, transaction) }
        }
    }

    /// Checks all pages of the newest state, unless the mark covers them.
    ///
    /// A read transaction keeps the pages of its state while others commit. Without a lock file nothing does, so a
    /// check that fails is repeated if the file has changed meanwhile.
    func checkPages(_ check: (DataFile, UInt64) throws -> Void) throws {
        guard let file = dataFile() else { throw LMDBError(MDB_INVALID, "open \(directory)") }
        if let mark, mark.covers(file) { return }
        for attempt in 0..<Self.checksMax {
            let stamp = file.stamp()
            do {
                let transaction = try beginRead()
                let number = transaction.view.transaction
                if let newest = file.newestTransaction(), newest != number {
                    // A commit is becoming visible, or its process was killed just then. The last attempt checks both
                    // states.
                    if attempt < Self.checksMax - 1 {
                        pause(milliseconds: 1)
                        continue
                    }
                    try check(file, newest)
                }
                try check(file, number)
                // Keeps the transaction open until the check is done.
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
    /// Writes the newest durable prefix into an empty file, not synced yet. Writers wait only while the two meta pages
    /// are copied.
    func copy(to file: OpenFile) throws(LMDBError) {
        // The open transaction keeps other threads from moving the map or closing it.
        let transaction = try beginRead()
        try check(mdb_env_copyfd2(handle, file.descriptor, 0), "copy the data file")
        // Keeps the transaction open until the copy is made.
        _ = transaction.view
    }
}

// MARK: - The map and the data file

extension Environment {
    /// Doubles the map. Waits until this process has no transaction open here, at most ten seconds.
    func growMap() throws(LMDBError) {
        var info = MDB_envinfo()
        try check(withHandle { mdb_env_info($0, &info) }, "read the size of the map")
        try changeMap(to: info.me_mapsize * 2)
    }

    /// LMDB's figures on the map and its readers.
    func information() throws(LMDBError) -> EnvironmentInformation {
        var info = MDB_envinfo()
        try check(withHandle { mdb_env_info($0, &info) }, "read the state of the environment")
        return EnvironmentInformation(
            mapBytes: UInt64(info.me_mapsize),
            lastPage: UInt64(info.me_last_pgno),
            lastTransaction: UInt64(info.me_last_txnid),
            readerSlots: Int(info.me_numreaders)
        )
    }

    /// Lets the data file hold `pages` pages. If it is shorter, appends `step` bytes of zeros, not synced.
    ///
    /// - Returns: whether the file is long enough now.
    func reserve(pages: UInt64, step: Int) -> Bool {
        withHandle { reserve(pages: pages, step: step, $0) }
    }

    private func reserve(pages: UInt64, step: Int, _ handle: OpaquePointer?) -> Bool {
        var statistics = MDB_stat()
        var descriptor: Int32 = -1
        guard mdb_env_stat(handle, &statistics) == MDB_SUCCESS, mdb_env_get_fd(handle, &descriptor) == MDB_SUCCESS
        else { return false }
        let byteCount = pages * UInt64(statistics.ms_psize)
        guard let file = dataFile(), let mark, file.stamp().map({ $0.byteCount < byteCount }) ?? true else {
            return extendFile(descriptor, to: byteCount, step: step)
        }
        let newest = file.newestTransaction() ?? 0
        // Zeros after the last page change the stamp of the file, but no transaction.
        return mark.following(file, from: newest, to: newest) {
            let isReserved = extendFile(descriptor, to: byteCount, step: step)
            return (isReserved, isReserved)
        }
    }

    /// Closes and reopens the environment, because nothing in it is trusted after a failed commit (I5). Waits until
    /// this process has no transaction open here, at most ten seconds.
    func reopen() throws(LMDBError) {
        try alone("open the environment again") { () throws(LMDBError) in
            // Closed before it is opened again, because a process must not have the same files of LMDB open twice. If
            // the opening then fails, `handle` stays `nil`, and `begin` tries again.
            if let handle { mdb_env_close(handle) }
            handle = nil
            let data: FileIdentity?
            do {
                data = try folder.checkEnvironment()
            } catch {
                throw LMDBError(MDB_INVALID, "open \(directory) again: \(error)")
            }
            handle = try Self.open(folder, data, tableCount: names.count, access: .readWrite, mapBytes: mapBytes)
            // `tables` is still empty if `init` is just checking the pages.
            let reopened = try openTables()
            assert(
                tables.isEmpty || reopened.last?.handle == tables.last?.handle,
                "a reopened environment gives its tables the same handles"
            )
            gate.withLock { $0.isDistrusted = false }
        }
    }

    /// Sets the size of the map in bytes; 0 takes over the size that another process has set. LMDB moves the map, so
    /// every pointer into it becomes invalid: hence `alone`.
    private func changeMap(to bytes: Int) throws(LMDBError) {
        try alone("grow the map") { () throws(LMDBError) in
            try check(mdb_env_set_mapsize(handle, bytes), "grow the map")
        }
    }

    /// Runs `change` while this process has no transaction open here; new ones wait. Throws if one stays open for ten
    /// seconds.
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
        defer {
            gate.withLock { gate in
                assert(gate.isChanging && gate.transactions == 0, "no transaction begins while the map changes")
                gate.isChanging = false
            }
        }
        try change()
    }
}

// MARK: - Readers

extension Environment {
    /// The open read transactions of all processes, in the order of LMDB's table. Frees the slots of ended processes
    /// first.
    func readers() -> [EnvironmentReader] {
        _ = clearDeadReaders()
        var readers: [EnvironmentReader] = []
        // LMDB calls `collectReader` on this thread and only before `mdb_reader_list` returns, so the pointer stays
        // valid.
        withUnsafeMutablePointer(to: &readers) { pointer in
            _ = withHandle { mdb_reader_list($0, collectReader, pointer) }
        }
        return readers
    }
}
