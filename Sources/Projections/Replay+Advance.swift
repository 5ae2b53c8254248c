public import EventLog

extension Replay {
    /// Folds the events after a state's own sequence into it, up to a point.
    ///
    /// Cost: O(events between the two). A copy of the state stays as it was.
    /// - Parameters:
    ///   - state: A state of the same log, folded with the same options.
    ///   - point: The last event to fold; nothing is folded where the state has it already.
    ///   - observe: Called after each event, acts included, with the state so far; returns false to stop.
    /// - Throws: as `workspace`.
    public static func advance(
        _ state: consuming Workspace,
        over session: borrowing ReadSession,
        through point: SequenceNumber,
        options: ReplayOptions = ReplayOptions(),
        observe: ((_ event: Envelope, inout Workspace) throws -> Bool)? = nil
    ) throws -> Workspace {
        try refusePointBeforeCompaction(point, session: session, options: options)
        guard state.sequence < point else { return state }
        var run = ReplayRun(consume state, options, isObserved: observe != nil, count: point.rawValue)
        _ = try run.fold(session, through: point, observe)
        return run.workspace
    }
}
