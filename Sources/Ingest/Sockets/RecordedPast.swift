#if Recorders
import EventLog

/// What the log itself says of a source's connections, for sources whose bookmark says something else.
struct RecordedPast {
    private var number: UInt64 = 0
    private var gaps: [RecordedGap] = []
    private var lastTime: Timestamp?

    /// Cost: reads the whole log once.
    init(_ history: RecordedHistory) throws {
        try history.forEachEvent { event in
            lastTime = event.envelope.recordedAt
            guard let key = event.envelope.key?.rawValue else { return }
            if let number = ConnectionJournal.connectionNumber(in: key) { self.number = max(self.number, number) }
            guard event.envelope.kind == .recorderGap else { return }
            if event.envelope.attributes["gap"] == "open" {
                if let gap = RecordedGap(key: key, payload: event.payload) { gaps.append(gap) }
            } else {
                gaps.removeAll { $0.key + "/closed" == key }
            }
        }
    }

    /// The history with the bookmark that a journal would have left.
    ///
    /// - Parameter alive: until when the recorder is known to have listened, if anything says so beside the events.
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
