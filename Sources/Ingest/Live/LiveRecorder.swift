#if Recorders
public import EventLog

/// Runs live sources into logs.
public enum LiveRecorder {
    /// Records a source until it ends or the task is cancelled; what it had taken is durable on return.
    ///
    /// The only recorder of its source meanwhile: it holds the source's lock. Started again it goes on from what the log
    /// holds and doubles nothing (I4); what the remote cannot send again is a gap event.
    ///
    /// - Parameter progress: called after each batch, on the appending thread.
    /// - Returns: what was done, also where the task was cancelled.
    /// - Throws: as `Recorder.init`; what the source throws except `CancellationError`; what made an append fail.
    public static func record(
        _ source: any LiveSource,
        into store: EventStore,
        with tools: LiveTools,
        progress: (@Sendable (IngestSummary) -> Void)? = nil
    ) async throws -> IngestSummary {
        let queue = BatchQueue()
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
