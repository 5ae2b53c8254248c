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
            mapBytes: mapBytes
        )
        self.lanes = LaneTable(interner: lanes)
        if case .readOnly = access { isWritable = false } else { isWritable = true }
    }

    /// Opens for writing where that is allowed, else for reading.
    static func open(
        directory: LogDirectory,
        number: UInt32,
        lanes: LaneInterner,
        mapBytes: Int = Environment.mapBytesInitial
    ) throws -> Generation {
        // LMDB would make a file that is missing; a log's files are made only at its birth and by a rewrite (I5).
        let data = try DataFile(in: folder(directory, number))
        let file = data.path
        guard try data.byteCount() > 0 else { throw LMDBError(MDB_INVALID, "open \(file), which is empty") }
        try checkMetas(of: data)
        let accesses: [Environment.Access] = [.readWrite, .readOnly(locks: true), .readOnly(locks: false)]
        var last = LMDBError(0, "open \(file)")
        for access in accesses {
            do {
                return try Generation(
                    directory: directory,
                    number: number,
                    access: access,
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

    private static func folder(_ directory: LogDirectory, _ number: UInt32) throws -> Folder {
        if let folder = try directory.generation(number) { return folder }
        throw LMDBError(notFoundErrno, "open \(directory.folder.path(of: LogDirectory.generationName(number)))")
    }

    /// Looks at what LMDB believes without looking: the meta pages, and whether the file is as long as they say. A file
    /// that was cut off would end this process by SIGBUS.
    private static func checkMetas(of file: DataFile) throws {
        for attempt in 0..<20 {
            do {
                let metas = try PageCheck.checkedMetas(file)
                try PageCheck.checkLastFreed(file, metas)
                let newest = metas.0.transaction > metas.1.transaction ? metas.0 : metas.1
                // The last pages may be free ones that were never written; else something is lost.
                if try file.byteCount() < (newest.lastPage + 1) * newest.pageSize { try PageCheck.run(file) }
                return
            } catch let damage as PageCheck.Damage {
                // Another process may commit between the reading of the two pages.
                guard attempt == 19 else {
                    pause(milliseconds: 1)
                    continue
                }
                throw LMDBError(MDB_CORRUPTED, "read page \(damage.page) of the data file: \(damage.reason)")
            }
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
