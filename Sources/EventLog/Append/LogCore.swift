import Synchronization

/// One log, open once in this process (I6), shared by all stores that were opened at its path.
final class LogCore: Sendable {
    let directory: LogDirectory
    /// The sixteen bytes of FORMAT; those in `meta` are equal.
    let identity: [UInt8]
    let queue = AppendQueue()
    let writer: LogWriter
    /// Only ever replaced by a later generation.
    private let newest: Mutex<Generation>
    private let generations: GenerationRegistry

    private init(directory: LogDirectory, identity: [UInt8], mapBytes: Int, pages: PageTrust) throws {
        self.directory = directory
        self.identity = identity
        generations = GenerationRegistry(directory: directory, mapBytes: mapBytes, pages: pages)
        let found = try generations.newest()
        let stored = try found.read { try $0.meta(MetaName.identity) }
        guard stored == identity else { throw Self.strange(directory) }
        newest = Mutex(found)
        writer = LogWriter()
    }

    /// Gives each lane one object.
    var interner: LaneInterner { generations.interner }

    /// The newest generation that this process knows of.
    var current: Generation { newest.withLock { $0 } }

    /// The newest generation, after another has replaced `former`.
    func follow(from former: Generation) throws -> Generation {
        let known = current
        return known.number > former.number ? known : adopt(try generations.newest())
    }

    /// Opens a generation, or makes its environment in an existing, empty directory.
    func generation(_ number: UInt32, creates: Bool) throws -> Generation {
        try generations.generation(number, creates: creates)
    }

    /// Makes a generation the newest that this process knows of, unless it knows of a newer one. Returns the newest.
    @discardableResult
    func adopt(_ generation: Generation) -> Generation {
        newest.withLock { current in
            if current.number < generation.number { current = generation }
            return current
        }
    }

    /// Checks every page of a generation and makes it the log's, in place of the one before. Call it within the write lock.
    ///
    /// - Parameters:
    ///   - transaction: Of the generation before. What it commits says which generation follows.
    ///   - tables: The tables of the generation before.
    ///   - operation: What a complaint about the pages begins with.
    func switchOver(
        to target: Generation,
        by transaction: consuming WriteTransaction,
        _ tables: LogTables,
        operation: String
    ) throws {
        try target.checkAsForeign(operation: operation)
        try directory.note(sealingOf: target)
        // The new generation must be on the disk before anything refers to it (I9).
        try target.folder.sync()
        try directory.folder.sync()
        let successor = withKey(target.number) { Array($0) }
        try transaction.putMeta(successor, named: MetaName.successor, in: tables.meta)
        try transaction.commit()
        // The state is that of the generation before.
        writer.state = nil
        adopt(target)
    }

    private static func strange(_ directory: LogDirectory) -> EventLogError {
        EventLogError(
            .damaged,
            operation: "open log at",
            object: directory.path,
            reason: "the identity in FORMAT is not that of the data",
            advice: "the files of two logs are mixed; restore a backup"
        )
    }
}

// MARK: - The one log of a path

extension LogCore {
    private struct Weak {
        weak var core: LogCore?
    }

    /// By resolved path. Held while a log is opened, so that two threads do not open the same one; opening another log
    /// waits as well.
    private static let open = Mutex<[String: Weak]>([:])

    /// The log at a path; the same object for the same directory for as long as it is referenced.
    static func shared(at path: String, mapBytes: Int, pages: PageTrust) throws -> LogCore {
        guard let directory = try LogDirectory(existingAt: Directory.resolved(path) ?? path),
            let format = try directory.format()
        else { throw noLog(path) }
        return try open.withLock { open in
            // Another identity means that the log was removed and another one made at its path.
            if let core = open[directory.path]?.core, core.identity == format.identity {
                try EventLogError.wrapping("open log at", path) { try core.generations.share(pages) }
                return core
            }
            let core = try EventLogError.wrapping("open log at", path) {
                try directory.checkEntries()
                return try LogCore(directory: directory, identity: format.identity, mapBytes: mapBytes, pages: pages)
            }
            open = open.filter { $0.value.core != nil }
            open[directory.path] = Weak(core: core)
            return core
        }
    }

    private static func noLog(_ path: String) -> EventLogError {
        EventLogError(
            .noLog,
            operation: "open log at",
            object: path,
            reason: Directory.kind(of: path) == .nothing ? "there is nothing" : "there is no log",
            advice: "record or import something to make one"
        )
    }
}
