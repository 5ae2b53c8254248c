#if Recorders
import EventLog
import Metrics

/// Reports one recorder's appends to metrics. docs/recording.md lists the metrics and their units.
struct RecordingObserver: Sendable {
    private let events: Counter
    private let batches: Timer

    init(source: SourceName) {
        let dimensions = [("source", source.rawValue)]
        events = Counter(label: "eventlog_recorded_events_total", dimensions: dimensions)
        batches = Timer(label: "eventlog_append_seconds", dimensions: dimensions)
    }

    /// Counts events that became durable.
    ///
    /// - Parameters:
    ///   - count: pieces, skipped ones included.
    ///   - duration: that of the commit.
    func appended(_ count: Int, in duration: Duration) {
        events.increment(by: count)
        let (seconds, attoseconds) = duration.components
        batches.recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
#endif
