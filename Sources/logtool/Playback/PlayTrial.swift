#if Recorders
import EventLog
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Serves prefixes of a log to the client that a command drives (`bisect --play`). One prefix at a time, on a new port
/// each.
struct PlayTrial {
    private let store: EventStore
    private let form: PlayForm
    private let source: SourceName

    /// - Parameter form: What to serve as; `nil` if exactly one form can be served from the log.
    ///
    /// - Throws: `Failure` if no form fits, several do, or no single source fits the form.
    init(store: EventStore, form: PlayForm?, source: SourceName?) throws {
        self.store = store
        self.form = try form ?? Self.form(of: store)
        self.source = try Playback.source(source, of: store, as: self.form)
    }

    private static func form(of store: EventStore) throws -> PlayForm {
        let forms = try PlayForm.allCases.filter { $0.isServer }.filter {
            try !Playback.sources(of: store, as: $0).isEmpty
        }
        if forms.count == 1 { return forms[0] }
        let names = (forms.isEmpty ? PlayForm.allCases.filter { $0.isServer } : forms).map(\.rawValue)
        let has = forms.isEmpty ? "nothing that a server gives" : "several"
        throw Failure("bisect: the log holds \(has); say what to play with --play-as: \(names.joined(separator: ", "))")
    }

    /// Runs `body` with the server's address while the log up to a point is served.
    ///
    /// Blocks its thread, because a bisection is synchronous. The server runs in a detached task, which has ended when
    /// this returns.
    ///
    /// - Throws: what `body` throws; `EventLogError` if the log could not be read, for example because an event is not as
    ///   it was appended. What the client made of the rest does not count then.
    func serving<Value>(through point: SequenceNumber, _ body: (String) throws -> Value) throws -> Value {
        let playback = Playback(store: store, form: form, source: source, end: point)
        let play = try playback.context()
        // `started` fails if the server cannot listen, so `body` is not called then.
        let started = Outcome(), ended = Outcome()
        let task = Task.detached {
            do {
                try await playback.serve(play, at: .free) { started.set(.success($0.hostAndPort)) }
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
