#if Recorders
import Logging

/// Tells people why a remote gives nothing: each cause once, then at growing distances, so that a remote that is away for a
/// night fills no screen.
struct Complaints {
    /// A connection that lasted so long is no failed attempt.
    private static let settled = Duration.seconds(60)

    private let log: Logger
    private let elapsed: @Sendable () -> Duration
    private var cause: String?
    private var count = 0
    private var connectedAt: Duration?

    init(_ recording: Recording) {
        log = recording.log
        elapsed = recording.clock.elapsed
    }

    /// Takes an attempt that failed; says so where the cause is new, or came 2, 4, 8, … times.
    mutating func failed(_ message: Logger.Message, _ cause: String) {
        let isFresh = cause != self.cause || connectedAt.map { elapsed() - $0 >= Self.settled } ?? false
        (self.cause, count, connectedAt) = (cause, isFresh ? 1 : count + 1, nil)
        guard isSaid else { return }
        var metadata: Logger.Metadata = ["reason": "\(cause)"]
        if count > 1 { metadata["attempts"] = "\(count)" }
        log.notice(message, metadata: metadata)
    }

    /// Takes a success; says so as loudly as the failure before it.
    mutating func succeeded(_ message: Logger.Message) {
        connectedAt = elapsed()
        if count > 0, isSaid { log.notice(message) } else { log.info(message) }
    }

    /// Whether the count is a power of two.
    private var isSaid: Bool { count & (count - 1) == 0 }
}
#endif
