import EventLog
import Projections

/// Counts from one pass over a log, and the size of its state.
struct LogStatistics {
    /// One source's events.
    struct Source {
        let name: SourceName
        var kinds: [String: Int] = [:]
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
    /// How many rows each section of the state has, in the document's order.
    let rows: [(section: Section, count: Int)]
    /// The state's digest.
    let digest: Hash256

    init(session: borrowing ReadSession, store: StoreStatistics, progress: Progress) throws {
        self.store = store
        head = session.head
        isPart = try session.isPart()
        var sources: [SourceName: Source] = [:]
        var held = 0
        var options = ReplayOptions()
        options.retained = true
        if head > .zero {
            try session.forEachEvent(in: SequenceNumber(1)...head) { event in
                held += 1
                let count = event.withPayload(\.count)
                if held & 0xFFF == 0 {
                    progress.report("counted \(held) events", done: held, total: Int(clamping: store.held))
                }
                var source =
                    sources[event.source]
                    ?? Source(name: event.source, first: event.recordedAt, last: event.recordedAt)
                source.kinds[event.kind.rawValue, default: 0] += 1
                source.payloadBytes += count
                source.first = min(source.first, event.recordedAt)
                source.last = max(source.last, event.recordedAt)
                sources[event.source] = source
                return true
            }
        }
        self.held = held
        self.sources = sources.values.sorted { $0.name < $1.name }
        progress.begin("replaying")
        var state = try Replay.workspace(
            of: session,
            options: options,
            progress: progress.replayReporter(until: head)
        )
        let document = state.document()
        rows = Section.allCases.map { ($0, document[$0.rawValue]?.array?.count ?? 0) }
        digest = state.digest()
    }
}
