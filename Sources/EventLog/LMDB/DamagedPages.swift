import CLMDB
import Synchronization

/// What becomes of a process that meets a damaged page although all pages were looked at when the file was opened: the
/// file was altered, cut off or became unreadable while it was mapped.
public enum DamagedPages {
    static let endsProcess = Atomic<Bool>(false)

    /// Lets it end with one line on standard error and exit code 3, in place of SIGBUS for a page that is not there any
    /// more and of SIGABRT for an assertion of LMDB. For programs, before they open a log; it sets a signal handler.
    public static func endProcess() {
        endsProcess.store(true, ordering: .relaxed)
        clmdb_catch_bus_errors()
    }
}
