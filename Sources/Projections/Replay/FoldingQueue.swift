import Dispatch
import EventLog
import Synchronization

/// Folds batches on a thread of its own, in the order in which they come.
///
/// Unchecked: only blocks of the serial queue touch the state.
final class FoldingQueue: @unchecked Sendable {
    private static let batchCountMax = 4

    private var state: ReplayedWorkspace
    private let queue = DispatchQueue(label: "eventlog.fold")
    private let room = DispatchSemaphore(value: batchCountMax)
    private let free = Mutex<[ReplayBatch]>([])

    init(_ workspace: Workspace) {
        state = ReplayedWorkspace(workspace)
    }

    /// A batch to be filled; waits while too many are not folded yet.
    func freeBatch() -> ReplayBatch {
        room.wait()
        return free.withLock { $0.popLast() } ?? ReplayBatch(count: 1024)
    }

    func fold(_ batch: ReplayBatch, _ lanes: [ReplayLanes.Lane?]) {
        queue.async { [self] in
            batch.fold(into: &state, lanes)
            free.withLock { $0.append(batch) }
            room.signal()
        }
    }

    func wait() {
        queue.sync {}
    }

    /// Lends the state after all that was handed over.
    func withWorkspace<Result>(_ body: (inout Workspace) throws -> Result) rethrows -> Result {
        try queue.sync { try state.withWorkspace(body) }
    }

    /// The state after all that was handed over.
    var workspace: Workspace { queue.sync { state.workspace } }
}
