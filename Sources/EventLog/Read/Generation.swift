import CLMDB
import Synchronization

/// One generation of a log: an LMDB environment that holds the whole log until a rewrite replaces it.
final class Generation: Sendable {
    let number: UInt32
    let directory: LogDirectory
    let folder: Folder
    let environment: Environment
    /// Keeps every lane of the generation that was read, for as long as the generation is open.
    let lanes: LaneTable
    /// False if the system lets this process only read the files. Then it uses no derived data either.
    let isWritable: Bool
    /// Its derived data; `nil` before the first use, and while none exists. The lock is held while the store is opened
    /// or made, so that this happens once.
    let derived = Mutex<DerivedStore?>(nil)
    /// The upper levels of its hash tree, filled on demand.
    let upperTree = UpperTree()
    /// The blocks of sealed events that were opened last.
    let blocks = OpenBlocks()
    /// The substitutes that the acts of its rewrites name, filled on demand.
    let substitutes = KnownSubstitutes()

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

    /// Opens a generation for writing if the files allow it, otherwise for reading.
    ///
    /// - Throws: `LMDBError`, not found, if the data file is missing; `EventLogError` with code `damaged`.
    static func open(
        directory: LogDirectory,
        number: UInt32,
        lanes: LaneInterner,
        mapBytes: Int = Environment.mapBytesInitial,
        pages: PageTrust = PageTrust()
    ) throws -> Generation {
        // LMDB would create a missing file; only a log's birth and a rewrite may do so (I5).
        let data = try DataFile(in: folder(directory, number))
        guard try data.byteCount() > 0 else { throw directory.isEmpty(number) }
        return try directory.naming(number) {
            try PageCheck.checkBeforeOpening(data)
            // From the most rights to the least; only refused access leads to the next.
            let accesses: [Environment.Access] = [.readWrite, .readOnly(locks: true), .readOnly(locks: false)]
            var last = LMDBError(LMDBError.gaveUp, "open \(data.path)")
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

    /// Whether it has blocks of sealed events.
    func isSealed() throws -> Bool { try read { try $0.sealing() != nil } }

    /// Runs `body` on the newest committed state. The reader must not leave `body`, and neither may bytes that it
    /// lends.
    func read<Result>(_ body: (LogReader) throws -> Result) throws -> Result {
        let transaction = try environment.beginRead()
        let result = try body(LogReader(transaction.view, of: self))
        // Keeps the transaction open until here.
        _ = transaction.view
        return result
    }
}
