import CLMDB
import Synchronization

/// The directories of LMDB that are open in this process. None is opened twice: its locks are POSIX locks (`fcntl`),
/// which belong to the process, so closing one environment would drop the locks of the other. Directories compare by
/// their paths as texts.
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

    /// Removes a directory, once its environment is closed or could not be opened.
    static func disclaim(_ directory: String) {
        paths.withLock { _ = $0.remove(directory) }
    }
}
