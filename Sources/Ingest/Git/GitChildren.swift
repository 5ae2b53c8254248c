import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The programs that run for one source.
///
/// Any thread may call `end`. Ending the programs wakes a source that waits for one of them: it sees the end of its
/// output, and fails.
final class GitChildren: Sendable {
    private struct State {
        /// The processes that are not reaped yet, so the system cannot have given their ids to others.
        var running: Set<pid_t> = []
        var isEnded = false

        func kill(_ process: pid_t) {
            guard running.contains(process) else { return }
            // The process group exists only once the program runs; before that, signal the process itself.
            if !SystemCall.kill(-process, SIGKILL) { _ = SystemCall.kill(process, SIGKILL) }
        }
    }

    private let state = Mutex(State())

    /// A program that runs or has ended.
    struct Child {
        fileprivate let process: pid_t
        fileprivate let children: GitChildren

        /// Ends the program and everything that it started.
        func kill() {
            children.state.withLock { $0.kill(process) }
        }

        /// Waits for the program's end; returns its exit status, or 128 and the signal's number. Call it once.
        func wait() -> Int32 {
            children.wait(for: process)
        }
    }

    /// Starts a program, unless `end` was called.
    ///
    /// - Throws: `IngestError` with code `io` after `end`; the errors of `spawn`.
    func start(_ subject: String, _ spawn: () throws(IngestError) -> pid_t) throws(IngestError) -> Child {
        // The program starts under the lock, so `end` either prevents it or finds its id.
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

    /// Ends all programs; from then on `start` throws.
    func end() {
        state.withLock { state in
            state.isEnded = true
            for process in state.running { state.kill(process) }
        }
    }

    /// Blocks until the program has ended, and reaps it. Returns 255 if the system does not tell the status.
    private func wait(for process: pid_t) -> Int32 {
        var information = siginfo_t()
        // Waits without reaping, then reaps under the lock: once an id is reaped it may belong to another program,
        // which `kill` must not hit.
        while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        return state.withLock { state in
            assert(state.running.contains(process), "a program is reaped once")
            state.running.remove(process)
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0 {
                if errno != EINTR { return 255 }
            }
            // The bits of a status by `waitpid`: the low seven are the signal, the second byte is the exit status.
            let signal = status & 0x7F
            return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
        }
    }
}
