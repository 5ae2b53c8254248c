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
    func journalHistory(_ history: RecordedHistory) -> RecordedHistory {
        guard let lastTime else { return .empty }
        let bookmark = JournalBookmark(number: number, gaps: gaps, lastInbound: lastTime, session: nil)
        return RecordedHistory(
            bookmark: bookmark.bytes,
            holdsKey: { try history.holds($0) },
            latestKey: { try history.latestKey() }
        )
    }
}
#endif
