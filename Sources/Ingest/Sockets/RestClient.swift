#if Recorders
import EventLog
import Logging

/// Asks a REST server with patience: waits when it is told to, tries again what may pass, and takes a fresh token when
/// the old one expired.
struct RestClient {
    private let recording: Recording
    private let counters: ConnectionCounters
    private let authorization: @Sendable () async throws -> (name: String, value: String)
    /// More headers of each request.
    private let headers: [(name: String, value: String)]
    private var header: (name: String, value: String)?

    /// The most attempts at one request that get no answer, or one of the 500s.
    private static let failureCountMax = 4
    /// The most times that one request waits because it was told to.
    private static let waitCountMax = 20
    /// The longest of those waits that is obeyed.
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

    /// The answer; `nil` where there was none, or only ones that say nothing about the state.
    ///
    /// - Parameter path: the path and query as they may be recorded.
    mutating func get(_ url: String, path: String) async throws -> HTTPAccess.Answer? {
        var failures = 0
        var waits = 0
        var refusals = 0
        while failures < Self.failureCountMax, waits < Self.waitCountMax, refusals < 2 {
            guard let answer = try await attempt(url) else {
                failures += 1
                try await recording.clock.sleep(.seconds(1 << failures))
                continue
            }
            switch answer.status {
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

    /// Nothing where there is no answer, or no token to ask with.
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

    /// Waits until the limit is reset where the last answer says that nothing remains, rather than run into it.
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
