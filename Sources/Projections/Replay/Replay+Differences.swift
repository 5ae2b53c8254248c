public import EventLog

extension Replay {
    /// The differences between the states at two points of one log, as `StateDiff.differences` gives them for the
    /// documents.
    ///
    /// The log is folded once, and only rows touched by events between the points are compared. Cost: O(events) to
    /// fold, O(touched rows) to compare, and the ids of the channels whose messages were touched. Both states are in
    /// memory at the end.
    /// - Parameters:
    ///   - first: The point of the first state.
    ///   - second: The point of the second state, before or after the first.
    ///   - progress: Called now and then with the last event that was folded.
    /// - Throws: as `logState`, for either point.
    public static func differences(
        of session: borrowing ReadSession,
        from first: SequenceNumber,
        to second: SequenceNumber,
        options: ReplayOptions = ReplayOptions(),
        progress: ((SequenceNumber) -> Void)? = nil
    ) throws -> [StateDifference] {
        let points = (earlier: min(first, second), later: max(first, second))
        let earlier = try logState(of: session, through: points.earlier, options: options, progress: progress)
        var touched = TouchedRows()
        var isTold = 0
        let later = try advance(earlier, over: session, through: points.later, options: options) { event, state in
            touched.add(event, of: state)
            isTold &+= 1
            // Every 65,536 events.
            if isTold & 0xFFFF == 0 { progress?(event.sequence) }
            return true
        }
        let states = first <= second ? (earlier, later) : (later, earlier)
        return StateDiff.differences((states.0, touched), (states.1, touched), isOneFold: true)
    }
}
