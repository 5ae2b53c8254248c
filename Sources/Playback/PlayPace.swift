#if Recorders
import EventLog

/// Decides when the next event may be given: by the recorded distances and the speed, or by releases.
///
/// It has no clock. Distances are measured from an anchor, not from the event before, so rounding and late wake-ups do
/// not add up.
struct PlayPace {
    let speed: PlaySpeed
    let isStepping: Bool
    /// Events that may still be given when stepping.
    var releases = 0
    /// A recorded time and the instant at which it was given. `nil` after a wait for the client: the next event is then
    /// due at once.
    private var anchor: (recorded: Timestamp, given: PlayInstant)?

    init(speed: PlaySpeed, isStepping: Bool) {
        self.speed = speed
        self.isStepping = isStepping
    }

    /// Whether every event may be given at once.
    var isImmediate: Bool { !isStepping && speed == .max }

    /// Makes the next event due at once and measures from it. Called after a wait for the client.
    mutating func restart() { anchor = nil }

    /// The time to wait before an event: zero to give it now, `nil` until another release comes.
    mutating func wait(for recorded: Timestamp, at now: PlayInstant) -> Duration? {
        if isStepping { return releases > 0 ? .zero : nil }
        guard case .times(let factor) = speed else { return .zero }
        guard let anchor else {
            self.anchor = (recorded, now)
            return .zero
        }
        let microseconds = Double(recorded.microseconds - anchor.recorded.microseconds) / factor
        // A clock that went back gives zero. 1e15 µs (31 years) keeps the conversion from overflowing.
        let due = anchor.given + .microseconds(Int64(min(max(microseconds, 0), 1e15)))
        return max(.zero, due - now)
    }

    /// Notes that an event was given, which uses up a release when stepping.
    mutating func gave() {
        guard isStepping else { return }
        assert(releases > 0, "an event was given without a release")
        releases -= 1
    }
}
#endif
