import Synchronization

/// One log on disk: appended to, read, and rewritten, by any number of threads and processes.
public final class EventStore: Sendable {
    /// How a store waits and writes.
    public struct Options: Sendable {
        /// How long an append waits for another process that holds the write lock.
        public var wait: Duration = .seconds(10)
        /// When an append returns.
        public var durability: Durability = .synced
        /// Where salts come from.
        public var salt: SaltSource = .random
        /// How many keys are kept in memory before they are written as a run. The first store of this process that
        /// appends decides.
        package var keysInMemory = 65_536
        /// The initial size of the map in bytes. The first store of this process that opens the log decides.
        package var mapBytes = 64 << 30

        /// Receives reports of `verify`, `backup` and `rewrite`, and of the check of pages at opening. The first store
        /// of this process that opens the log checks the pages, unless the mark covers them (I24).
        public var progress: StoreWorkReporter?
        /// Whether the caller checks each page before LMDB reads it. Another store that opens the log meanwhile checks
        /// them (I24).
        var believesPages = false

        /// The usual options: ten seconds, synced, random.
        public init() {}
    }

    /// When an append returns.
    public enum Durability: Sendable {
        /// Once the events survive a power loss (I5).
        case synced
        /// Once they are queued in this process, without sequences; a synced commit follows within 100 ms or 16 MiB, and
        /// `flush()` waits for it. A crash may lose what was not committed. A draft whose key is held with another
        /// payload is stored under `KEY~` and 16 hex digits of its payload's hash.
        case fast
    }

    /// Where the log is.
    public let path: String
    /// Shared by all stores of this process at the same directory (I6).
    let core: LogCore
    let options: Options
    /// Commits batches under the write lock.
    let writer: LogCommit
    /// Takes appends under `fast` durability; `nil` under `synced`.
    let fast: AppendStream?
    private let attached = Mutex<(any Sendable)?>(nil)

    /// What a module above keeps with this store, and finds in the sessions that begin later. Not in the log.
    var attachment: (any Sendable)? { attached.withLock { $0 } }

    /// Replaces the attachment.
    package func changeAttachment(_ change: ((any Sendable)?) -> any Sendable) {
        attached.withLock { $0 = change($0) }
    }

    private init(core: LogCore, path: String, options: Options) {
        self.core = core
        self.path = path
        self.options = options
        let writer = LogCommit(
            core: core,
            path: path,
            wait: options.wait,
            keysInMemory: options.keysInMemory,
            salt: options.salt
        )
        self.writer = writer
        guard options.durability == .fast else {
            fast = nil
            return
        }
        fast = AppendStream(writer, gathering: .fast) { error in
            // Such a batch can never be committed.
            (error as? EventLogError)?.code == .keyConflict ? .passOver : .hold
        }
    }

    deinit {
        // An error has no receiver here: `flush()` is the call that reports it.
        do { _ = try fast?.flush() } catch { fast?.end(error) }
    }

    /// Whether appends return before the events are on the disk.
    package var isFast: Bool { fast != nil }

    /// The sixteen bytes that identify this log; copies and rewrites keep them.
    public var identity: [UInt8] { core.identity }

    /// Opens the log at a directory. The same directory opened twice in one process is one environment.
    ///
    /// - Throws: `EventLogError` with code `noLog`, `newerFormat`, `damaged` or `io`.
    public static func open(at path: String, options: Options = .init()) throws -> EventStore {
        let pages = PageTrust(
            reason: options.believesPages ? .believed : .checked,
            progress: StoreWork.Activity.checkingPages.reporter(to: options.progress)
        )
        let core = try LogCore.shared(at: path, mapBytes: options.mapBytes, pages: pages)
        return EventStore(core: core, path: path, options: options)
    }

    /// Opens the log at a directory, or makes one if nothing exists there or the directory is empty.
    ///
    /// - Throws: as `open`; `invalidArgument` if anything but a log exists there.
    public static func openOrCreate(at path: String, options: Options = .init()) throws -> EventStore {
        if Directory.kind(of: path) == .file {
            throw EventLogError(
                .invalidArgument,
                operation: "make log at",
                object: path,
                reason: "there is a file",
                advice: "name a directory"
            )
        }
        if try LogDirectory(existingAt: path)?.format() == nil {
            try EventLogError.wrapping("make log at", path) {
                try LogDirectory.giveBirth(at: path, wait: options.wait)
            }
        }
        return try open(at: path, options: options)
    }

    /// Runs `body` with a session on one prefix of the newest generation (I6). Does not wait for writers, and writers
    /// do not wait for it.
    public func read<R>(_ body: (borrowing ReadSession) throws -> R) throws -> R {
        try EventLogError.wrapping("read log at", path) {
            let session = try beginSession()
            return try body(session)
        }
    }

    /// Takes the lock that lets one recorder at a time record a source (I6).
    ///
    /// - Throws: `EventLogError` with code `locked`, naming the process that records it.
    public func acquireSourceLock(_ source: SourceName) throws -> SourceLock {
        let sources = try core.directory.folder.folderMadeIfMissing(LogDirectory.sources)
        let lock = try FileLock(Self.lockName(source), in: sources)
        // Waits, because `hasRecorder(of:)` holds the lock for an instant.
        try lock.acquire(wait: .milliseconds(20), operation: "record source", object: source.rawValue)
        return SourceLock(lock: lock, source: source)
    }

    /// Whether some process records a source now. A killed process does not count: the system releases its lock.
    public func hasRecorder(of source: SourceName) -> Bool {
        guard let sources = try? core.directory.folder.folder(LogDirectory.sources) else { return false }
        return FileLock.isHeld(Self.lockName(source), in: sources)
    }

    private static func lockName(_ source: SourceName) -> String {
        hexText(Hasher256.hash(Array(source.rawValue.utf8)).bytes.prefix(16)) + ".lock"
    }

    private func beginSession() throws -> ReadSession {
        var generation = core.current
        for _ in 0..<100 {
            let transaction = try generation.environment.beginRead()
            let reader = LogReader(transaction.view, of: generation)
            // Looked up in the transaction that the session will read. A later rewrite does not change what that
            // transaction sees.
            let isReplaced = try reader.successor() != nil
            if !isReplaced {
                let head = try reader.head()
                let decidedAt = try reader.decidedAt()
                guard decidedAt.rawValue <= head else {
                    throw reader.damaged("the last compaction was decided at \(decidedAt), and the head is \(head)")
                }
                return ReadSession(
                    transaction: transaction,
                    generation: generation,
                    head: head,
                    decidedAt: decidedAt,
                    attachment: attachment
                )
            }
            generation = try core.follow(from: generation)
        }
        throw LMDBError(LMDBError.gaveUp, "follow the log's generations, which are replaced too fast")
    }
}

/// The right to record a source, until it is released or its process ends. Two locks exclude each other within one
/// process, too.
public final class SourceLock: Sendable {
    private let lock: FileLock
    /// The source that may be recorded.
    public let source: SourceName

    init(lock: FileLock, source: SourceName) {
        self.lock = lock
        self.source = source
    }

    deinit {
        lock.release()
    }

    /// Releases the lock.
    public func release() {
        lock.release()
    }
}
