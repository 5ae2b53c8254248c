public import EventLog

extension Replay {
    /// Folds the events after a state's own sequence into it, up to a point.
    ///
    /// Cost: O(events between the two). A copy of the state stays as it was. Neither uses nor keeps states beside the
    /// log.
    /// - Parameters:
    ///   - state: A state of the same log, folded with the same options.
    ///   - point: The last event to fold; nothing is folded if the state contains it already.
    ///   - observe: Called after each event, acts included, with the state so far; returns false to stop.
    /// - Throws: as `logState`.
    public static func advance(
        _ state: consuming LogState,
        over session: borrowing ReadSession,
        through point: SequenceNumber,
        options: ReplayOptions = ReplayOptions(),
        observe: ((_ event: Envelope, inout LogState) throws -> Bool)? = nil
    ) throws -> LogState {
        try refusePointBeforeCompaction(point, session: session, options: options)
        guard state.sequence < point else { return state }
        var run = ReplayRun(consume state, options, isObserved: observe != nil, count: point.rawValue)
        _ = try run.fold(session, through: point, observe)
        return run.logState
    }

    /// The state at a point, folded either from `known` or from a state kept beside the log, whichever costs less.
    ///
    /// - Parameter known: A state of the same log, folded with the same options; it does not change.
    /// - Throws: as `logState`.
    public static func logState(
        of session: borrowing ReadSession,
        through point: SequenceNumber,
        from known: LogState?,
        options: ReplayOptions = ReplayOptions()
    ) throws -> LogState {
        if let known, known.sequence <= point {
            let fromKnown = point.rawValue - known.sequence.rawValue
            // Folding from a kept state also keeps new ones, which is worth a quarter more.
            if fromKnown + fromKnown / 4 < costFromKept(session, through: point, options) {
                return try advance(known, over: session, through: point, options: options)
            }
        }
        return try logState(of: session, through: point, options: options)
    }

    /// The cost of `logState`, in events folded. Loading a kept state counts as 0.3 of folding its events, which is
    /// the most that it takes (`KeptStateOptions.decodedPercentMax`). Without a kept state, the events after the last
    /// compaction's decision count; most of those before it are gone.
    static func costFromKept(
        _ session: borrowing ReadSession,
        through point: SequenceNumber,
        _ options: ReplayOptions
    ) -> UInt64 {
        let keeper = options.checks ? nil : options.keeper
        guard let kept = keeper?.sequences(through: point, in: session).last?.rawValue else {
            return point.rawValue - min(session.decidedAt, point).rawValue
        }
        return point.rawValue - kept + kept / 10 * 3
    }
}
