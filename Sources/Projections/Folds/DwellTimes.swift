import EventLog

/// How long a session had each status.
package enum DwellTimes {
    /// For each entry of a session's history, the duration of the status that the entry ended; `nil` if it begins a
    /// span, or if the clock was set back in between.
    ///
    /// Uses the remote's times if both entries have one, else the times of receipt: a difference between the two clocks
    /// is no duration.
    ///
    /// - Parameter history: the entries of one session, oldest first.
    package static func of(_ history: [HistoryEntry]) -> [Duration?] {
        history.indices.map { place in
            guard place > 0, history[place].change != "started" else { return nil }
            return dwell(from: history[place - 1], to: history[place])
        }
    }

    private static func dwell(from start: HistoryEntry, to end: HistoryEntry) -> Duration? {
        guard let began = start.remoteTime, let ended = end.remoteTime else {
            return duration(from: start.recordedAt, to: end.recordedAt)
        }
        return duration(from: began, to: ended)
    }

    private static func duration(from start: Timestamp, to end: Timestamp) -> Duration? {
        if end < start { return nil }
        let nanoseconds = Int64(end.nanoseconds) - Int64(start.nanoseconds)
        // As durations, which are 128 bits wide: the difference of two extreme times would not fit 64.
        return .seconds(end.seconds) - .seconds(start.seconds) + .nanoseconds(nanoseconds)
    }
}
