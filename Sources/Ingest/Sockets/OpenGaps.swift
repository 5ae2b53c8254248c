#if Recorders
import EventLog

/// The open gaps of a source, and the events by which they open and close (I29).
///
/// A gap is dated by the clock with which it began and lasts as long as it did, whatever the clock was set to meanwhile.
struct OpenGaps: Sendable {
    /// In the order in which they were opened. Those that have an end are over but not closed: what was missed in them is still
    /// missing.
    private(set) var all: [RecordedGap]
    private let source: SourceName
    /// `LiveClock.steps`.
    private let steps: @Sendable () -> Int64

    init(_ all: [RecordedGap], of source: SourceName, steps: @escaping @Sendable () -> Int64) {
        (self.all, self.source, self.steps) = (all, source, steps)
    }

    /// Whether changes of a topic may be missed now.
    func hasGoing(_ topic: String?) -> Bool { all.contains { $0.to == nil && $0.topic == topic } }

    /// Opens a gap, whose key is the event's.
    ///
    /// - Parameters:
    ///   - counters: of the connection in which the gap is noticed.
    ///   - closes: what would close the gap, as `RecordedGap.closes`.
    mutating func open(
        _ reason: String,
        topic: String?,
        from: Timestamp,
        closes: String,
        _ counters: ConnectionCounters,
        at time: Timestamp
    ) throws -> DraftEvent {
        let key = "gap/\(counters.name)/\(counters.nextGap())"
        var gap = RecordedGap(key: key, topic: topic, reason: reason, from: min(from, time), closes: closes)
        gap.stepsBefore = steps()
        let draft = try draft(key, "open", connection: counters.name, gap.payload(to: nil), at: time)
        all.append(gap)
        return draft
    }

    /// Sets the end of gaps that have none: from `time` on nothing more is missed. The gaps stay open; no event is made, only the
    /// bookmark shows the end.
    mutating func end(at time: Timestamp, where isMeant: (RecordedGap) -> Bool) {
        for index in all.indices where all[index].to == nil && isMeant(all[index]) {
            all[index].to = end(of: all[index], at: time)
        }
    }

    /// Takes back the end of the last gap, if it is open: the connection that ended it was lost before it showed whether anything
    /// is missing. Gaps that an earlier run ended keep their ends.
    mutating func resumeLast() {
        guard let last = all.indices.last else { return }
        all[last].to = nil
    }

    /// Closes the first gap that `isMeant` accepts; `nil` if there is none. A gap without an end ends at `time`.
    ///
    /// One at a time: a batch may be cut behind any event, and the bookmark behind it must have the gaps that are still open then.
    ///
    /// - Parameter connection: the name of the connection that closes it; `nil` for the one that opened it.
    mutating func closeFirst(
        by closer: String,
        connection: String?,
        at time: Timestamp,
        where isMeant: (RecordedGap) -> Bool
    ) throws -> DraftEvent? {
        guard let place = all.firstIndex(where: isMeant) else { return nil }
        var gap = all.remove(at: place)
        gap.closes = closer
        // A wall clock that was stepped back between two runs must not make a gap that ends before it begins.
        let payload = gap.payload(to: max(gap.to ?? end(of: gap, at: time), gap.from))
        return try draft("\(gap.key)/closed", "close", connection: connection ?? gap.connection, payload, at: time)
    }

    /// The end of a gap in which nothing more is missed from `time` on.
    private func end(of gap: RecordedGap, at time: Timestamp) -> Timestamp {
        max(Timestamp(microseconds: time.microseconds &- (steps() &- gap.stepsBefore)), gap.from)
    }

    private func draft(
        _ key: String,
        _ word: String,
        connection: String,
        _ payload: [UInt8],
        at time: Timestamp
    ) throws -> DraftEvent {
        let pairs = [("gap", word), ("connection", connection)].map { Attributes.Pair(name: $0.0, value: $0.1) }
        let attributes = try Attributes(pairs)
        let frame = FrameDraft(recordedAt: time, source: source, kind: .recorderGap, key: key, attributes: attributes)
        return try frame.draft(payload: payload)
    }
}

extension RecordedGap {
    /// The connection that the key names, as `gap/CONNECTION/N`.
    fileprivate var connection: String {
        key.split(separator: "/").dropFirst().first.map(String.init) ?? ""
    }
}
#endif
