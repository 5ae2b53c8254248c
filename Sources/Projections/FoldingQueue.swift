import Dispatch
import EventLog
import Synchronization

/// Some consecutive events, read but not folded.
///
/// Unchecked: it is filled by one thread and then folded by another, never at once; the bytes that it points to are those
/// of a read session that lasts longer.
final class ReplayBatch: @unchecked Sendable {
    private struct Step {
        let frame: PlainFrame
        let event: EventReference
        let lane: Int
    }

    private enum Kind {
        case plain
        case other
    }

    private static let countMax = 2048

    private var kinds: [Kind] = []
    private var plain: [Step] = []
    private var others: [(envelope: Envelope, payload: UnsafeRawBufferPointer)] = []

    init() {
        kinds.reserveCapacity(Self.countMax)
        plain.reserveCapacity(Self.countMax)
    }

    var isFull: Bool { kinds.count >= Self.countMax }

    @inline(__always)
    func add(_ event: borrowing EventView, payload: UnsafeRawBufferPointer, lane: Int, _ lanes: ReplayLanes) {
        if let frame = lanes.plainFrame(payload, lane: lane) {
            let reference = EventReference(sequence: event.sequence, recordedAt: event.recordedAt)
            plain.append(Step(frame: frame, event: reference, lane: lane))
            kinds.append(.plain)
        } else {
            others.append((event.envelope, payload))
            kinds.append(.other)
        }
    }

    func fold(into workspace: inout ReplayedWorkspace, _ lanes: [ReplayLanes.Lane?]) {
        var (nextPlain, nextOther) = (0, 0)
        for kind in kinds {
            switch kind {
            case .plain:
                workspace.apply(plain[nextPlain].frame, plain[nextPlain].event, lane: plain[nextPlain].lane, of: lanes)
                nextPlain += 1
            case .other:
                workspace.apply(others[nextOther].envelope, payload: others[nextOther].payload)
                nextOther += 1
            }
        }
        kinds.removeAll(keepingCapacity: true)
        plain.removeAll(keepingCapacity: true)
        others.removeAll(keepingCapacity: true)
    }
}

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
        return free.withLock { $0.popLast() } ?? ReplayBatch()
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

    /// The state after all that was handed over.
    var workspace: Workspace { queue.sync { state.workspace } }
}
