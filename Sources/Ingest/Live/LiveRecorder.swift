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
    /// - Parameter progress: called after each batch, on the appending thread.
    /// - Returns: the counts, also if the task was cancelled.
    /// - Throws: as `Recorder.init`; the source's error, except `CancellationError`; the error of an append that
    ///   failed.
    public static func record(
        _ source: any LiveSource,
        into store: EventStore,
        with tools: LiveTools,
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
            try await source.run(Recording(source.name, history: history, tools: tools, queue: queue))
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
