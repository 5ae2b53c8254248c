import EventLog

/// Consecutive events that were read and are to be folded.
///
/// `@unchecked Sendable` holds because one thread fills a batch, then hands it to another one that folds it, never both
/// at once. It points to payloads in the map of a read session, so it must be folded before the session ends; blocks of sealed
/// events it holds itself. A class, so that handing it over copies no events.
final class ReplayBatch: @unchecked Sendable {
    /// One plain frame. Without references, so that a batch is filled again without freeing anything.
    struct Step: BitwiseCopyable {
        var frame: PlainFrame
        var event: EventReference
        /// The number of the event's lane.
        var lane: Int
        /// Where to look for its message; found for `stride` steps at a time, just before they are folded.
        var lookup: MessageLookup?
    }

    private enum Kind: BitwiseCopyable {
        case plain
        case other
    }

    /// How many steps are looked up together, so that their cache misses overlap.
    private static let stride = 64

    private let countMax: Int
    /// Hashes the frames as they are read, while the processor's cache holds them; `nil` if nobody needs their hashes.
    private let frameKey: FrameKey?
    /// One kind for each event; all buffers have room for `countMax` elements. These two are always initialized, so the
    /// scanner may assign into any of them. `deinit` need not destroy their trivial elements.
    private let kinds: UnsafeMutablePointer<Kind>
    private let plain: UnsafeMutablePointer<Step>
    private var count = 0
    /// How many of the events are plain: the first steps of `plain`.
    private var plainCount = 0
    /// The other events, in their order. Their payloads are borrowed, as those of the frames are.
    private let envelopes: UnsafeMutablePointer<Envelope>
    private let payloads: UnsafeMutablePointer<UnsafeRawBufferPointer>
    /// How many of the events are others: so many of `envelopes` are initialized.
    private var otherCount = 0
    /// What keeps payloads in memory that do not lie in the map.
    private var owners: [AnyObject] = []

    /// - Parameters:
    ///   - count: how many events it has room for.
    ///   - frameKey: as `LogState.hashingKey` of the state that the events are folded into.
    init(count: Int, hashing frameKey: FrameKey?) {
        countMax = count
        self.frameKey = frameKey
        kinds = .allocate(capacity: count)
        plain = .allocate(capacity: count)
        envelopes = .allocate(capacity: count)
        payloads = .allocate(capacity: count)
        kinds.initialize(repeating: .other, count: count)
        payloads.initialize(repeating: UnsafeRawBufferPointer(start: nil, count: 0), count: count)
        let nothing = EventReference(sequence: .zero, recordedAt: Timestamp(seconds: 0))
        plain.initialize(repeating: Step(frame: PlainFrame(), event: nothing, lane: 0), count: count)
    }

    deinit {
        kinds.deallocate()
        plain.deallocate()
        envelopes.deinitialize(count: otherCount)
        envelopes.deallocate()
        payloads.deallocate()
    }

    var isFull: Bool { count == countMax }

    /// Adds an event; the batch must not be full.
    ///
    /// - Parameters:
    ///   - payload: stays valid until the batch is folded.
    ///   - mayBePlain: as `ReplayLanes.mayBePlain`; the scanner then decides.
    @inline(__always)
    func add(_ event: borrowing EventView, payload: UnsafeRawBufferPointer, lane: Int, mayBePlain: Bool) {
        assert(count < countMax, "a full batch has no room for another event")
        if let owner = event.payloadOwner, owners.last !== owner { owners.append(owner) }
        if mayBePlain, PlainFrameScanner.scan(payload, into: &plain[plainCount].frame) {
            plain[plainCount].event = EventReference(sequence: event.sequence, recordedAt: event.recordedAt)
            plain[plainCount].lane = lane
            if let frameKey, plain[plainCount].frame.counter != nil {
                plain[plainCount].frame.hash = frameKey.hash(payload)
            }
            plainCount += 1
            kinds[count] = .plain
        } else {
            (envelopes + otherCount).initialize(to: event.envelopeWithoutKey)
            payloads[otherCount] = payload
            otherCount += 1
            kinds[count] = .other
        }
        count += 1
    }

    /// Folds the events in order and empties the batch. `kinds` tells from which of the two lists the next event comes.
    func fold(into state: inout ReplayedState, _ lanes: [ReplayLanes.Lane?]) {
        let (count, plainCount) = (count, plainCount)
        var (nextPlain, nextOther) = (0, 0)
        for index in 0..<count {
            switch kinds[index] {
            case .plain:
                if nextPlain.isMultiple(of: Self.stride) {
                    let end = min(nextPlain + Self.stride, plainCount)
                    state.prepareLookups(UnsafeMutableBufferPointer(rebasing: steps[nextPlain..<end]))
                }
                fold(plain + nextPlain, into: &state, lanes)
                nextPlain += 1
            case .other:
                // Moved out, so that no envelope is copied.
                let envelope = (envelopes + nextOther).move()
                state.noteBucket(of: nil)
                state.logState.applyLong(envelope, payload: payloads[nextOther])
                nextOther += 1
            }
        }
        assert(nextPlain == plainCount && nextOther == otherCount, "every event of the batch is folded")
        self.count = 0
        self.plainCount = 0
        otherCount = 0
        if !owners.isEmpty { owners.removeAll(keepingCapacity: true) }
    }

    @inline(__always)
    private func fold(
        _ step: UnsafePointer<Step>,
        into state: inout ReplayedState,
        _ lanes: [ReplayLanes.Lane?]
    ) {
        let number = step.pointee.lane
        state.noteBucket(of: step.pointee.frame.channel)
        guard let source = state.source(ofLane: number, lanes), let lane = lanes[number] else { return }
        state.logState.applyPlain(
            step.pointee.frame,
            step.pointee.event,
            source: source,
            connection: lane.connection,
            lookup: step.pointee.lookup
        )
    }

    /// The plain frames of the batch; valid as long as the batch is.
    private var steps: UnsafeMutableBufferPointer<Step> {
        UnsafeMutableBufferPointer(start: plain, count: plainCount)
    }
}
