import Synchronization

/// One log, open once in this process, shared by all stores that were opened at its path.
final class LogCore: Sendable {
    let directory: LogDirectory
    let identity: [UInt8]
    let interner = LaneInterner()
    let queue = AppendQueue()
    let writer: LogWriter
    private let generation: Mutex<Generation>

    private init(directory: LogDirectory, identity: [UInt8]) throws {
        self.directory = directory
        self.identity = identity
        let newest = try Self.openNewest(in: directory, lanes: interner)
        let stored = try newest.read { try $0.meta(MetaName.identity) }
        guard stored == identity else { throw Self.strange(directory) }
        generation = Mutex(newest)
        writer = LogWriter()
    }

    /// The newest generation that this process knows of.
    var current: Generation { generation.withLock { $0 } }

    /// Moves on to the generation that took a former one's place; `former` is what the caller has seen replaced.
    func follow(from former: Generation) throws -> Generation {
        let known = current
        if known.number != former.number { return known }
        let newest = try Self.openNewest(in: directory, lanes: interner)
        return generation.withLock { current in
            if current.number < newest.number { current = newest }
            return current
        }
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

    private static let open = Mutex<[String: Weak]>([:])

    /// The log at a path; the same object for the same directory as long as somebody holds it.
    static func shared(at path: String) throws -> LogCore {
        let directory = LogDirectory(path: Directory.resolved(path) ?? path)
        guard let format = try directory.format() else { throw noLog(path) }
        return try open.withLock { open in
            if let core = open[directory.path]?.core, core.identity == format.identity { return core }
            let core = try EventLogError.wrapping("open log at", path) {
                try LogCore(directory: directory, identity: format.identity)
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

    /// Opens the first generation that lies there and follows the successors from it.
    private static func openNewest(in directory: LogDirectory, lanes: LaneInterner) throws -> Generation {
        var last: any Error = LMDBError(notFoundErrno, "open a generation")
        for _ in 0..<50 {
            do {
                guard let first = try directory.generations().first else { break }
                return try newest(from: first, in: directory, lanes: lanes)
            } catch let error as LMDBError {
                // Another process may have removed a generation that was just replaced: look again.
                guard error.isNotFound else { throw error }
                last = error
                pause(milliseconds: 10)
            }
        }
        throw last
    }

    private static func newest(
        from first: UInt32,
        in directory: LogDirectory,
        lanes: LaneInterner
    ) throws -> Generation {
        var generation = try Generation.open(directory: directory, number: first, lanes: lanes)
        while let successor = try generation.read({ try $0.successor() }), successor > generation.number {
            generation = try Generation.open(directory: directory, number: successor, lanes: lanes)
        }
        return generation
    }
}
