import EventLog

/// One replay under way: the walk over the log, and the folding on this thread or on another.
///
/// Unless somebody observes each event, events are read batch by batch and then folded in the order of the log: with two
/// threads this one reads while the other one folds. The state is the same in all three cases.
struct ReplayRun {
    /// From how many events on a second thread is worth its start.
    private static let aheadCountMin: UInt64 = 16_384

    /// The last event of the range that was folded last.
    private(set) var sequence: SequenceNumber
    private let lanes: ReplayLanes
    private let checks: Bool
    private var byteCount = 0
    /// Without a second thread.
    private var here: ReplayedWorkspace
    private let spare: ReplayBatch
    private let ahead: FoldingQueue?

    /// - Parameter count: how many events are to be folded at most.
    init(_ workspace: Workspace, _ options: ReplayOptions, isObserved: Bool, count: UInt64) {
        sequence = workspace.sequence
        lanes = ReplayLanes(options)
        checks = options.checks
        var workspace = workspace
        workspace.notesTouched = isObserved || workspace.digestKeeper.isBuilt
        let usesTwo = !isObserved && options.decodesAhead && count - min(count, sequence.rawValue) >= Self.aheadCountMin
        ahead = usesTwo ? FoldingQueue(workspace) : nil
        spare = ReplayBatch(count: 256)
        here = ReplayedWorkspace(usesTwo ? Workspace() : workspace)
    }

    /// The state after all that was folded; with two threads it is waited for.
    var workspace: Workspace {
        var workspace = ahead?.workspace ?? here.workspace
        workspace.sequence = max(workspace.sequence, sequence)
        workspace.notesTouched = true
        return workspace
    }

    /// Lends the state after all that was folded; with two threads it is waited for.
    mutating func withWorkspace<Result>(_ body: (inout Workspace) throws -> Result) throws -> Result {
        let sequence = sequence
        func lend(_ workspace: inout Workspace) throws -> Result {
            workspace.sequence = max(workspace.sequence, sequence)
            return try body(&workspace)
        }
        if let ahead { return try ahead.withWorkspace(lend) }
        return try here.withWorkspace(lend)
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
        if let observe {
            guard try fold(session, range, observe) else { return false }
        } else {
            try fold(session, range)
        }
        sequence = last
        return true
    }

    private mutating func fold(
        _ session: borrowing ReadSession,
        _ range: ClosedRange<SequenceNumber>,
        _ observe: (_ event: Envelope, inout Workspace) throws -> Bool
    ) throws -> Bool {
        var goesOn = true
        try session.forEachEvent(in: range) { event in
            guard let lane = lanes.included(event) else { return true }
            if checks { try session.check(event) }
            event.withPayload { payload in
                spare.add(event, payload: payload, lane: lane, mayBePlain: lanes.mayBePlain(lane))
                spare.fold(into: &here, lanes.lanes)
            }
            goesOn = try here.withWorkspace { try observe(event.envelope, &$0) }
            if !goesOn { sequence = event.sequence }
            return goesOn
        }
        return goesOn
    }

    private mutating func fold(_ session: borrowing ReadSession, _ range: ClosedRange<SequenceNumber>) throws {
        do {
            try read(session, range)
        } catch {
            // Batches hold addresses in the session's map, which may go after an error.
            ahead?.wait()
            throw error
        }
    }

    private mutating func read(_ session: borrowing ReadSession, _ range: ClosedRange<SequenceNumber>) throws {
        let (lanes, checks) = (lanes, checks)
        var batch = freeBatch()
        // The same once more, so that nothing is counted per event.
        var current = Unmanaged.passUnretained(batch)
        try session.forEachEvent(in: range) { event in
            guard let lane = lanes.included(event) else { return true }
            if checks { try session.check(event) }
            let isFull = current._withUnsafeGuaranteedRef { batch in
                event.withPayload { payload in
                    byteCount += payload.count
                    batch.add(event, payload: payload, lane: lane, mayBePlain: lanes.mayBePlain(lane))
                }
                return batch.isFull
            }
            if isFull {
                fold(batch)
                batch = freeBatch()
                current = .passUnretained(batch)
            }
            return true
        }
        fold(batch)
    }

    private func freeBatch() -> ReplayBatch { ahead?.freeBatch() ?? spare }

    private mutating func fold(_ batch: ReplayBatch) {
        if let ahead { ahead.fold(batch, lanes.lanes) } else { batch.fold(into: &here, lanes.lanes) }
    }
}
