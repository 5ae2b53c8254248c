import EventLog
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// What SIGINT, SIGTERM, SIGPIPE and SIGBUS do.
enum Interrupts {
    /// SIGINT and SIGTERM end the process at once with 130 and 143: what was acknowledged is in the log, and a batch
    /// under way is not (I5), so nothing needs to be unwound. A reader that closes the pipe shows as a failed write.
    ///
    /// SIGBUS for a page of a log's file ends it with a line and 3.
    static func install() {
        // A handler must not be the first to need them: it would wait for the lock of their making.
        _ = (groups, farewell.load(ordering: .relaxed))
        DamagedPages.endProcess()
        signal(SIGPIPE, SIG_IGN)
        signal(SIGINT) { Interrupts.end(by: $0) }
        signal(SIGTERM) { Interrupts.end(by: $0) }
    }

    /// Sets the line that an interrupted process leaves on standard error, in place of the last one.
    static func leave(_ line: String) {
        // The last one is not freed: a handler may be writing it.
        farewell.store(strdup(line + "\n"), ordering: .releasing)
    }

    /// Runs `body` while the processes of a group end with this one. They do not get the terminal's SIGINT themselves.
    static func ending<Result>(group: pid_t, during body: () throws -> Result) rethrows -> Result {
        let slot = (0..<groupsMax).first {
            groups[$0].compareExchange(expected: 0, desired: group, ordering: .relaxed).exchanged
        }
        defer { if let slot { groups[slot].store(0, ordering: .relaxed) } }
        return try body()
    }

    /// A pager has the terminal until it ends: what it was given stays readable, and the shell waits.
    private static func end(by number: Int32) {
        for slot in 0..<groupsMax {
            let group = groups[slot].load(ordering: .relaxed)
            if group > 0 { kill(-group, SIGKILL) }
        }
        if let line = farewell.load(ordering: .acquiring) { _ = write(2, line, strlen(line)) }
        Pager.waitUntilItEnds()
        _exit(128 + number)
    }

    /// Its pieces of memory live as long as the process, so that several threads and a handler may hold one.
    nonisolated(unsafe) private static let farewell = Atomic<UnsafeMutablePointer<CChar>?>(nil)

    /// The process groups that end with this process; 0 is a free place. A handler reads it without a lock.
    nonisolated(unsafe) private static let groups = {
        let places = UnsafeMutablePointer<Atomic<pid_t>>.allocate(capacity: groupsMax)
        for place in 0..<groupsMax { (places + place).initialize(to: Atomic(0)) }
        return places
    }()

    /// As many commands as run at once, one for each core.
    private static let groupsMax = 1_024
}
