#if Recorders
import EventLog
import Metrics

/// Reports one recorder's appends to metrics and to the caller. docs/recording.md lists the metrics and their units.
struct RecordingObserver: Sendable {
    /// Called on the appending thread after each batch.
    let progress: (@Sendable (IngestSummary) -> Void)?
    private let events: Counter
    private let batches: Timer

    init(source: SourceName, progress: (@Sendable (IngestSummary) -> Void)?) {
        self.progress = progress
        let dimensions = [("source", source.rawValue)]
        events = Counter(label: "eventlog_recorded_events_total", dimensions: dimensions)
        batches = Timer(label: "eventlog_append_seconds", dimensions: dimensions)
    }

    /// Counts events that became durable.
    ///
    /// - Parameters:
    ///   - count: pieces, skipped ones included.
    ///   - duration: from when the batch was taken out of the queue until it was durable.
    func appended(_ count: Int, in duration: Duration) {
        events.increment(by: count)
        let (seconds, attoseconds) = duration.components
        batches.recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
#endif
