import CLMDB
import Synchronization

/// One generation of a log: an LMDB environment that holds all of it, until a rewrite makes the next.
final class Generation: Sendable {
    let number: UInt32
    let directory: LogDirectory
    let folder: Folder
    let environment: Environment
    let lanes: LaneTable
    let isWritable: Bool
    /// What is derived from it, once somebody has looked for it.
    let derived = Mutex<DerivedStore?>(nil)
    /// The upper levels of its hash tree, as far as somebody has needed them.
    let upperTree = UpperTree()

    var tables: LogTables { LogTables(environment.tables) }
    var logPath: String { directory.path }

    init(
        directory: LogDirectory,
        number: UInt32,
        access: Environment.Access,
        pages: Environment.Pages,
        lanes: LaneInterner,
        mapBytes: Int = Environment.mapBytesInitial
    ) throws {
        self.number = number
        self.directory = directory
        folder = try Self.folder(directory, number)
        environment = try Environment(
            folder: folder,
            tables: LogTables.names,
            access: access,
            pages: pages,
            mapBytes: mapBytes
        )
        self.lanes = LaneTable(interner: lanes)
        if case .readOnly = access { isWritable = false } else { isWritable = true }
    }

    /// Opens for writing where that is allowed, else for reading.
    ///
    /// - Throws: `LMDBError`, not found, where the data file is missing; `EventLogError` with code `damaged`.
    static func open(
        directory: LogDirectory,
        number: UInt32,
        lanes: LaneInterner,
        mapBytes: Int = Environment.mapBytesInitial,
        pages: PageTrust = PageTrust()
    ) throws -> Generation {
        // LMDB would make a file that is missing; a log's files are made only at its birth and by a rewrite (I5).
        let data = try DataFile(in: folder(directory, number))
        guard try data.byteCount() > 0 else { throw directory.isEmpty(number) }
        return try directory.naming(number) {
            try PageCheck.checkBeforeOpening(data)
            let accesses: [Environment.Access] = [.readWrite, .readOnly(locks: true), .readOnly(locks: false)]
            var last = LMDBError(0, "open \(data.path)")
            for access in accesses {
                do {
                    return try Generation(
                        directory: directory,
                        number: number,
                        access: access,
                        pages: pages.inEnvironment,
                        lanes: lanes,
                        mapBytes: mapBytes
                    )
                } catch let error as LMDBError {
                    guard error.isRefusedAccess else { throw error }
                    last = error
                }
            }
            throw last
        }
    }

    private static func folder(_ directory: LogDirectory, _ number: UInt32) throws -> Folder {
        if let folder = try directory.generation(number) { return folder }
        throw LMDBError(notFoundErrno, "open \(directory.folder.path(of: LogDirectory.generationName(number)))")
    }

    /// Reads the newest prefix.
    func read<Result>(_ body: (LogReader) throws -> Result) throws -> Result {
        let transaction = try environment.beginRead()
        let result = try body(LogReader(transaction.view, of: self))
        _ = transaction.view
        return result
    }
}
