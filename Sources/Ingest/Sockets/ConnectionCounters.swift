#if Recorders
import EventLog
import Synchronization

/// Numbers the events of one connection, each kind from 1. Shared by the tasks that record for it, so a mutex guards
/// the counts.
///
/// A number is never given twice (I4). One that is taken for an event that is not appended stays unused.
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
    /// The bytes before the number in a frame's key: `cN/`.
    private let keyStart: [UInt8]
    /// The most decimal digits of a 64-bit number.
    /// Together with `keyStart` the size of the room for a key.
    private static let digitsMax = 20

    init(number: UInt64) {
        name = "c\(number)"
        keyStart = Array("\(name)/".utf8)
    }

    /// The key of the next frame. Frames in and out share one numbering, from 1.
    func nextFrameKey() -> String {
        withNextFrameKey { String(decoding: $0, as: UTF8.self) }
    }

    /// Lends the bytes of the next frame's key without making a `String`, for thousands of frames a second. The bytes
    /// are valid only within `body`.
    func withNextFrameKey<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        var rest = counts.withLock { Self.raised(&$0.frames) }
        return try withUnsafeTemporaryAllocation(byteCount: keyStart.count + Self.digitsMax, alignment: 1) { room in
            // The digits come last one first, so they are written from the room's end. The loop behind then moves them
            // up to the key's beginning; it copies in ascending order, because the two places may overlap.
            room.copyBytes(from: keyStart)
            var digits = 0
            repeat {
                digits += 1
                assert(digits <= Self.digitsMax, "the digits must not reach the key's beginning")
                room[room.count - digits] = 0x30 + UInt8(rest % 10)
                rest /= 10
            } while rest > 0
            let count = keyStart.count + digits
            for place in keyStart.count..<count { room[place] = room[room.count - count + place] }
            return try body(UnsafeRawBufferPointer(rebasing: room[..<count]))
        }
    }

    /// The number of the next gap, for `gap/CONNECTION/N`.
    func nextGap() -> UInt64 { counts.withLock { Self.raised(&$0.gaps) } }

    /// The number of the next report of a rate limit, for `CONNECTION/l/N`.
    func nextLimit() -> UInt64 { counts.withLock { Self.raised(&$0.limits) } }

    /// The number of the next HTTP event, for `CONNECTION/h/N`.
    func nextHTTP() -> UInt64 { counts.withLock { Self.raised(&$0.http) } }

    /// The number of the next REST answer, for `CONNECTION/r/N`.
    private func nextREST() -> UInt64 { counts.withLock { Self.raised(&$0.rest) } }

    private static func raised(_ count: inout UInt64) -> UInt64 {
        count += 1
        return count
    }

    /// An event with the body of a REST answer, its secrets replaced (I14).
    ///
    /// - Parameters:
    ///   - path: the path and query in the form that may be recorded, without secrets.
    ///   - extra: attributes beside connection, path and status.
    ///   - time: the time of receipt, or of the request where changes may overtake the answer.
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
            key: "\(name)/r/\(nextREST())",
            attributes: try Attributes(
                extra + [
                    Attributes.Pair(name: "connection", value: name), Attributes.Pair(name: "path", value: path),
                    Attributes.Pair(name: "status", value: String(answer.status)),
                ]
            )
        )
        return try frame.redacted(payload: answer.body)
    }

    /// An event for an HTTP answer that tells the recorder when to go on, or why it cannot. It has no payload: the body
    /// of such an answer is not recorded.
    ///
    /// - Parameters:
    ///   - retryAfter: the wait in seconds that the server demands; `nil` takes the header's.
    ///   - fault: why the answer cannot be used, in fixed words, if the status alone does not show it; the event then
    ///     also carries the fields that describe the body.
    func http(
        _ status: Int,
        path: String,
        retryAfter: Int? = nil,
        headers: HTTPAccess.Headers? = nil,
        fault: String? = nil,
        source: SourceName,
        at time: Timestamp
    ) throws -> DraftEvent {
        var members = ["connection": name, "path": path, "status": String(status), "reason": fault]
        members["retry-after"] = (retryAfter ?? headers?.number("retry-after")).map(String.init)
        // Only whole numbers are recorded: a header is remote text, which may hold anything.
        for name in ["remaining", "limit", "reset"] {
            members[name] = headers?.number("x-ratelimit-\(name)").map(String.init)
        }
        if fault != nil {
            for name in ["content-type", "content-encoding"] { members[name] = headers?[name].map(Self.shown) }
        }
        let pairs = members.compactMap { name, value in value.map { Attributes.Pair(name: name, value: $0) } }
        let key = "\(name)/h/\(nextHTTP())"
        let attributes = try Attributes(pairs)
        let frame = FrameDraft(recordedAt: time, source: source, kind: .recorderHTTP, key: key, attributes: attributes)
        return try frame.draft(payload: [])
    }

    /// The most bytes of a header field that are recorded.
    private static let fieldBytesMax = 200

    /// A header field, or another text that may quote the remote, in the form that may be recorded: visible ASCII,
    /// short, without secrets (I14).
    static func shown(_ field: String) -> String {
        let visible = field.utf8.filter { (0x20...0x7E).contains($0) }.prefix(fieldBytesMax)
        return String(decoding: Secrets.redact(Array(visible), kind: .recorderHTTP).bytes, as: UTF8.self)
    }
}

extension HTTPAccess.Headers {
    /// The field's value if it is a whole number.
    fileprivate func number(_ name: String) -> Int? { self[name].flatMap { Int($0) } }
}
#endif
