import Dispatch
import Synchronization

/// Appends batches in order. While one batch is written, the caller makes and prepares the next.
///
/// The log receives the batches in the order of the calls, each as a whole (I5). Use it from one thread at a time.
/// Every batch is synced, also in a store that was opened with `fast` durability.
public final class Appender {
    private let store: EventStore
    private var pending: PendingAppend?

    /// Makes an appender of a log.
    public init(_ store: EventStore) {
        self.store = store
    }

    /// Prepares a batch, waits until the one before is durable, and begins to write this one.
    ///
    /// - Returns: the result of the batch before; `nil` without one.
    /// - Throws: as `EventStore.append`, for the batch before or for the limits of this one. This batch is not appended
    ///   then, and may be given again.
    public func append(_ drafts: [DraftEvent], bookmark: Bookmark? = nil) throws -> AppendResult? {
        try append(DraftBatch(drafts), bookmark: bookmark)
    }

    /// The same for drafts that are already a `DraftBatch`.
    public func append(_ drafts: DraftBatch, bookmark: Bookmark? = nil) throws -> AppendResult? {
        try store.check(drafts)
        let batch = store.prepare(drafts)
        let former = try finish()
        let next = PendingAppend()
        store.start(batch, bookmark: bookmark) { next.settle($0) }
        pending = next
        return former
    }

    /// Waits until everything is durable.
    ///
    /// - Returns: the result of the last batch; `nil` if none was pending.
    /// - Throws: as `EventStore.append`.
    @discardableResult
    public func finish() throws -> AppendResult? {
        defer { pending = nil }
        return try pending?.result().get()
    }
}

/// A batch that is being written. `settle` is called once; it sets the outcome, then signals.
private final class PendingAppend: Sendable {
    private let outcome = Mutex<Result<AppendResult, any Error>?>(nil)
    private let semaphore = DispatchSemaphore(value: 0)

    func settle(_ result: Result<AppendResult, any Error>) {
        outcome.withLock { $0 = result }
        semaphore.signal()
    }

    /// Waits for the outcome. May be called once, since it consumes the only signal.
    func result() -> Result<AppendResult, any Error> {
        semaphore.wait()
        let settled: Result<AppendResult, any Error>? = outcome.withLock { $0 }
        assert(settled != nil, "the outcome is set before the signal")
        return settled ?? .failure(CancellationError())
    }
}
