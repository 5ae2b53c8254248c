import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The programs that run for one source. Ending them lets a source that waits for one of them go on, to an error.
final class GitChildren: Sendable {
    private struct State {
        /// Not reaped yet, so their ids are nobody else's.
        var running: Set<pid_t> = []
        var isEnded = false

        func kill(_ process: pid_t) {
            guard running.contains(process) else { return }
            // The group exists once the program runs; before that, the process alone does.
            if !SystemCall.kill(-process, SIGKILL) { _ = SystemCall.kill(process, SIGKILL) }
        }
    }

    private let state = Mutex(State())

    /// A program that runs or has ended.
    struct Child {
        fileprivate let process: pid_t
        fileprivate let children: GitChildren

        /// Ends it and all that it has started.
        func kill() {
            children.state.withLock { $0.kill(process) }
        }

        /// Waits for its end; to be called once.
        func wait() -> Int32 {
            children.wait(for: process)
        }
    }

    /// Starts a program. After `end` none starts.
    func start(_ subject: String, _ spawn: () throws(IngestError) -> pid_t) throws(IngestError) -> Child {
        let process = try state.withLock { (state: inout sending State) throws(IngestError) -> pid_t in
            guard !state.isEnded else {
                throw IngestError(.io, operation: "ingest git", object: subject, reason: "it was ended")
            }
            let process = try spawn()
            state.running.insert(process)
            return process
        }
        return Child(process: process, children: self)
    }

    /// Ends all programs, and lets no other start.
    func end() {
        state.withLock { state in
            state.isEnded = true
            for process in state.running { state.kill(process) }
        }
    }

    private func wait(for process: pid_t) -> Int32 {
        var information = siginfo_t()
        // Seen to end first, and reaped under the lock: an id that is reaped may be another program's at once.
        while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        return state.withLock { state in
            state.running.remove(process)
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0 {
                if errno != EINTR { return 255 }
            }
            let signal = status & 0x7F
            return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
        }
    }
}
