#if Recorders
import Ingest
import Logging

extension LiveTools {
    /// The tools that recorders share: this machine's clock and randomness, and log messages on standard error.
    ///
    /// The caller must shut `http` down when the last recorder has ended.
    ///
    /// - Parameters:
    ///   - trustFile: Certificates in PEM in place of the system's; `nil` for the system's.
    ///   - speed: Divides all pauses, for tests. Times of events stay the machine's.
    static func machine(trustFile: String?, level: Logger.Level, speed: Double = 1) throws -> LiveTools {
        LiveTools(
            clock: .machine(speed: speed, now: { SystemClock.now }),
            random: { Double.random(in: 0..<1) },
            http: try HTTPAccess(trustFile: trustFile),
            log: Logger(label: "logtool") { _ in StandardErrorLog(logLevel: level) }
        )
    }
}
#endif
