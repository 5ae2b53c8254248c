import EventLog
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Handles SIGINT, SIGTERM, SIGPIPE and SIGBUS.
enum Interrupts {
    /// SIGINT and SIGTERM end the process at once, with 130 and 143. Nothing needs to be unwound: acknowledged batches
    /// are in the log, and a batch under way is not (I5). SIGPIPE is ignored, so that a closed pipe shows as a failed
    /// write.
    ///
    /// SIGBUS for a page of a log's file ends the process with one line and 3.
    static func install() {
        // Initialized here: in a handler, first use would wait for the lock of lazy initialization.
        _ = (groups, farewell.load(ordering: .relaxed))
        DamagedPages.endProcess()
        signal(SIGPIPE, SIG_IGN)
        signal(SIGINT) { Interrupts.end(by: $0) }
        signal(SIGTERM) { Interrupts.end(by: $0) }
    }

    /// Sets the line that an interrupted process writes to standard error, replacing the last one.
    static func leave(_ line: String) {
        // The last line is never freed, because a handler may be writing it.
        farewell.store(strdup(line + "\n"), ordering: .releasing)
    }

    /// Runs `body`; meanwhile, an interrupt also kills the process group. The terminal's SIGINT does not reach that
    /// group.
    static func ending<Result>(group: pid_t, during body: () throws -> Result) rethrows -> Result {
        assert(group > 0, "0 marks a free slot, and killing group 0 would kill this process")
        let slot = (0..<groupsMax).first {
            groups[$0].compareExchange(expected: 0, desired: group, ordering: .relaxed).exchanged
        }
        defer { if let slot { groups[slot].store(0, ordering: .relaxed) } }
        return try body()
    }

    /// The handler. A pager keeps the terminal until it ends, so it is waited for: its output stays readable, and the
    /// shell waits.
    private static func end(by number: Int32) {
        for slot in 0..<groupsMax {
            let group = groups[slot].load(ordering: .relaxed)
            if group > 0 { kill(-group, SIGKILL) }
        }
        if let line = farewell.load(ordering: .acquiring) { _ = write(2, line, strlen(line)) }
        Pager.waitUntilItEnds()
        _exit(128 + number)
    }

    /// Unsafe but sound: an atomic pointer to memory that is never freed, which threads and a handler may read at any
    /// time.
    nonisolated(unsafe) private static let farewell = Atomic<UnsafeMutablePointer<CChar>?>(nil)

    /// The process groups that end with this process; 0 marks a free slot. Sound without a lock, which a handler could
    /// not take: the slots are atomic and their memory is never freed.
    nonisolated(unsafe) private static let groups = {
        let places = UnsafeMutablePointer<Atomic<pid_t>>.allocate(capacity: groupsMax)
        for place in 0..<groupsMax { (places + place).initialize(to: Atomic(0)) }
        return places
    }()

    /// More than the commands that run at once, one for each core.
    private static let groupsMax = 1_024
}
