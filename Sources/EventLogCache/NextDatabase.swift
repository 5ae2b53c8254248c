import EventLog
import GRDB

/// A new database, made beside a live one as `NAME.next`, whose content then replaces that of the live one.
///
/// No file is renamed over the live one: its pages are replaced in one transaction, so readers keep a whole database
/// (I30).
final class NextDatabase {
    private let folder: Folder
    private let name: String
    /// Keeps other processes from building the same cache.
    private let lock: OpenFile
    private let queue: DatabaseQueue

    /// - Throws: `CacheError` while another process builds the same cache.
    init(beside live: DatabasePool) throws {
        let place = Directory.split(live.path)
        folder = try Folder(at: place.parent)
        name = place.name + ".next"
        lock = try folder.fileMadeIfMissing(name + ".lock")
        guard lock.takeLock() else {
            throw CacheError(
                code: .locked,
                description: "build the cache \"\(live.path)\": another process is building it; try again"
            )
        }
        try folder.removeFile(name)
        // SQLite treats an empty file as an empty database, and keeps the permissions of the file.
        _ = try folder.makeFile(name)
        let pageSize = try live.read { try Int.fetchOne($0, sql: "PRAGMA page_size") } ?? 4096
        var configuration = Configuration()
        // A half-written file is removed, so SQLite need not sync or keep a journal.
        configuration.prepareDatabase { database in
            try database.execute(
                sql: """
                    PRAGMA page_size = \(pageSize); PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
                    PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -16384;
                    """
            )
        }
        configuration.foreignKeysEnabled = false
        queue = try DatabaseQueue(path: folder.path(of: name), configuration: configuration)
    }

    deinit {
        try? queue.close()
        try? folder.removeFile(name)
    }

    /// Fills the database in one transaction.
    func fill(_ body: (Database) throws -> Void) throws {
        try queue.write(body)
    }

    /// Copies the database over a live one in one transaction, then notifies the observations of the live one.
    ///
    /// - Parameter carry: Copies what only the live database has. Nothing else writes to either meanwhile.
    func replace(_ live: DatabasePool, carry: (_ old: Database, _ new: Database) throws -> Void) throws {
        try live.writeWithoutTransaction { old in
            try queue.write { try carry(old, $0) }
            try queue.read { try $0.backup(to: old) }
            try old.inTransaction {
                try old.notifyChanges(in: .fullDatabase)
                return .commit
            }
        }
    }
}
