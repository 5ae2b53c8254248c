import EventLog

/// How long a session had each status.
public enum DwellTimes {
    /// For each entry of a session's history, how long the status lasted that it ended; `nil` for one that begins a span.
    ///
    /// By the remote's own times where both entries have one, else by those of the recorder. Below zero where a clock was
    /// set back in between.
    ///
    /// - Parameter history: the entries of one session, oldest first.
    public static func of(_ history: [HistoryEntry]) -> [Duration?] {
        history.indices.map { place in
            guard place > 0, history[place].change != "started" else { return nil }
            return dwell(from: history[place - 1], to: history[place])
        }
    }

    private static func dwell(from start: HistoryEntry, to end: HistoryEntry) -> Duration {
        guard let began = start.remoteTime, let ended = end.remoteTime else {
            return duration(from: start.recordedAt, to: end.recordedAt)
        }
        return duration(from: began, to: ended)
    }

    private static func duration(from start: Timestamp, to end: Timestamp) -> Duration {
        let nanoseconds = Int64(end.nanoseconds) - Int64(start.nanoseconds)
        return .seconds(end.seconds) - .seconds(start.seconds) + .nanoseconds(nanoseconds)
    }
}
