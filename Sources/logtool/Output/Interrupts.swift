import EventLog
import Reduction
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Handles SIGINT, SIGTERM, SIGPIPE and SIGBUS.
///
/// A handler may run on any thread at any instant, so it takes no lock and allocates nothing: everything that it reads
/// is atomic and never freed.
enum Interrupts {
    /// SIGINT and SIGTERM end the process at once, with 130 and 143. Nothing needs to be unwound: acknowledged batches
    /// are in the log, and a batch under way is not (I5). SIGPIPE is ignored, so that a closed pipe shows as a failed
    /// write.
    ///
    /// SIGBUS for a page of a log's file ends the process with one line and 3, or 2 if the disk is full.
    static func install() {
        // Initialized here: in a handler, first use would wait for the lock of lazy initialization.
        ProcessGroups.prepare()
        _ = farewell.load(ordering: .relaxed)
        DamagedPages.endProcess()
        signal(SIGPIPE, SIG_IGN)
        signal(SIGINT) { Interrupts.end(by: $0) }
        signal(SIGTERM) { Interrupts.end(by: $0) }
    }

    /// Sets the line that an interrupted process writes to standard error, replacing the last one. Any thread may call
    /// it.
    static func leave(_ line: String) {
        // The last line is never freed, because a handler may be writing it.
        farewell.store(strdup(line + "\n"), ordering: .releasing)
    }

    /// The handler. A pager keeps the terminal until it ends, so it is waited for: its output stays readable, and the
    /// shell waits.
    private static func end(by number: Int32) {
        ProcessGroups.killAll()
        if let line = farewell.load(ordering: .acquiring) { _ = write(2, line, strlen(line)) }
        Pager.waitUntilItEnds()
        _exit(128 + number)
    }

    /// Unsafe but sound: an atomic pointer to memory that is never freed, which threads and a handler may read at any
    /// time.
    nonisolated(unsafe) private static let farewell = Atomic<UnsafeMutablePointer<CChar>?>(nil)
}
