#if Recorders
import EventLog

/// When the next event may be given.
struct PlayPace {
    let speed: PlaySpeed
    let isStepping: Bool
    /// Releases that were not used.
    var releases = 0
    /// A recorded time and when it was given; `nil` after a wait for the client, from which times are counted anew.
    private var anchor: (recorded: Timestamp, given: PlayInstant)?

    init(speed: PlaySpeed, isStepping: Bool) {
        self.speed = speed
        self.isStepping = isStepping
    }

    /// Whether nothing is ever waited for.
    var isImmediate: Bool { !isStepping && speed == .max }

    /// Counts the times anew.
    mutating func restart() { anchor = nil }

    /// How long to wait before an event; zero to give it now, `nil` for a release that has not come.
    mutating func wait(for recorded: Timestamp, at now: PlayInstant) -> Duration? {
        if isStepping { return releases > 0 ? .zero : nil }
        guard case .times(let factor) = speed else { return .zero }
        guard let anchor else {
            self.anchor = (recorded, now)
            return .zero
        }
        let microseconds = Double(recorded.microseconds - anchor.recorded.microseconds) / factor
        let due = anchor.given + .microseconds(Int64(min(max(microseconds, 0), 1e15)))
        return max(.zero, due - now)
    }

    /// An event was given.
    mutating func gave() {
        if isStepping { releases -= 1 }
    }
}
#endif
