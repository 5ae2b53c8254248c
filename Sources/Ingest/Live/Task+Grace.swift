#if Recorders
import Synchronization

extension Task where Failure == any Error {
    /// The result of work that must not be left half done, such as spending a token that works once. If the caller is
    /// cancelled, the work goes on for `grace` and is cancelled only then.
    ///
    /// - Throws: the work's error.
    func value(graceOnceCancelled grace: Duration, of clock: LiveClock) async throws -> Success {
        // Ended when the work is done first, so that no timer outlives it.
        let patience = Mutex<Task<Void, Never>?>(nil)
        defer { patience.withLock { $0?.cancel() } }
        return try await withTaskCancellationHandler {
            try await value
        } onCancel: {
            // An unstructured task: the caller's is cancelled, and a child of it could not wait any more.
            let timer = Task<Void, Never> {
                guard (try? await clock.sleep(grace)) != nil else { return }
                cancel()
            }
            patience.withLock { $0 = timer }
        }
    }
}
#endif
