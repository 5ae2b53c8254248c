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
    /// The span since a fixed but arbitrary instant, by which steps of the wall clock are noticed; `nil` notices none.
    var steady: (@Sendable () -> Duration)?
    /// How far the wall clock was set since the run began, in microseconds: the sum of its steps. A time from before a
    /// step plus the step is the same instant by the clock as it goes now.
    private(set) var steps: @Sendable () -> Int64 = { 0 }
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
        clock.steady = { ContinuousClock.now - start }
        return clock
    }

    /// A copy that notices steps of its wall clock when it is looked at.
    ///
    /// Its times follow the machine's clock at once, forwards and back: the order of a log is that of its sequences.
    /// `steps` tells how far apart two times from before and after a step are, so that outages keep their length.
    ///
    /// - Parameter tell: called with the first step, for people.
    func noticingSteps(_ tell: @escaping @Sendable (Duration) -> Void) -> LiveClock {
        guard let steady else { return self }
        let noticed = ClockSteps(now: now, steady: steady, tell: tell)
        var clock = LiveClock(now: { noticed.now() }, elapsed: elapsed, sleep: sleep)
        clock.steady = steady
        clock.steps = { noticed.sum() }
        clock.tick = tick
        clock.speed = speed
        return clock
    }
}

/// Compares a wall clock with a steady one at each look.
private final class ClockSteps: Sendable {
    /// A smaller difference between two looks is drift, or a machine that is too busy to look at two clocks at once.
    private static let leastMicroseconds: Int64 = 2_000_000

    private struct State {
        /// The wall clock less the steady one at the last look, in microseconds.
        var offset: Int64?
        var hasTold = false
    }

    private let wall: @Sendable () -> Timestamp
    private let steady: @Sendable () -> Duration
    private let tell: @Sendable (Duration) -> Void
    private let state = Mutex(State())
    /// The sum of the steps. Read for each frame, so without a lock.
    private let total = Atomic<Int64>(0)

    init(
        now: @escaping @Sendable () -> Timestamp,
        steady: @escaping @Sendable () -> Duration,
        tell: @escaping @Sendable (Duration) -> Void
    ) {
        (wall, self.steady, self.tell) = (now, steady, tell)
        _ = self.now()
    }

    func now() -> Timestamp {
        let (time, step) = state.withLock { state -> (Timestamp, Int64?) in
            let time = wall()
            return (time, note(time, in: &state))
        }
        if let step { tell(.microseconds(step)) }
        return time
    }

    /// The sum of the steps up to the last look.
    func sum() -> Int64 { total.load(ordering: .relaxed) }

    /// Notes a look; returns the step if it is the first.
    private func note(_ time: Timestamp, in state: inout State) -> Int64? {
        let (seconds, attoseconds) = steady().components
        let elapsed = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        let offset = time.microseconds &- elapsed
        defer { state.offset = offset }
        guard let before = state.offset else { return nil }
        let (step, isFar) = offset.subtractingReportingOverflow(before)
        guard !isFar, step.magnitude >= Self.leastMicroseconds.magnitude else { return nil }
        total.wrappingAdd(step, ordering: .relaxed)
        defer { state.hasTold = true }
        return state.hasTold ? nil : step
    }
}
#endif
