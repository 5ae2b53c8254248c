import Dispatch
import Synchronization

/// One batch on its way into the log, and whoever waits for it.
final class AppendTicket: Sendable {
    /// Why a wait ended.
    enum Wakening {
        case settled(Result<AppendResult, any Error>)
        /// The thread is to look whether it must commit what waits.
        case called
        case timedOut
    }

    /// Who waits: a thread that sleeps, or somebody who is told.
    private enum Waiter {
        case thread(DispatchSemaphore)
        case told(
            settled: @Sendable (Result<AppendResult, any Error>) -> Void,
            called: @Sendable () -> Void
        )
    }

    let batch: PreparedBatch
    let bookmark: Bookmark?
    private let outcome = Mutex<Result<AppendResult, any Error>?>(nil)
    private let waiter: Waiter

    /// A ticket that a thread waits for.
    init(_ batch: PreparedBatch, bookmark: Bookmark?) {
        self.batch = batch
        self.bookmark = bookmark
        waiter = .thread(DispatchSemaphore(value: 0))
    }

    /// A ticket that nobody waits for.
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

    func settle(_ result: Result<AppendResult, any Error>) {
        switch waiter {
        case .thread(let semaphore):
            outcome.withLock { $0 = result }
            semaphore.signal()
        case .told(let settled, _): settled(result)
        }
    }

    func call() {
        switch waiter {
        case .thread(let semaphore): semaphore.signal()
        case .told(_, let called): called()
        }
    }

    /// The result, where there is one already and a thread waits for it.
    var result: Result<AppendResult, any Error>? { outcome.withLock { $0 } }

    /// Sleeps until the ticket is settled or called, at most for the given nanoseconds where they are given.
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
