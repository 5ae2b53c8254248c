/// Appends batches in order. While one batch is written, the caller makes and prepares the next.
///
/// The log receives the batches in the order of the calls, each as a whole (I5). Use it from one thread at a time.
/// Every batch is synced, also in a store that was opened with `fast` durability.
public final class Appender {
    private let store: EventStore
    /// The batch that is being written.
    private var pending: Awaited<Result<AppendResult, any Error>>?

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
        let batch = try store.writer.prepared(drafts)
        let former = try finish()
        pending = store.begin(batch, bookmark: bookmark)
        return former
    }

    /// Waits until everything is durable.
    ///
    /// - Returns: the result of the last batch; `nil` if none was pending.
    /// - Throws: as `EventStore.append`.
    @discardableResult
    public func finish() throws -> AppendResult? {
        defer { pending = nil }
        return try pending?.wait().get()
    }
}
