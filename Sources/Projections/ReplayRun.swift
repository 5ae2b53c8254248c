import EventLog

/// One replay under way: the walk over the log, and the folding on this thread or on another.
///
/// With two threads this one walks over the log and reads the frames, the other one folds what was read, batch by batch in
/// the order of the log. The state is the same as with one.
struct ReplayRun {
    /// From how many events on a second thread is worth its start.
    private static let aheadCountMin: UInt64 = 16_384

    /// The last event of the range that was folded last.
    private(set) var sequence: SequenceNumber
    private var lanes: ReplayLanes
    private var byteCount = 0
    /// Without a second thread.
    private var here: ReplayedWorkspace
    private let ahead: FoldingQueue?

    /// - Parameter count: how many events are to be folded at most.
    init(_ workspace: Workspace, _ options: ReplayOptions, isObserved: Bool, count: UInt64) {
        sequence = workspace.sequence
        lanes = ReplayLanes(options)
        let usesTwo = !isObserved && options.decodesAhead && count - min(count, sequence.rawValue) >= Self.aheadCountMin
        ahead = usesTwo ? FoldingQueue(workspace) : nil
        here = ReplayedWorkspace(usesTwo ? Workspace() : workspace)
    }

    /// The state after all that was folded; with two threads it is waited for.
    var workspace: Workspace {
        var workspace = ahead?.workspace ?? here.workspace
        workspace.sequence = max(workspace.sequence, sequence)
        return workspace
    }

    /// How many bytes the payloads had that were folded since this was last asked.
    mutating func takeByteCount() -> Int {
        defer { byteCount = 0 }
        return byteCount
    }

    /// Folds the events after those folded so far; false where the observer has stopped it.
    mutating func fold(
        _ session: borrowing ReadSession,
        through last: SequenceNumber,
        _ observe: ((_ event: Envelope, inout Workspace) throws -> Bool)?
    ) throws -> Bool {
        let range = sequence.next...last
        if let ahead {
            try fold(session, range, ahead)
        } else if try !fold(session, range, observe) {
            return false
        }
        sequence = last
        return true
    }

    private mutating func fold(
        _ session: borrowing ReadSession,
        _ range: ClosedRange<SequenceNumber>,
        _ observe: ((_ event: Envelope, inout Workspace) throws -> Bool)?
    ) throws -> Bool {
        var goesOn = true
        try session.forEachEvent(in: range) { event in
            guard let lane = lanes.included(event) else { return true }
            event.withPayload { payload in
                byteCount += payload.count
                if let frame = lanes.plainFrame(payload, lane: lane) {
                    let reference = EventReference(sequence: event.sequence, recordedAt: event.recordedAt)
                    here.apply(frame, reference, lane: lane, of: lanes.lanes)
                } else {
                    here.apply(event.envelope, payload: payload)
                }
            }
            if let observe { goesOn = try here.withWorkspace { try observe(event.envelope, &$0) } }
            if !goesOn { sequence = event.sequence }
            return goesOn
        }
        return goesOn
    }

    private mutating func fold(
        _ session: borrowing ReadSession,
        _ range: ClosedRange<SequenceNumber>,
        _ ahead: FoldingQueue
    ) throws {
        do {
            try read(session, range, ahead)
        } catch {
            // Batches hold addresses in the session's map, which may go after an error.
            ahead.wait()
            throw error
        }
    }

    private mutating func read(
        _ session: borrowing ReadSession,
        _ range: ClosedRange<SequenceNumber>,
        _ ahead: FoldingQueue
    ) throws {
        var batch = ahead.freeBatch()
        try session.forEachEvent(in: range) { event in
            guard let lane = lanes.included(event) else { return true }
            event.withPayload { payload in
                byteCount += payload.count
                batch.add(event, payload: payload, lane: lane, lanes)
            }
            if batch.isFull {
                ahead.fold(batch, lanes.lanes)
                batch = ahead.freeBatch()
            }
            return true
        }
        ahead.fold(batch, lanes.lanes)
    }
}
