#if Recorders
import EventLog
import Synchronization

/// The thread that appends one recorder's events. It alone uses the `Recorder`.
///
/// An append blocks until the disk has the events (I5); event loops and tasks must not block, so a thread does it. The
/// thread ends once the queue was finished and is empty, or with the first error; so every start must be followed by
/// `finish`.
final class AppendThread: Sendable {
    private let queue: SourceBatchQueue
    private let ending: Ending

    /// The pause before a batch is tried again while another process holds the log's lock.
    private static let lockedPause = Duration.seconds(1)

    /// Takes the source's lock and starts to append the queue's batches; also returns what the log holds of the source.
    ///
    /// - Throws: as `Recorder.init`.
    static func start(
        _ queue: SourceBatchQueue,
        store: EventStore,
        source: SourceName,
        observer: RecordingObserver
    ) async throws -> (AppendThread, RecordedHistory) {
        let ending = Ending()
        // The recorder is made on the thread, because taking the lock and reading the past block, too.
        let history = try await withCheckedThrowingContinuation { continuation in
            DetachedThread.start(stackBytes: 1 << 20) {
                let recorder: Recorder
                do {
                    recorder = try Recorder(store: store, source: source, progress: observer.progress)
                    continuation.resume(returning: try recorder.history())
                } catch {
                    return continuation.resume(throwing: error)
                }
                // Behind the answer: from here on the caller may already add pieces.
                ending.set(Result { try Self.appendAll(queue, recorder, observer) })
            }
        }
        return (AppendThread(queue: queue, ending: ending), history)
    }

    private init(queue: SourceBatchQueue, ending: Ending) {
        self.queue = queue
        self.ending = ending
    }

    /// Appends everything that waits, releases the source's lock and returns the counts. Cancellation does not stop it.
    func finish() async throws -> IngestSummary {
        queue.finish()
        return try await ending.value().get()
    }

    /// Appends until the queue ends. An error ends the queue, so that the tasks that wait for room learn of it.
    private static func appendAll(
        _ queue: SourceBatchQueue,
        _ recorder: Recorder,
        _ observer: RecordingObserver
    ) throws -> IngestSummary {
        do {
            var writing = Writing()
            while let batch = queue.takeBatch() {
                let next = Writing(count: batch.count)
                // The appender writes this batch while the next one is collected and prepared.
                try patiently(queue, recorder) { try recorder.append(batch) }
                writing.end(queue, observer)
                writing = next
                // With nothing to prepare, waits until the last batch is durable: a flush may wait for that, and the
                // last events of a source that falls silent must not wait for its next ones.
                guard queue.isEmpty else { continue }
                try patiently(queue, recorder) { try recorder.flush() }
                writing.end(queue, observer)
            }
            return try recorder.finish()
        } catch {
            let error = recorder.counting(error)
            queue.fail(error)
            throw error
        }
    }

    /// A batch that is not durable yet, and since when.
    private struct Writing {
        /// The pieces of the batch, skipped ones included; 0 once it is reported.
        private var count = 0
        private let start = ContinuousClock.now

        init(count: Int = 0) { self.count = count }

        /// Reports the batch as durable; later calls do nothing.
        mutating func end(_ queue: SourceBatchQueue, _ observer: RecordingObserver) {
            guard count > 0 else { return }
            observer.appended(count, in: ContinuousClock.now - start)
            queue.noteStored(count)
            count = 0
        }
    }

    /// Runs `body`, and tries again while another writer holds the log's lock. Meanwhile the queue fills, so the remote
    /// is read no further.
    private static func patiently(
        _ queue: SourceBatchQueue,
        _ recorder: Recorder,
        _ body: @escaping () throws -> Void
    ) throws {
        var attempt = body
        while true {
            do {
                return try attempt()
            } catch let error as EventLogError where error.code == .locked {
                guard queue.pause(lockedPause) else { throw error }
                // The recorder already holds everything that was to be appended.
                attempt = { try recorder.flush() }
            }
        }
    }
}

/// The result of the thread's work. Set once; one task waits for it, before or after.
private final class Ending: Sendable {
    private struct State {
        var result: Result<IngestSummary, any Error>?
        var waiter: CheckedContinuation<Result<IngestSummary, any Error>, Never>?
    }

    private let state = Mutex(State())

    func set(_ result: Result<IngestSummary, any Error>) {
        let waiter = state.withLock { state in
            assert(state.result == nil, "the thread ends once")
            state.result = result
            return state.waiter
        }
        waiter?.resume(returning: result)
    }

    func value() async -> Result<IngestSummary, any Error> {
        await withCheckedContinuation { continuation in
            let result = state.withLock { state in
                if state.result == nil { state.waiter = continuation }
                return state.result
            }
            if let result { continuation.resume(returning: result) }
        }
    }
}
#endif
