#if Recorders
import EventLog
import Logging

/// A REST client that waits when the server demands it, retries what may succeed later, and takes a fresh token after a
/// 401. For one task, one request at a time.
struct RestClient {
    private let recording: Recording
    private let counters: ConnectionCounters
    /// Gives the header with a fresh token; called before the first request and after a 401.
    private let authorization: @Sendable () async throws -> (name: String, value: String)
    /// Headers sent with each request, beside the authorization.
    private let headers: [(name: String, value: String)]
    /// The authorization in use; `nil` if the next attempt must take a fresh one.
    private var header: (name: String, value: String)?

    /// The number of failed attempts (no answer, or a 5xx) after which a request is given up.
    private static let failureCountMax = 4
    /// The number of 429 answers after which a request is given up.
    private static let waitCountMax = 20
    /// The longest wait after a 429, even if the server demands more.
    private static let waitMax = Duration.seconds(900)

    init(
        recording: Recording,
        counters: ConnectionCounters,
        headers: [(name: String, value: String)] = [],
        authorization: @escaping @Sendable () async throws -> (name: String, value: String)
    ) {
        self.recording = recording
        self.counters = counters
        self.headers = headers
        self.authorization = authorization
    }

    /// The answer, with any status but 401, 429 and 5xx; `nil` if there was none that tells anything about the state.
    ///
    /// Waits up to 30 s for failures, and far longer if the server demands it. Records each 429, and an answer in a
    /// coding that cannot be read.
    ///
    /// - Parameter path: the path and query in the form that may be recorded, without secrets.
    /// - Throws: `CancellationError`; the errors of `append`.
    mutating func get(_ url: String, path: String) async throws -> HTTPAccess.Answer? {
        var failures = 0
        var waits = 0
        var refusals = 0
        while failures < Self.failureCountMax, waits < Self.waitCountMax, refusals < 2 {
            guard let answer = try await attempt(url) else {
                failures += 1
                // 2, 4, 8 and 16 s.
                try await recording.clock.sleep(.seconds(1 << failures))
                continue
            }
            switch answer.status {
            // The token may have expired since it was taken. A second refusal is final.
            case 401:
                refusals += 1
                header = nil
            case 429:
                waits += 1
                try await waitAsTold(answer, path: path)
            case 500...599:
                failures += 1
                try await recording.clock.sleep(.seconds(1 << failures))
            default:
                guard !answer.isCoded else {
                    try await record(answer, path: path, fault: HTTPTrouble.coded.description)
                    return nil
                }
                try await pace(answer)
                return answer
            }
        }
        return nil
    }

    private func record(_ answer: HTTPAccess.Answer, path: String, fault: String) async throws {
        recording.log.notice("the answer cannot be used", metadata: ["path": "\(path)", "reason": "\(fault)"])
        let time = recording.clock.now()
        let headers = answer.headers
        let status = answer.status
        let source = recording.source
        let draft = try counters.http(status, path: path, headers: headers, fault: fault, source: source, at: time)
        try await recording.append([.draft(draft)])
    }

    /// One attempt; `nil` if no answer came or no token could be had.
    private mutating func attempt(_ url: String) async throws -> HTTPAccess.Answer? {
        do {
            if header == nil { header = try await authorization() }
            return try await recording.http.ask(
                HTTPAccess.Request(url: url, headers: headers + (header.map { [$0] } ?? []))
            )
        } catch {
            try Task.checkCancellation()
            return nil
        }
    }

    /// Records a 429 and waits as long as its `Retry-After` says in seconds, at least 1 s; without one 5 s. A date in
    /// that header is not read.
    private func waitAsTold(_ answer: HTTPAccess.Answer, path: String) async throws {
        let seconds = answer.headers["retry-after"].flatMap { Double($0) }.map {
            Int($0.rounded(.up).clamped(to: 0...86_400))
        }
        let draft = try counters.http(
            429,
            path: path,
            retryAfter: seconds,
            source: recording.source,
            at: recording.clock.now()
        )
        try await recording.append([.draft(draft)])
        try await recording.clock.sleep(min(.seconds(max(1, seconds ?? 5)), Self.waitMax))
    }

    /// Waits for the rate limit's reset, at most 60 s, if the answer shows that no request remains.
    private func pace(_ answer: HTTPAccess.Answer) async throws {
        guard answer.headers["x-ratelimit-remaining"] == "0",
            let reset = answer.headers["x-ratelimit-reset"].flatMap({ Double($0) })
        else { return }
        let seconds = (reset - Double(recording.clock.now().seconds)).clamped(to: 0...60).rounded(.up)
        try await recording.clock.sleep(.seconds(seconds))
    }
}

extension Double {
    fileprivate func clamped(to range: ClosedRange<Double>) -> Double {
        isNaN ? range.lowerBound : Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}
#endif
