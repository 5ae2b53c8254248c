#if Recorders
public import EventLog
import Synchronization

/// What a live recorder knows of time; tests give it a time of their own.
public struct LiveClock: Sendable {
    /// The wall clock: for `recordedAt`, and for what remotes state as times.
    public let now: @Sendable () -> Timestamp
    /// A span since any fixed instant that never runs backwards: for everything that is measured.
    public let elapsed: @Sendable () -> Duration
    /// Waits; throws `CancellationError` as soon as the task is cancelled.
    public let sleep: @Sendable (Duration) async throws -> Void
    /// Waits until the next look at whether something came; as `sleep`, but tests tell the two apart.
    var tick: @Sendable (Duration) async throws -> Void
    /// How much faster than `elapsed` says `sleep` is over.
    private(set) var speed = 1.0

    /// Makes a clock of its three parts.
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

    /// The machine's clock; only the wall clock comes from outside.
    ///
    /// - Parameter speed: how much faster than the world pauses are over: for tests against servers that run as fast.
    ///   The time that a server has for its answers stays as it is, for a loaded machine is not faster.
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

    /// The same clock, whose wall clock stands still where the machine's steps back, until that has caught up.
    ///
    /// So what one run records of a source never seems to be older than what came before it.
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
