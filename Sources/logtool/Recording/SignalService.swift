#if Recorders
import Logging
import Synchronization
import UnixSignals

/// Handles the process's signals: SIGINT and SIGTERM shut it down in order, SIGHUP reads the configuration again. The
/// sequence must trap these three. Any thread may read `code`. A second SIGINT changes nothing: recorders are ending
/// already, and what they took must become durable.
final class SignalService: Sendable {
    private let signals: UnixSignalsSequence
    private let onHangup: @Sendable () -> Void
    private let stopCode = Mutex<Int32?>(nil)

    /// - Parameter onHangup: Called for each SIGHUP, on the task of `run`; the next signal waits until it returns.
    init(signals: UnixSignalsSequence, onHangup: @escaping @Sendable () -> Void) {
        self.signals = signals
        self.onHangup = onHangup
    }

    /// The exit code of the signal that ended the process, 128 + its number; `nil` before.
    var code: Int32? { stopCode.withLock { $0 } }

    /// Returns at the first SIGINT or SIGTERM, or when the task is cancelled.
    func run() async {
        for await signal in signals {
            switch signal {
            case .sighup: onHangup()
            case .sigint: return stopCode.withLock { $0 = 130 }
            default: return stopCode.withLock { $0 = 143 }
            }
        }
    }
}
#endif
