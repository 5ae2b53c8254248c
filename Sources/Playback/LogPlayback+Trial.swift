#if Recorders
package import EventLog
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

extension LogPlayback {
    /// Runs `body` with the server's address while the log up to a point is served, on a new port (`bisect --play`).
    ///
    /// Blocks its thread, because a bisection is synchronous. The server runs in a detached task, which has ended when
    /// this returns.
    ///
    /// - Throws: what `body` throws; `EventLogError` if the log could not be read, for example because an event is not as
    ///   it was appended. What the client made of the rest does not count then.
    package func serving<Value>(through point: SequenceNumber, _ body: (String) throws -> Value) throws -> Value {
        var prefix = self
        prefix.end = point
        let served = prefix
        let play = try served.context()
        // `started` fails if the server cannot listen, so `body` is not called then.
        let started = Outcome(), ended = Outcome()
        let task = Task.detached {
            do {
                try await served.serve(play, at: .free) { started.set(.success($0)) }
            } catch {
                started.set(.failure(error))
                if error is EventLogError { ended.set(.failure(error)) }
            }
            ended.set(.success(""))
        }
        let result = Result { try body(started.wait()) }
        task.cancel()
        _ = try ended.wait()
        return try result.get()
    }

    /// A result that one thread sets and another polls for. Waits in trials last long compared with a poll's
    /// millisecond.
    private final class Outcome: Sendable {
        private let value = Mutex<Result<String, any Error>?>(nil)

        /// Sets the result; later calls change nothing.
        func set(_ result: Result<String, any Error>) {
            value.withLock { $0 = $0 ?? result }
        }

        /// Blocks its thread until the result is set.
        func wait() throws -> String {
            while true {
                if let result = value.withLock({ $0 }) { return try result.get() }
                usleep(1_000)
            }
        }
    }
}
#endif
