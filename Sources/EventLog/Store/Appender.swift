import Dispatch
import Synchronization

/// Appends batches one behind the other: while one is written, the caller makes the next and it is prepared.
///
/// The batches are in the log in the order in which they were given, each as a whole. Used by one thread at a time.
public final class Appender {
    private let store: EventStore
    private var pending: PendingAppend?

    /// Makes an appender of a log.
    public init(_ store: EventStore) {
        self.store = store
    }

    /// Prepares a batch, waits until the one before is durable, and begins to write this one.
    ///
    /// - Returns: what became of the batch before; `nil` where there is none.
    /// - Throws: as `EventStore.append`, for the batch before or for the limits of this one. This batch is not appended
    ///   then, and may be given again.
    public func append(_ drafts: [DraftEvent], bookmark: Bookmark? = nil) throws -> AppendResult? {
        try append(DraftBatch(drafts), bookmark: bookmark)
    }

    /// The same for drafts that lie in one piece already.
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
    /// - Returns: what became of the last batch; `nil` where nothing was waited for.
    /// - Throws: as `EventStore.append`.
    @discardableResult
    public func finish() throws -> AppendResult? {
        defer { pending = nil }
        return try pending?.result().get()
    }
}

/// A batch that is being written.
private final class PendingAppend: Sendable {
    private let outcome = Mutex<Result<AppendResult, any Error>?>(nil)
    private let semaphore = DispatchSemaphore(value: 0)

    func settle(_ result: Result<AppendResult, any Error>) {
        outcome.withLock { $0 = result }
        semaphore.signal()
    }

    /// Waits; to be called once.
    func result() -> Result<AppendResult, any Error> {
        semaphore.wait()
        return outcome.withLock { $0 } ?? .failure(CancellationError())
    }
}
