import CLMDB
import Synchronization

/// The directories of LMDB that are open in this process. None is opened twice: to close one environment would drop the
/// other's file locks.
enum OpenDirectories {
    private static let paths = Mutex(Set<String>())

    /// Adds a directory. Waits at most ten seconds for this process to close it.
    ///
    /// - Throws: `LMDBError` after that time.
    static func claim(_ directory: String) throws(LMDBError) {
        for _ in 0..<2000 {
            if paths.withLock({ $0.insert(directory).inserted }) { return }
            pause(milliseconds: 5)
        }
        throw LMDBError(MDB_BAD_TXN, "open \(directory) twice in one process")
    }

    static func disclaim(_ directory: String) {
        paths.withLock { _ = $0.remove(directory) }
    }
}
