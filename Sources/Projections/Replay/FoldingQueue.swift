import Dispatch
import EventLog
import Synchronization

/// Folds batches in order on a second thread, while the caller fills the next one. For one caller.
///
/// `@unchecked Sendable` holds because only blocks of `queue`, which is serial, touch `state`.
final class FoldingQueue: @unchecked Sendable {
    /// The most batches in use at once: one being filled, the others waiting to be folded.
    private static let batchCountMax = 4

    private var state: ReplayedState
    private let frameKey: FrameKey?
    private let queue = DispatchQueue(label: "eventlog.fold")
    /// How many more batches may be taken. Begins at 0 and is signalled up to `batchCountMax`, because Dispatch traps
    /// if a semaphore is freed below its first value, and a replay that fails keeps the batch that it was filling.
    private let room = DispatchSemaphore(value: 0)
    /// Folded batches, empty, to be filled again.
    private let free = Mutex<[ReplayBatch]>([])

    init(_ state: ReplayedState) {
        self.state = state
        frameKey = state.logState.hashingKey
        for _ in 0..<Self.batchCountMax { room.signal() }
    }

    /// An empty batch to fill, which must be handed to `fold`; waits while `batchCountMax` batches are in use.
    func freeBatch() -> ReplayBatch {
        room.wait()
        return free.withLock { $0.popLast() } ?? ReplayBatch(count: 1024, hashing: frameKey)
    }

    /// Hands over a batch, which the caller must not touch any more, and returns at once. The session whose map the
    /// batch points into must last until the batch is folded (`wait`). `lanes` must know every lane of the batch.
    func fold(_ batch: ReplayBatch, _ lanes: [ReplayLanes.Lane?]) {
        queue.async { [self] in
            batch.fold(into: &state, lanes)
            free.withLock { $0.append(batch) }
            room.signal()
        }
    }

    /// Waits until every batch handed over is folded.
    func wait() {
        queue.sync {}
    }

    /// Lends the state after every batch handed over; waits for them. `body` runs while the queue rests.
    func withLogState<Result>(_ body: (inout LogState) throws -> Result) rethrows -> Result {
        try queue.sync { try state.withLogState(body) }
    }

    /// The buckets of the events folded, if noted; waits for every batch handed over.
    var buckets: [UInt8]? { queue.sync { state.buckets } }

    /// The state after every batch handed over; waits for them.
    var logState: LogState { queue.sync { state.logState } }
}
