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
    ///   - progress: called after each batch, on the appending thread.
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
        let queue = SourceBatchQueue()
        let observer = RecordingObserver(source: source.name, progress: progress)
        let (thread, history) = try await AppendThread.start(
            queue,
            store: store,
            source: source.name,
            observer: observer
        )
        do {
            let recording = Recording(source.name, history: history, tools: tools, redacting: rules, queue: queue)
            try await source.run(recording)
        } catch is CancellationError {
            return try await thread.finish()
        } catch {
            _ = try await thread.finish()
            throw error
        }
        return try await thread.finish()
    }
}
#endif
