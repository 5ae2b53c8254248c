#if Recorders
public import EventLog

/// Runs live sources into logs.
public enum LiveRecorder {
    /// Records a source until it ends or the task is cancelled. Everything that the source handed over is durable on
    /// return.
    ///
    /// Holds the source's lock meanwhile, so a source has one recorder (I6). Another run continues from what the log
    /// holds and duplicates nothing (I4); a gap event marks what the remote cannot send again (I29).
    ///
    /// - Parameters:
    ///   - rules: what is secret beside the recorder's tokens and the names and forms of docs/events.md.
    ///   - progress: called after each commit, on the thread that commits.
    /// - Returns: the counts, also if the task was cancelled.
    /// - Throws: as `Recorder.init`; the source's error, except `CancellationError`; the error of an append that
    ///   failed.
    public static func record(
        _ source: any LiveSource,
        into store: EventStore,
        with tools: LiveTools,
        redacting rules: RedactionRules = .none,
        progress: (@Sendable (IngestSummary) -> Void)? = nil
    ) async throws -> IngestSummary {
        let observer = RecordingObserver(source: source.name)
        // Taking the lock and reading the past block.
        let (recorder, history) = try await DetachedThread.result {
            let recorder = try Recorder(store: store, source: source.name, isLive: true) { summary, pieces, duration in
                progress?(summary)
                observer.appended(pieces, in: duration)
            }
            return (recorder, try recorder.history())
        }
        do {
            let recording = Recording(source.name, history: history, tools: tools, redacting: rules, sink: recorder)
            try await source.run(recording)
        } catch is CancellationError {
            return try await recorder.finished()
        } catch {
            _ = try await recorder.finished()
            throw error
        }
        return try await recorder.finished()
    }
}
#endif
