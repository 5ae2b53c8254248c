import EventLog
import Projections

/// A run of sequences, both ends included, as `--from` and `--to` give it.
///
/// For times both ends are inclusive, too: `--from T --to T` gives the events of that very instant.
struct PointRange {
    let from: Point?
    let to: Point?

    /// True if one of the two is given.
    var isGiven: Bool { from != nil || to != nil }

    /// The requested sequences in a session; `nil` if the log has none between the two. `--from 0` begins at the first
    /// event.
    func range(in session: borrowing ReadSession) throws -> ClosedRange<SequenceNumber>? {
        let first = try max(firstSequence(in: session), SequenceNumber(1))
        let last = try to?.resolve(in: session) ?? session.head
        return first <= last ? first...last : nil
    }

    /// The first sequence. For a time, it is the first event that the state just before that time lacks, so that
    /// `--from TIME` includes events of that very time. The log's times have microseconds, the remote's nanoseconds.
    private func firstSequence(in session: borrowing ReadSession) throws -> SequenceNumber {
        switch from {
        case .time(let time):
            guard time.microseconds > .min else { return .zero }
            return try Point.time(Timestamp(microseconds: time.microseconds - 1)).resolve(in: session).next
        case .remoteTime(let time):
            guard time.nanoseconds > 0 || time.seconds > .min else { return .zero }
            return try Point.remoteTime(Self.justBefore(time)).resolve(in: session).next
        case let point?: return try point.resolve(in: session)
        case nil: return .zero
        }
    }

    private static func justBefore(_ time: Timestamp) -> Timestamp {
        time.nanoseconds > 0
            ? Timestamp(seconds: time.seconds, nanoseconds: time.nanoseconds - 1)
            : Timestamp(seconds: time.seconds - 1, nanoseconds: 999_999_999)
    }
}
