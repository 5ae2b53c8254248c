import EventLog
import Projections

/// Counts from one pass over a log, and the size of its state.
///
/// Cost: reads every event, and folds the state unless the derived data has its summary.
struct LogStatistics {
    /// One source's events. Counts are of held events; dropped ones left no source that could be counted.
    struct Source {
        let name: SourceName
        var kinds: [String: Int] = [:]
        /// Bytes of payloads alone. Envelopes, keys and LMDB's pages make the file larger.
        var payloadBytes = 0
        var first: Timestamp
        var last: Timestamp

        var events: Int { kinds.values.reduce(0, +) }
    }

    /// Statistics of the log's files.
    let store: StoreStatistics
    /// The last sequence assigned.
    let head: SequenceNumber
    /// Events whose payload is held.
    let held: Int
    /// Whether the log is a part of another one, so that events that are not held are missing rather than dropped.
    let isPart: Bool
    /// By name.
    let sources: [Source]
    /// The number of rows in each section of the state.
    let state: StateSummary

    /// Counts the events of the session's prefix, then takes the state's summary.
    init(session: borrowing ReadSession, store: StoreStatistics, progress: Progress) throws {
        self.store = store
        head = session.head
        isPart = try session.isPart()
        var (lanes, places): ([Lane], [UInt32: Int]) = ([], [:])
        // The lane of the event before, which is mostly that of the next one.
        var last: (number: UInt32, place: Int)?
        var held = 0
        if head > .zero {
            try session.forEachEvent(in: SequenceNumber(1)...head) { event in
                held += 1
                if held & 0xFFF == 0 {
                    progress.report("counted \(held) events", done: held, total: Int(clamping: store.held))
                }
                let number = event.laneNumber
                // Lanes save a lookup of names for each event.
                if last?.number != number {
                    if places[number] == nil { lanes.append(Lane(event)) }
                    last = (number, places[number, default: lanes.count - 1])
                    places[number] = last?.place
                }
                if let last { lanes[last.place].count(event) }
                return true
            }
        }
        self.held = held
        sources = Self.sources(of: lanes)
        progress.begin("replaying")
        var query = StateQuery()
        query.retained = true
        state = try Replay.summary(
            of: session,
            options: query.replayOptions,
            progress: progress.replayReporter(until: head)
        )
    }

    /// Joins lanes by source, sorted by name. Lanes differ by attributes, too, which no count shows.
    private static func sources(of lanes: some Sequence<Lane>) -> [Source] {
        var sources: [SourceName: Source] = [:]
        for lane in lanes {
            var source = sources[lane.source] ?? Source(name: lane.source, first: lane.first, last: lane.last)
            source.kinds[lane.kind.rawValue, default: 0] += lane.events
            source.payloadBytes += lane.payloadBytes
            source.first = min(source.first, lane.first)
            source.last = max(source.last, lane.last)
            sources[lane.source] = source
        }
        return sources.values.sorted { $0.name < $1.name }
    }

    /// The events of one source, one kind and equal attributes, counted together.
    private struct Lane {
        let source: SourceName
        let kind: EventKind
        var events = 0
        var payloadBytes = 0
        var first: Timestamp
        var last: Timestamp

        init(_ event: borrowing EventView) {
            (source, kind) = (event.source, event.kind)
            (first, last) = (event.recordedAt, event.recordedAt)
        }

        mutating func count(_ event: borrowing EventView) {
            events += 1
            payloadBytes += event.payloadCount
            first = min(first, event.recordedAt)
            last = max(last, event.recordedAt)
        }
    }
}
