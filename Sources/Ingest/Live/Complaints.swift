#if Recorders
import Logging

/// Logs why a remote gives nothing: each cause at once, then after 2, 4, 8, … failures, so that a remote that is down
/// all night does not fill the screen.
struct Complaints {
    /// A connection that lasted this long was no failed attempt; the count starts over after it.
    private static let settled = Duration.seconds(60)

    private let log: Logger
    private let elapsed: @Sendable () -> Duration
    /// The cause of the last failure.
    private var cause: String?
    /// The failures in a row with that cause.
    private var count = 0
    /// When the last attempt succeeded; `nil` if the last one failed.
    private var connectedAt: Duration?

    init(_ recording: Recording) {
        log = recording.log
        elapsed = recording.clock.elapsed
    }

    /// Counts a failed attempt; logs it if the cause is new or came 2, 4, 8, … times in a row.
    mutating func failed(_ message: Logger.Message, _ cause: String) {
        let isFresh = cause != self.cause || connectedAt.map { elapsed() - $0 >= Self.settled } ?? false
        (self.cause, count, connectedAt) = (cause, isFresh ? 1 : count + 1, nil)
        guard isSaid else { return }
        var metadata: Logger.Metadata = ["reason": "\(cause)"]
        if count > 1 { metadata["attempts"] = "\(count)" }
        log.notice(message, metadata: metadata)
    }

    /// Notes a success; logs it as a notice if the failure before it was logged, else as information.
    mutating func succeeded(_ message: Logger.Message) {
        connectedAt = elapsed()
        if count > 0, isSaid { log.notice(message) } else { log.info(message) }
    }

    /// True if the count is 0 or a power of two.
    private var isSaid: Bool { count & (count - 1) == 0 }
}
#endif
