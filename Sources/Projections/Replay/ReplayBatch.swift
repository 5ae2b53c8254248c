import EventLog

/// Some consecutive events, read but not folded.
///
/// Unchecked: it is filled by one thread and then folded by another, never at once; the bytes that it points to are those
/// of a read session that lasts longer.
final class ReplayBatch: @unchecked Sendable {
    /// One plain frame.
    struct Step: BitwiseCopyable {
        var frame: PlainFrame
        var event: EventReference
        var lane: Int
        /// Where its message is looked for, once this step comes near.
        var spot: MessageSpot?
    }

    private enum Kind: BitwiseCopyable {
        case plain
        case other
    }

    /// For how many steps memory is asked for at once.
    private static let stride = 64

    private let countMax: Int
    private let kinds: UnsafeMutablePointer<Kind>
    private let plain: UnsafeMutablePointer<Step>
    private var count = 0
    private var plainCount = 0
    private var others: [(envelope: Envelope, payload: UnsafeRawBufferPointer)] = []

    /// - Parameter count: how many events it takes.
    init(count: Int) {
        countMax = count
        kinds = .allocate(capacity: count)
        plain = .allocate(capacity: count)
        kinds.initialize(repeating: .other, count: count)
        let nothing = EventReference(sequence: .zero, recordedAt: Timestamp(seconds: 0))
        plain.initialize(repeating: Step(frame: PlainFrame(), event: nothing, lane: 0), count: count)
    }

    deinit {
        kinds.deallocate()
        plain.deallocate()
    }

    var isFull: Bool { count == countMax }

    /// Adds an event; the batch must not be full.
    @inline(__always)
    func add(_ event: borrowing EventView, payload: UnsafeRawBufferPointer, lane: Int, mayBePlain: Bool) {
        if mayBePlain, PlainFrameScanner.scan(payload, into: &plain[plainCount].frame) {
            plain[plainCount].event = EventReference(sequence: event.sequence, recordedAt: event.recordedAt)
            plain[plainCount].lane = lane
            plainCount += 1
            kinds[count] = .plain
        } else {
            others.append((event.envelope, payload))
            kinds[count] = .other
        }
        count += 1
    }

    /// Folds what is there, in order, and is empty then.
    func fold(into workspace: inout ReplayedWorkspace, _ lanes: [ReplayLanes.Lane?]) {
        let (count, plainCount) = (count, plainCount)
        var (nextPlain, nextOther) = (0, 0)
        for index in 0..<count {
            switch kinds[index] {
            case .plain:
                if nextPlain.isMultiple(of: Self.stride) {
                    let end = min(nextPlain + Self.stride, plainCount)
                    workspace.findSpots(UnsafeMutableBufferPointer(rebasing: steps[nextPlain..<end]))
                }
                workspace.apply(plain + nextPlain, lanes)
                nextPlain += 1
            case .other:
                workspace.apply(others[nextOther].envelope, payload: others[nextOther].payload)
                nextOther += 1
            }
        }
        self.count = 0
        self.plainCount = 0
        others.removeAll(keepingCapacity: true)
    }

    private var steps: UnsafeMutableBufferPointer<Step> {
        UnsafeMutableBufferPointer(start: plain, count: plainCount)
    }
}
