import EventLog

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// What SIGINT, SIGTERM, SIGPIPE and SIGBUS do.
enum Interrupts {
    /// SIGINT and SIGTERM end the process at once with 130 and 143: what was acknowledged is in the log, and a batch
    /// under way is not (C5), so nothing needs to be unwound. A reader that closes the pipe shows as a failed write.
    ///
    /// SIGBUS for a page of a log's file ends it with a line and 3.
    static func install() {
        DamagedPages.endProcess()
        signal(SIGPIPE, SIG_IGN)
        signal(SIGINT) { Interrupts.end(by: $0) }
        signal(SIGTERM) { Interrupts.end(by: $0) }
    }

    /// A pager has the terminal until it ends: what it was given stays readable, and the shell waits.
    private static func end(by number: Int32) {
        Pager.waitUntilItEnds()
        _exit(128 + number)
    }
}
