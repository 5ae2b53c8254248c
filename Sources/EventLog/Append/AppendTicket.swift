import Dispatch
import Synchronization

/// One batch on its way into the log, and who receives the result: a thread or a callback.
final class AppendTicket: Sendable {
    /// Why a wait ended.
    enum Wakening {
        case settled(Result<AppendResult, any Error>)
        /// The thread must find out whether it has to commit the waiting batches.
        case called
        case timedOut
    }

    let batch: PreparedBatch
    let bookmark: Bookmark?
    /// Set before the thread is woken; stays `nil` if a callback receives the result.
    private let outcome = Mutex<Result<AppendResult, any Error>?>(nil)
    /// Wakes the thread. A signal too many only wakes it once more, and it looks again.
    private let semaphore = DispatchSemaphore(value: 0)
    /// Receives the result; `nil` if a thread waits for it.
    private let settled: (@Sendable (Result<AppendResult, any Error>) -> Void)?
    /// Has the waiting batches committed; `nil` if the thread that waits does so.
    private let called: (@Sendable () -> Void)?

    /// - Parameters:
    ///   - settled: receives the result; without it, a thread waits with `wait` or `settledResult`.
    ///   - called: must have the waiting batches committed; without it, the thread in `wait` must do so once it is
    ///     called.
    init(
        _ batch: PreparedBatch,
        bookmark: Bookmark?,
        settled: (@Sendable (Result<AppendResult, any Error>) -> Void)? = nil,
        called: (@Sendable () -> Void)? = nil
    ) {
        self.batch = batch
        self.bookmark = bookmark
        self.settled = settled
        self.called = called
    }

    /// Hands over the result, once. Any thread may call it. A callback runs on the calling thread.
    func settle(_ result: Result<AppendResult, any Error>) {
        if let settled { return settled(result) }
        outcome.withLock { outcome in
            assert(outcome == nil, "a ticket is settled once")
            outcome = result
        }
        semaphore.signal()
    }

    /// Has the batches that wait committed.
    func call() {
        if let called { called() } else { semaphore.signal() }
    }

    /// The result of a ticket that a thread waits for; `nil` before it is settled.
    var result: Result<AppendResult, any Error>? { outcome.withLock { $0 } }

    /// Sleeps until the ticket is settled, and returns the result. For a ticket with `called` and without `settled`.
    func settledResult() -> Result<AppendResult, any Error> {
        assert(settled == nil && called != nil, "the ticket wakes this thread, and only to be settled")
        while true {
            if let result { return result }
            semaphore.wait()
        }
    }

    /// Sleeps until the ticket is settled or called, at most `nanoseconds` if that is given.
    func wait(nanoseconds: Int?) -> Wakening {
        if let nanoseconds {
            guard semaphore.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success else { return .timedOut }
        } else {
            semaphore.wait()
        }
        return result.map { .settled($0) } ?? .called
    }
}
