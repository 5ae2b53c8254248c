import Synchronization

#if canImport(Glibc)
package import Glibc
#elseif canImport(Darwin)
package import Darwin
#endif

/// The process groups that end with this process.
///
/// A handler of signals may run on any thread at any instant, so everything that `killAll` reads is atomic and never freed.
package enum ProcessGroups {
    /// Makes everything that `killAll` reads. A program calls it before it installs its handler: in a handler, first use would
    /// wait for the lock of lazy initialization.
    package static func prepare() {
        _ = (groups, isEnding.load(ordering: .relaxed))
    }

    /// Starts a process group and runs `body`; meanwhile, an interrupt also kills the group. The terminal's SIGINT does
    /// not reach it.
    ///
    /// After an interrupt it does not return: `body` would report the killed group as the result of its own run while
    /// the handler, on another thread, ends the process.
    ///
    /// - Parameter start: starts the group and returns its id. The group's mask of signals is up to it.
    package static func ending<Result>(
        group start: () throws -> pid_t,
        during body: (pid_t) throws -> Result
    ) rethrows -> Result {
        let (slot, group) = try enter(start)
        defer {
            waitIfEnding()
            slot?.pointee.store(0, ordering: .sequentiallyConsistent)
        }
        return try body(group)
    }

    /// Waits until the process that leads a group ends, and ends what it left in the group. Polls, because no wait has a time
    /// limit; the pauses grow from 0.2 to 20 ms, so that fast commands are not slowed down.
    ///
    /// - Parameter isOver: asked before each pause; true kills the group.
    /// - Returns: how it ended, `timedOut` if it was killed for `isOver`; `nil`, with the reason in `errno`, if there is no such
    ///   process.
    package static func wait(for leader: pid_t, killingIf isOver: () -> Bool) -> TestCommand.Ending? {
        var pause: UInt32 = 200
        while true {
            var status: Int32 = 0
            let answer = waitpid(leader, &status, WNOHANG)
            if answer == leader {
                kill(-leader, SIGKILL)
                // A signal in the low 7 bits, else an exit code above the low 8. Swift does not import the macros for them.
                let signal = status & 0x7F
                return signal == 0 ? .code(status >> 8 & 0xFF) : .signal(signal)
            }
            if answer < 0 && errno != EINTR { return nil }
            if isOver() {
                kill(-leader, SIGKILL)
                waitpid(leader, &status, 0)
                return .timedOut
            }
            usleep(pause)
            pause = min(pause * 2, 20_000)
        }
    }

    /// Starts a group and puts it into a slot. The handler cannot run on this thread meanwhile, and on another thread
    /// it waits for a group that is starting, so no group is left alone.
    private static func enter(_ start: () throws -> pid_t) rethrows -> (UnsafeMutablePointer<Atomic<pid_t>>?, pid_t) {
        var (blocked, former) = (sigset_t(), sigset_t())
        sigemptyset(&blocked)
        for signal in [SIGINT, SIGTERM] { sigaddset(&blocked, signal) }
        pthread_sigmask(SIG_BLOCK, &blocked, &former)
        defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
        let slot = (0..<groupsMax).lazy.map { groups + $0 }.first {
            $0.pointee.compareExchange(expected: 0, desired: starting, ordering: .sequentiallyConsistent).exchanged
        }
        if isEnding.load(ordering: .sequentiallyConsistent) {
            // The handler may have passed the slot already, or is waiting for it.
            slot?.pointee.store(0, ordering: .sequentiallyConsistent)
            waitIfEnding()
        }
        do {
            let group = try start()
            assert(group > 0, "killing group 0 would kill this process")
            slot?.pointee.store(group, ordering: .sequentiallyConsistent)
            return (slot, group)
        } catch {
            slot?.pointee.store(0, ordering: .sequentiallyConsistent)
            throw error
        }
    }

    /// Returns only if no handler is ending the process. `pause` sleeps until a signal; `_exit` then ends this thread,
    /// too.
    private static func waitIfEnding() {
        while isEnding.load(ordering: .sequentiallyConsistent) { pause() }
    }

    /// Kills all groups. For a handler of signals, which ends the process afterwards.
    package static func killAll() {
        isEnding.store(true, ordering: .sequentiallyConsistent)
        for slot in 0..<groupsMax {
            var group = groups[slot].load(ordering: .sequentiallyConsistent)
            // The thread that is starting the group has blocked the signals, so it goes on and soon stores the group's
            // id.
            for _ in 0..<startTriesMax where group == starting {
                usleep(1_000)
                group = groups[slot].load(ordering: .sequentiallyConsistent)
            }
            if group > 0 { kill(-group, SIGKILL) }
        }
    }

    /// True once a handler has begun to end the process.
    private static let isEnding = Atomic(false)

    /// The process groups that end with this process; 0 marks a free slot, `starting` one that is taken. Sound without
    /// a lock, which a handler could not take: the slots are atomic and their memory is never freed.
    nonisolated(unsafe) private static let groups = {
        let places = UnsafeMutablePointer<Atomic<pid_t>>.allocate(capacity: groupsMax)
        for place in 0..<groupsMax { (places + place).initialize(to: Atomic(0)) }
        return places
    }()

    private static let starting: pid_t = -1
    /// How often the handler looks again for a group that is starting, a millisecond apart: two seconds, far longer
    /// than a fork takes.
    private static let startTriesMax = 2_000
    /// More than the commands that run at once, one for each core.
    private static let groupsMax = 1_024
}
