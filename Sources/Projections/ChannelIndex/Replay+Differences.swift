public import EventLog

extension Replay {
    /// The differences between the states at two points of one log, as `StateDiff.differences` gives them for the
    /// documents.
    ///
    /// If the events between the points change only rows of a few channels, the index of channels serves as in
    /// `channels(named:)`, and only events of these channels are folded (I21). Otherwise the log is folded once. Only rows
    /// touched by events between the points are compared. Cost: O(events folded), O(touched rows) to compare, and the
    /// ids of the channels whose messages were touched. Both states are in memory at the end.
    /// - Parameters:
    ///   - first: The point of the first state.
    ///   - second: The point of the second state, before or after the first.
    ///   - progress: Called now and then with the last event that was scanned or folded.
    /// - Throws: as `logState`, for either point.
    public static func differences(
        of session: borrowing ReadSession,
        from first: SequenceNumber,
        to second: SequenceNumber,
        options: ReplayOptions = ReplayOptions(),
        progress: ((SequenceNumber) -> Void)? = nil
    ) throws -> [StateDifference] {
        let points = (earlier: min(first, second), later: max(first, second))
        try refusePointBeforeCompaction(points.earlier, session: session, options: options)
        let states =
            try channelStates(of: session, points, options, progress)
            ?? wholeStates(of: session, points, options, progress)
        let (a, b) = first <= second ? (states.earlier, states.later) : (states.later, states.earlier)
        return StateDiff.differences((a, states.touched), (b, states.touched), isOneFold: true)
    }

    /// The states at both points, folded once, and the rows that the events between them touched.
    private static func wholeStates(
        of session: borrowing ReadSession,
        _ points: (earlier: SequenceNumber, later: SequenceNumber),
        _ options: ReplayOptions,
        _ progress: ((SequenceNumber) -> Void)?
    ) throws -> ComparedStates {
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
        return ComparedStates(earlier: earlier, later: later, touched: touched)
    }

    /// The same of the only channels that the events between the points change; `nil` if these events change other rows,
    /// the index does not serve, or the whole states cost less.
    static func channelStates(
        of session: borrowing ReadSession,
        _ points: (earlier: SequenceNumber, later: SequenceNumber),
        _ options: ReplayOptions,
        _ progress: ((SequenceNumber) -> Void)?
    ) throws -> ComparedStates? {
        let between = points.later.rawValue - points.earlier.rawValue
        guard let keeping = options.keeping, options.readsAll, points.later <= session.head,
            between <= TouchedChannels.eventsMax
        else { return nil }
        var (entriesMax, scannedMax) = (UInt64.max, UInt64.max)
        if keeping.weighsChannels {
            let cost = costFromKept(session, through: points.earlier, options) + between
            // A short log is folded before an index of it is made.
            guard cost >= UInt64(keeping.channelEventsMin) else { return nil }
            // An entry takes a third of the time of an event, and scanning one no longer than folding it. An index
            // serves later comparisons, too, so it may cost more than the whole states do once. For a point near the
            // beginning of a long log, it would cost too much.
            (entriesMax, scannedMax) = (cost, cost &* 4)
        }
        guard let channels = try TouchedChannels(session, after: points.earlier, through: points.later) else {
            return nil
        }
        if channels.isEmpty { return ComparedStates() }
        guard var replay = try index(of: session, through: points.later, options, progress, scannedMax: scannedMax)
        else { return nil }
        return try replay.states(of: channels, points, entriesMax: entriesMax, session)
    }
}
