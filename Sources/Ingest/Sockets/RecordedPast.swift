#if Recorders
import EventLog

/// A source's connections and gaps as its events show them, for sources that use the bookmark for something else.
///
/// The ends of gaps are not in the log before the gaps are closed, so an open gap that had one begins again without it.
struct RecordedPast {
    /// The greatest number of a connection; 0 if there was none.
    private var number: UInt64 = 0
    /// The gaps that no event closed, in the order of the log.
    private var gaps: [RecordedGap] = []
    /// The time of receipt of the source's last event; `nil` if it has none.
    private var lastTime: Timestamp?

    /// Cost: reads the whole log once.
    init(_ history: RecordedHistory) throws {
        try history.forEachEvent { event in
            lastTime = event.envelope.recordedAt
            guard let key = event.envelope.key?.rawValue else { return }
            if let number = JournalStart.connectionNumber(in: key) { self.number = max(self.number, number) }
            guard event.envelope.kind == .recorderGap else { return }
            if event.envelope.attributes["gap"] == "open" {
                if let gap = RecordedGap(key: key, payload: event.payload) { gaps.append(gap) }
            } else {
                gaps.removeAll { $0.key + "/closed" == key }
            }
        }
    }

    /// The history with the bookmark that a journal would have left; an empty one if the source has no event.
    ///
    /// - Parameter alive: the last instant at which the recorder is known to have listened, if known from elsewhere.
    func journalHistory(_ history: RecordedHistory, aliveAt alive: Timestamp?) -> RecordedHistory {
        guard let lastTime else { return .empty }
        var bookmark = JournalBookmark(number: number, gaps: gaps, lastInbound: lastTime, session: nil)
        bookmark.alive = alive
        return RecordedHistory(
            bookmark: bookmark.bytes,
            holdsKey: { try history.holds($0) },
            latestKey: { try history.latestKey() }
        )
    }
}
#endif
