import EventLog
import Projections

/// A notice for a time before the first event: a git log records years of a remote in one moment, so a user may mean
/// the remote's time.
enum PointNotice {
    /// The notice; `nil` unless the point is a time before the first event.
    ///
    /// A time between events names the event before it and needs no notice.
    static func text(for point: Point?, resolvedTo sequence: SequenceNumber, in session: borrowing ReadSession) throws
        -> String?
    {
        guard case .time(let time)? = point, sequence == .zero, session.head > .zero,
            let first = try session.clock(at: SequenceNumber(1))
        else { return nil }
        return "nothing was recorded by \(TimeText.full(time)): recording began at \(TimeText.full(first)); "
            + "for the remote's own times write remote:\(TimeText.short(time))"
    }
}
