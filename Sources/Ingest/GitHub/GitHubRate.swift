#if Recorders
import EventLog

/// How much of GitHub's hourly limit is used, and what that means: the rules of VibeChannel's plan.
struct GitHubRate: Equatable {
    enum Level: String {
        case normal, warning, paused
    }

    let limit: Int
    let remaining: Int
    /// When the hour ends, in seconds since 1970.
    let reset: Int64

    /// Reads the header fields of an answer; `nil` where it has none.
    init?(_ headers: HTTPAccess.Headers) {
        guard let limit = headers["x-ratelimit-limit"].flatMap({ Int($0) }), limit > 0,
            let remaining = headers["x-ratelimit-remaining"].flatMap({ Int($0) }),
            let reset = headers["x-ratelimit-reset"].flatMap({ Int64($0) })
        else { return nil }
        self.limit = limit
        self.remaining = min(max(0, remaining), limit)
        self.reset = reset
    }

    /// In percent, rounded down.
    var used: Int { (limit - remaining) * 100 / limit }

    /// Below 80 % normal, above 95 % paused.
    var level: Level {
        let used = (limit - remaining) * 100
        if used > limit * 95 { return .paused }
        return used >= limit * 80 ? .warning : .normal
    }
}
#endif
