import CLMDB
import Synchronization

/// How a process ends when it reads a damaged page of an open file.
///
/// All pages were checked when the file was opened (I24). So something has altered the file, truncated it or made it
/// unreadable since then.
package enum DamagedPages {
    /// Whether `endProcess` was called. `Environment` reads it whenever it opens its files.
    static let endsProcess = Atomic<Bool>(false)

    /// Ends the process with one line on standard error and exit code 3, instead of SIGBUS for a mapped page that is
    /// gone or SIGABRT for a failed assertion of LMDB. A shared table of readers that finds no room is a full disk and
    /// exit code 2: `Folder.reserveReaderTable` prevents that where the file system can reserve room.
    ///
    /// For programs, not for libraries: it sets the process's handler for SIGBUS. Call it before a log is opened.
    package static func endProcess() {
        endsProcess.store(true, ordering: .relaxed)
        clmdb_catch_bus_errors()
    }
}
