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

    let events: [PreparedEvent]
    let bookmark: Bookmark?
    let byteCount: Int
    private let outcome = Mutex<Result<AppendResult, any Error>?>(nil)
    private let semaphore = DispatchSemaphore(value: 0)

    init(events: [PreparedEvent], bookmark: Bookmark?) {
        self.events = events
        self.bookmark = bookmark
        byteCount = events.reduce(0) { $0 + $1.recordByteCount }
    }

    func settle(_ result: Result<AppendResult, any Error>) {
        outcome.withLock { $0 = result }
        semaphore.signal()
    }

    func call() {
        semaphore.signal()
    }

    /// The result, where there is one already.
    var result: Result<AppendResult, any Error>? { outcome.withLock { $0 } }

    /// Sleeps until the ticket is settled or called, at most for the given nanoseconds where they are given.
    func wait(nanoseconds: Int?) -> Wakening {
        if let nanoseconds {
            guard semaphore.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success else { return .timedOut }
        } else {
            semaphore.wait()
        }
        return result.map { .settled($0) } ?? .called
    }
}
