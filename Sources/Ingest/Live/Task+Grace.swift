#if Recorders
import Synchronization

extension Task where Failure == any Error {
    /// The result of work that must not be left half done, such as spending a token that is good for one use: if the
    /// caller is cancelled the work goes on for a while, and is cancelled only then.
    ///
    /// - Throws: what the work throws.
    func value(graceOnceCancelled grace: Duration, of clock: LiveClock) async throws -> Success {
        let patience = Mutex<Task<Void, Never>?>(nil)
        defer { patience.withLock { $0?.cancel() } }
        return try await withTaskCancellationHandler {
            try await value
        } onCancel: {
            let timer = Task<Void, Never> {
                guard (try? await clock.sleep(grace)) != nil else { return }
                cancel()
            }
            patience.withLock { $0 = timer }
        }
    }
}
#endif
