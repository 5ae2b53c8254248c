import EventLog

/// One running replay: it walks over the log and folds on this thread or on a second one.
///
/// With an observer, each event is folded as soon as it is read. Without one, events are read in batches and folded in
/// the order of the log; with two threads, this one reads while the other folds. All three ways give the same state
/// (I18). The session must last until `logState` was read or a fold has thrown: batches point into its map.
struct ReplayRun {
    /// The fewest events for which a second thread is worth starting.
    private static let aheadCountMin: UInt64 = 16_384

    /// The end of the range folded last, or the event at which the observer stopped.
    private(set) var sequence: SequenceNumber
    private let lanes: ReplayLanes
    private let checks: Bool
    /// The payload bytes read since `takeByteCount` was last called. Not counted with an observer.
    private var byteCount = 0
    /// The state, unless a second thread folds; then an empty one.
    private var here: ReplayedState
    /// The one batch used without a second thread.
    private let spare: ReplayBatch
    /// The second thread; `nil` without one.
    private let ahead: FoldingQueue?

    /// The events of the range that are read, by their numbers from 0; `nil` for all.
    private let skipping: SkippedEvents?
    /// The number of the next event.
    private var eventNumber = 0

    /// - Parameters:
    ///   - state: the state to fold into.
    ///   - isObserved: whether `fold` will get an observer; must be right, as rows are noted accordingly.
    ///   - count: the sequence of the last event to fold; decides whether a second thread is worth starting.
    ///   - skipping: the events that are not folded; only without an observer.
    ///   - notesBuckets: whether `buckets` is wanted.
    init(
        _ logState: LogState,
        _ options: ReplayOptions,
        isObserved: Bool,
        count: UInt64,
        skipping: SkippedEvents? = nil,
        notesBuckets: Bool = false
    ) {
        self.skipping = skipping
        sequence = logState.sequence
        lanes = ReplayLanes(options)
        checks = options.checks
        var logState = logState
        logState.notesTouched = isObserved || logState.digestKeeper.isBuilt
        let usesTwo = !isObserved && options.decodesAhead && count - min(count, sequence.rawValue) >= Self.aheadCountMin
        ahead = usesTwo ? FoldingQueue(ReplayedState(logState, notesBuckets: notesBuckets)) : nil
        spare = ReplayBatch(count: 256, hashing: logState.hashingKey)
        here = ReplayedState(usesTwo ? LogState() : logState, notesBuckets: notesBuckets)
    }

    /// The state after everything folded so far; waits for the second thread. Its sequence is the end of the range,
    /// even if the last events were left out.
    var logState: LogState {
        var logState = ahead?.logState ?? here.logState
        logState.sequence = max(logState.sequence, sequence)
        logState.notesTouched = true
        return logState
    }

    /// The bucket of each event's channel, if they were to be noted; see `ReplayedState.buckets`.
    var buckets: [UInt8] { (ahead == nil ? here.buckets : ahead?.buckets) ?? [] }

    /// Lends the state after everything folded so far; waits for the second thread. Copies nothing, unlike `logState`.
    mutating func withLogState<Result>(_ body: (inout LogState) throws -> Result) throws -> Result {
        let sequence = sequence
        func lend(_ logState: inout LogState) throws -> Result {
            logState.sequence = max(logState.sequence, sequence)
            return try body(&logState)
        }
        if let ahead { return try ahead.withLogState(lend) }
        return try here.withLogState(lend)
    }

    /// The bytes of the payloads folded since the last call; always 0 with an observer.
    mutating func takeByteCount() -> Int {
        defer { byteCount = 0 }
        return byteCount
    }

    /// Folds the events after `sequence` up to `last`; false if the observer stopped the replay. With a second thread,
    /// returns before the last batches are folded.
    mutating func fold(
        _ session: borrowing ReadSession,
        through last: SequenceNumber,
        _ observe: ((_ event: Envelope, inout LogState) throws -> Bool)?
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
        _ observe: (_ event: Envelope, inout LogState) throws -> Bool
    ) throws -> Bool {
        var goesOn = true
        try session.forEachEvent(in: range) { event in
            guard let lane = lanes.included(event) else { return true }
            if checks { try session.check(event) }
            event.withPayload { payload in
                // A batch of one, so that the observer sees each event folded by the same code.
                spare.add(event, payload: payload, lane: lane, mayBePlain: lanes.mayBePlain(lane))
                spare.fold(into: &here, lanes.lanes)
            }
            goesOn = try here.withLogState { try observe(event.envelope, &$0) }
            if !goesOn { sequence = event.sequence }
            return goesOn
        }
        return goesOn
    }

    private mutating func fold(_ session: borrowing ReadSession, _ range: ClosedRange<SequenceNumber>) throws {
        do {
            try read(session, range)
        } catch {
            // Batches point into the session's map, which may be gone after an error.
            ahead?.wait()
            throw error
        }
    }

    private mutating func read(_ session: borrowing ReadSession, _ range: ClosedRange<SequenceNumber>) throws {
        let (lanes, checks) = (lanes, checks)
        var batch = freeBatch()
        // Avoids reference counting at each event. `batch` keeps the object alive while `current` points to it; both
        // are always replaced together.
        var current = Unmanaged.passUnretained(batch)
        try session.forEachEvent(in: range) { event in
            eventNumber &+= 1
            if let skipping, skipping.contains(eventNumber &- 1) { return true }
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
