import EventLog
import Synchronization

/// Counts what belongs to one connection; shared by the tasks that record for it.
final class ConnectionCounters: Sendable {
    private struct Counts {
        var frames: UInt64 = 0
        var rest: UInt64 = 0
        var http: UInt64 = 0
        var gaps: UInt64 = 0
        var limits: UInt64 = 0
    }

    /// The connection's name in keys and attributes: `c` and its number.
    let name: String
    private let counts = Mutex(Counts())

    init(number: UInt64) {
        name = "c\(number)"
    }

    /// The next frame's number, of both directions, from 1.
    func nextFrame() -> UInt64 { next(\.frames) }

    func nextGap() -> UInt64 { next(\.gaps) }

    func nextLimit() -> UInt64 { next(\.limits) }

    func nextHTTP() -> UInt64 { next(\.http) }

    private func next(_ path: WritableKeyPath<Counts, UInt64>) -> UInt64 {
        counts.withLock { counts in
            counts[keyPath: path] += 1
            return counts[keyPath: path]
        }
    }

    /// The body of an answer to a REST request, with its secrets replaced.
    func rest(
        _ kind: EventKind,
        _ answer: HTTPAccess.Answer,
        path: String,
        source: SourceName,
        extra: [Attributes.Pair] = [],
        at time: Timestamp
    ) throws -> DraftEvent {
        let frame = FrameDraft(
            recordedAt: time,
            source: source,
            kind: kind,
            key: "\(name)/r/\(next(\.rest))",
            attributes: extra + [
                Attributes.Pair(name: "connection", value: name), Attributes.Pair(name: "path", value: path),
                Attributes.Pair(name: "status", value: String(answer.status)),
            ]
        )
        return try frame.redacted(payload: answer.body)
    }

    /// An HTTP status that says how the recorder may go on.
    func http(
        _ status: Int,
        path: String,
        retryAfter: Int?,
        source: SourceName,
        at time: Timestamp
    ) throws -> DraftEvent {
        var pairs = [
            Attributes.Pair(name: "connection", value: name), Attributes.Pair(name: "path", value: path),
            Attributes.Pair(name: "status", value: String(status)),
        ]
        if let retryAfter { pairs.append(Attributes.Pair(name: "retry-after", value: String(retryAfter))) }
        let key = "\(name)/h/\(next(\.http))"
        let frame = FrameDraft(recordedAt: time, source: source, kind: .recorderHTTP, key: key, attributes: pairs)
        return try frame.draft(payload: [])
    }
}
