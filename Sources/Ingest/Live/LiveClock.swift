#if Recorders
public import EventLog
import Synchronization

/// The clocks of a live recorder; tests replace them.
public struct LiveClock: Sendable {
    /// The wall clock: for `recordedAt`, and to compare with times that remotes state.
    public let now: @Sendable () -> Timestamp
    /// The span since a fixed but arbitrary instant; never runs backwards. For all measured durations.
    public let elapsed: @Sendable () -> Duration
    /// Waits; throws `CancellationError` as soon as the task is cancelled.
    public let sleep: @Sendable (Duration) async throws -> Void
    /// Waits between two polls, like `sleep`; separate so that tests can tell the two apart.
    var tick: @Sendable (Duration) async throws -> Void
    /// The factor by which `sleep` is shorter than its argument, measured by `elapsed`.
    private(set) var speed = 1.0

    /// Makes a clock from its three parts.
    public init(
        now: @escaping @Sendable () -> Timestamp,
        elapsed: @escaping @Sendable () -> Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.now = now
        self.elapsed = elapsed
        self.sleep = sleep
        tick = sleep
    }

    /// The machine's monotonic clock, with the caller's wall clock.
    ///
    /// - Parameter speed: the factor by which pauses are shortened, for tests against servers that run as much faster.
    ///   Timeouts for a server's answers stay as they are, because a loaded machine is not faster.
    public static func machine(speed: Double = 1, now: @escaping @Sendable () -> Timestamp) -> LiveClock {
        let start = ContinuousClock.now
        var clock = LiveClock(
            now: now,
            elapsed: { ContinuousClock.now - start },
            sleep: { try await ContinuousClock().sleep(for: max($0, .zero) / speed) }
        )
        clock.speed = speed
        return clock
    }

    /// A copy whose wall clock never runs backwards: if the machine's is stepped back, it stops until that has caught
    /// up.
    ///
    /// So no event of a run has an earlier time of receipt than the one before it.
    func rising() -> LiveClock {
        let latest = Latest()
        let now = now
        var risen = LiveClock(now: { latest.take(now()) }, elapsed: elapsed, sleep: sleep)
        risen.tick = tick
        risen.speed = speed
        return risen
    }

    private final class Latest: Sendable {
        private let time = Mutex<Timestamp?>(nil)

        func take(_ now: Timestamp) -> Timestamp {
            time.withLock { latest in
                let risen = max(latest ?? now, now)
                latest = risen
                return risen
            }
        }
    }
}
#endif
