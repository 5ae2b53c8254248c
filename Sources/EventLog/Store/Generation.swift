import CLMDB

/// One generation of a log: an LMDB environment that holds all of it, until a rewrite makes the next.
final class Generation: Sendable {
    let number: UInt32
    let logPath: String
    let environment: Environment
    let lanes: LaneTable
    let isWritable: Bool

    var tables: LogTables { LogTables(environment.tables) }

    init(directory: LogDirectory, number: UInt32, access: Environment.Access, lanes: LaneInterner) throws {
        self.number = number
        logPath = directory.path
        environment = try Environment(
            directory: directory.generation(number),
            tables: LogTables.names,
            access: access
        )
        self.lanes = LaneTable(interner: lanes)
        if case .readOnly = access { isWritable = false } else { isWritable = true }
    }

    /// Opens for writing where that is allowed, else for reading.
    static func open(directory: LogDirectory, number: UInt32, lanes: LaneInterner) throws -> Generation {
        let file = directory.generation(number) + "/data.mdb"
        // LMDB would make a file that is missing; a log's files are made only at its birth and by a rewrite (I5).
        guard let size = Directory.fileSize(file) else { throw LMDBError(notFoundErrno, "open \(file)") }
        guard size > 0 else { throw LMDBError(MDB_INVALID, "open \(file), which is empty") }
        try checkLength(of: DataFile(file))
        let accesses: [Environment.Access] = [.readWrite, .readOnly(locks: true), .readOnly(locks: false)]
        var last = LMDBError(0, "open \(file)")
        for access in accesses {
            do {
                return try Generation(directory: directory, number: number, access: access, lanes: lanes)
            } catch let error as LMDBError {
                guard error.isRefusedAccess else { throw error }
                last = error
            }
        }
        throw last
    }

    /// A file that was cut off would end this process by SIGBUS as soon as LMDB looks at a page that is gone.
    private static func checkLength(of file: DataFile) throws {
        let pages = file.metaPages().compactMap { $0 }
        guard let newest = pages.max(by: { $0.transaction < $1.transaction }) else {
            throw LMDBError(MDB_INVALID, "find a meta page in the data file")
        }
        guard try file.byteCount() >= (newest.lastPage + 1) * newest.pageSize else {
            throw LMDBError(MDB_CORRUPTED, "read the data file, which is cut off")
        }
    }

    /// Reads the newest prefix.
    func read<Result>(_ body: (LogReader) throws -> Result) throws -> Result {
        let transaction = try environment.beginRead()
        let result = try body(LogReader(transaction.view, of: self))
        _ = transaction.view
        return result
    }
}
