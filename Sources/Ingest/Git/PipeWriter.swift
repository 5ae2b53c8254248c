import Foundation

/// Writes to a file descriptor on a thread of its own, so that whoever submits never waits for the other end and so
/// cannot block it by not reading. Owns the descriptor.
final class PipeWriter: @unchecked Sendable {
    private let descriptor: Int32
    private let condition = NSCondition()
    // Guarded by `condition`.
    private var queue: [[UInt8]] = []
    private var isFinished = false

    init(owning descriptor: Int32) {
        self.descriptor = descriptor
        let thread = Thread { self.run() }
        thread.stackSize = 512 << 10
        thread.start()
    }

    /// Queues bytes to be written.
    func submit(_ bytes: [UInt8]) {
        condition.withLock {
            queue.append(bytes)
            condition.signal()
        }
    }

    /// Closes the descriptor after what is queued.
    func finish() {
        condition.withLock {
            isFinished = true
            condition.signal()
        }
    }

    private func run() {
        Self.blockBrokenPipeSignal()
        while let chunk = nextChunk() {
            // A reader that has gone shows at the reading end of its output, with what it said about it.
            guard write(chunk) else { break }
        }
        _ = close(descriptor)
    }

    private func nextChunk() -> [UInt8]? {
        condition.withLock {
            while queue.isEmpty, !isFinished { condition.wait() }
            guard !queue.isEmpty else { return nil }
            let chunk = queue.count == 1 ? queue[0] : Array(queue.joined())
            queue.removeAll(keepingCapacity: true)
            return chunk
        }
    }

    private func write(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { buffer in
            var offset = 0
            while offset < buffer.count {
                let count = Foundation.write(descriptor, buffer.baseAddress.map { $0 + offset }, buffer.count - offset)
                if count < 0, errno != EINTR { return false }
                offset += max(0, count)
            }
            return true
        }
    }

    /// Writing to a pipe that nobody reads must fail here instead of ending the process.
    private static func blockBrokenPipeSignal() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}
