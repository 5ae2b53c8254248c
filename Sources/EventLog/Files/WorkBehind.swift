import Dispatch
import Synchronization

/// Runs work on another thread while the caller continues, one piece of work at a time. `run` and `finish` are for one
/// thread.
package final class WorkBehind: Sendable {
    private let queue = DispatchQueue(label: "eventlog.behind")
    /// `run` waits for it before it begins the next work, so that there is at most one piece.
    private let group = DispatchGroup()
    /// The error of the last work that failed. It stays, so that every later call throws.
    private let failure = Mutex<(any Error)?>(nil)

    /// Makes one without work.
    package init() {}

    /// Waits for the last work, then begins the next.
    ///
    /// - Throws: what earlier work has thrown; then nothing is begun.
    package func run(_ work: @escaping @Sendable () throws -> Void) throws {
        try finish()
        queue.async(group: group) {
            do {
                try work()
            } catch {
                self.failure.withLock { $0 = error }
            }
        }
    }

    /// Waits for the work.
    ///
    /// - Throws: what any work has thrown so far.
    package func finish() throws {
        group.wait()
        if let error = failure.withLock({ $0 }) { throw error }
    }
}
