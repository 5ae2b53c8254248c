import Dispatch
import Synchronization

/// One batch on its way into the log, and what waits for it: a thread or a callback.
final class AppendTicket: Sendable {
    /// Why a wait ended.
    enum Wakening {
        case settled(Result<AppendResult, any Error>)
        /// The thread must find out whether it has to commit the waiting batches.
        case called
        case timedOut
    }

    /// A thread that sleeps, or callbacks.
    private enum Waiter {
        /// Each `settle` and each `call` adds a signal. A signal too many only wakes the thread once more, and it looks
        /// again.
        case thread(DispatchSemaphore)
        case told(
            settled: @Sendable (Result<AppendResult, any Error>) -> Void,
            called: @Sendable () -> Void
        )
    }

    let batch: PreparedBatch
    let bookmark: Bookmark?
    /// Set before the thread is woken; stays `nil` if a callback receives the result.
    private let outcome = Mutex<Result<AppendResult, any Error>?>(nil)
    private let waiter: Waiter

    /// A ticket that a thread waits for with `wait`.
    init(_ batch: PreparedBatch, bookmark: Bookmark?) {
        self.batch = batch
        self.bookmark = bookmark
        waiter = .thread(DispatchSemaphore(value: 0))
    }

    /// A ticket that no thread waits for. `settled` receives the result; `called` must have the waiting batches
    /// committed.
    init(
        _ batch: PreparedBatch,
        bookmark: Bookmark?,
        settled: @escaping @Sendable (Result<AppendResult, any Error>) -> Void,
        called: @escaping @Sendable () -> Void
    ) {
        self.batch = batch
        self.bookmark = bookmark
        waiter = .told(settled: settled, called: called)
    }

    /// Hands over the result, once. Any thread may call it. A callback runs on the calling thread.
    func settle(_ result: Result<AppendResult, any Error>) {
        switch waiter {
        case .thread(let semaphore):
            outcome.withLock { outcome in
                assert(outcome == nil, "a ticket is settled once")
                outcome = result
            }
            semaphore.signal()
        case .told(let settled, _): settled(result)
        }
    }

    /// Wakes whatever waits, to commit the batches that wait.
    func call() {
        switch waiter {
        case .thread(let semaphore): semaphore.signal()
        case .told(_, let called): called()
        }
    }

    /// The result of a ticket that a thread waits for; `nil` before it is settled.
    var result: Result<AppendResult, any Error>? { outcome.withLock { $0 } }

    /// Sleeps until the ticket is settled or called, at most `nanoseconds` if that is given.
    func wait(nanoseconds: Int?) -> Wakening {
        guard case .thread(let semaphore) = waiter else { return .called }
        if let nanoseconds {
            guard semaphore.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success else { return .timedOut }
        } else {
            semaphore.wait()
        }
        return result.map { .settled($0) } ?? .called
    }
}
