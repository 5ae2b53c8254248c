import Dispatch
import EventLog
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Writes to a file descriptor on a thread of its own, so that `submit` never waits for the reader.
///
/// A caller that waited here could not read the program's output, and both would block. Owns the descriptor. The thread
/// keeps the writer alive until `finish` was called or a write failed, so the owner must call `finish`.
final class PipeWriter: Sendable {
    private struct State {
        var queue: [[UInt8]] = []
        var isFinished = false
    }

    private let descriptor: Int32
    private let state = Mutex(State())
    /// Signalled after each change of the state.
    private let changed = DispatchSemaphore(value: 0)

    init(owning descriptor: Int32) {
        self.descriptor = descriptor
        DetachedThread.start { self.run() }
    }

    /// Queues bytes to be written, without a limit. After a failed write they are never written.
    func submit(_ bytes: [UInt8]) {
        state.withLock { $0.queue.append(bytes) }
        changed.signal()
    }

    /// Closes the descriptor once everything queued is written; does not wait for that. May be called again.
    func finish() {
        state.withLock { $0.isFinished = true }
        changed.signal()
    }

    private func run() {
        Self.blockBrokenPipeSignal()
        while let chunk = nextChunk() {
            // If the program no longer reads, the reader of its output finds that out and reports why.
            guard write(chunk) else { break }
        }
        _ = close(descriptor)
    }

    /// Everything queued, as one piece, so that many small submits cost one system call; `nil` once all is written and
    /// `finish` was called. Blocks while nothing is queued.
    private func nextChunk() -> [UInt8]? {
        while true {
            let state = self.state.withLock { state in
                defer { state.queue.removeAll(keepingCapacity: true) }
                return state
            }
            if !state.queue.isEmpty { return Array(state.queue.joined()) }
            if state.isFinished { return nil }
            // The semaphore counts every change, also those that were already seen, so a wait may return early. The
            // loop looks again.
            changed.wait()
        }
    }

    /// Writes all bytes; false if the reader has closed its end or the write failed otherwise.
    private func write(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { buffer in
            var offset = 0
            while offset < buffer.count {
                let count = SystemCall.write(descriptor, buffer.baseAddress.map { $0 + offset }, buffer.count - offset)
                if count < 0, errno != EINTR { return false }
                offset += max(0, count)
                assert(offset <= buffer.count, "no more is written than there is")
            }
            return true
        }
    }

    /// Blocks SIGPIPE in this thread: writing to a pipe that nobody reads must fail here, not end the process. The
    /// action for the whole process stays as it is, because that belongs to the program that uses this library.
    private static func blockBrokenPipeSignal() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}
