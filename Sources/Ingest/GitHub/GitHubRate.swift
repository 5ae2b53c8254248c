#if Recorders
import EventLog

/// The use of GitHub's hourly rate limit, with levels by the rules of VibeChannel's plan.
struct GitHubRate: Equatable {
    /// A level of the limit's use; the raw values are those of `recorder.limit/1`.
    enum Level: String {
        case normal, warning, paused
    }

    /// Requests an hour.
    let limit: Int
    /// The requests that are left, from 0 to `limit`.
    let remaining: Int
    /// When the hour ends, in seconds since 1970.
    let reset: Int64

    /// A server may state any number; with these bounds no sum or product of them overflows.
    private static let limitMax = 1 << 40
    private static let resetMax: Int64 = 1 << 40

    /// Reads the header fields of an answer; `nil` if one is missing or malformed, or out of all proportion.
    init?(_ headers: HTTPAccess.Headers) {
        guard let limit = headers["x-ratelimit-limit"].flatMap({ Int($0) }), (1...Self.limitMax).contains(limit),
            let remaining = headers["x-ratelimit-remaining"].flatMap({ Int($0) }),
            let reset = headers["x-ratelimit-reset"].flatMap({ Int64($0) }), (0...Self.resetMax).contains(reset)
        else { return nil }
        self.limit = limit
        self.remaining = min(max(0, remaining), limit)
        self.reset = reset
    }

    /// The used part of the limit in percent, rounded down.
    var used: Int { (limit - remaining) * 100 / limit }

    /// `normal` below 80 %, `paused` above 95 %, `warning` between.
    var level: Level {
        let used = (limit - remaining) * 100
        if used > limit * 95 { return .paused }
        return used >= limit * 80 ? .warning : .normal
    }
}
#endif
