#if Recorders
import EventLog
import JSON
import Logging

/// A client of GitHub's REST API that follows its rules: it waits when told to, pauses when little of the rate limit is
/// left, and records both. Used by one task.
///
/// The journal's bookmark is not used, because the source's bookmark is the branch's tip; connections and gaps are read
/// back from the log.
final class GitHubClient {
    private let recording: Recording
    /// Scheme, host, port and path of the API, without a slash at the end; targets begin with one.
    private let base: String
    private let token: TokenSource?
    private let follows: Bool
    private let connection: PolledConnection
    /// The token in use; `nil` if the next request must read it anew.
    private var tokenNow: String?
    /// The level that was recorded last.
    private var level = GitHubRate.Level.normal
    /// When requests may go on, in seconds since 1970; `nil` if they may now.
    private var pausedUntil: Int64?
    /// The rate limits met in a row.
    private var limitCount = 0
    /// When the last mark of life was left, by the clock's `elapsed`.
    private var markedAt: Duration?

    /// The longest wait that GitHub may demand, in seconds: the hour of its limit, and a little for clocks that differ.
    private static let waitSecondsMax: Int64 = 3_700
    /// The wait after a secondary rate limit that states none, in seconds: GitHub's documentation demands a minute.
    private static let secondaryWait: Int64 = 60

    init(_ recording: Recording, base: String, token: TokenSource?, follows: Bool) throws {
        self.recording = recording
        self.base = base
        self.token = token?.noted(in: recording.secrets)
        self.follows = follows
        let alive = recording.history.bookmark.flatMap { GitHubBookmark($0)?.alive }
        let history = try RecordedPast(recording.history).journalHistory(recording.history, aliveAt: alive)
        let journal = try ConnectionJournal(
            source: recording.source,
            kind: .gitCommit,
            history: history,
            clock: recording.clock
        )
        connection = PolledConnection(
            recording,
            journal: journal,
            closes: "replay",
            waitMax: .seconds(60),
            keepsBookmark: false
        )
    }

    /// Repeats a GET until there is an answer; 304, 404, 409, 410, 422 and 451 are answers, too.
    ///
    /// - Parameter isUsable: whether the body of an answer with status 200 is of the expected form. If it is not, the
    ///   request is repeated, as after any other failure.
    /// - Throws: `IngestError` with code `refused` if GitHub refuses, for instance the token; with code `io` after
    ///   `failuresMax` failures in a row, unless following.
    func get(
        _ target: String,
        etag: String? = nil,
        isUsable: (HTTPAccess.Answer) -> Bool
    ) async throws -> HTTPAccess.Answer {
        var hasRefreshed = false
        while true {
            try await waitForReset()
            guard let answer = try await attempt(target, etag: etag) else { continue }
            try await note(answer)
            if answer.status == 200, let fault = Self.fault(of: answer, isUsable) {
                try await failed(fault, answer, target, isFault: true)
                continue
            }
            switch answer.status {
            case 200, 304, 404, 409, 410, 422, 451:
                try await succeeded(answer.status)
                return answer
            // The token may have been renewed since it was read; a fresh one is tried once.
            case 401 where !hasRefreshed && token != nil:
                hasRefreshed = true
                tokenNow = nil
            case 403, 429:
                // GitHub answers with 403 both to a rate limit and to a missing right.
                guard let wait = waitAsTold(answer) else { throw try await refused(answer, target) }
                try await limited(answer, target, seconds: wait)
            case 408, 500...599:
                try await failed("status \(answer.status)", answer, target)
            default: throw try await refused(answer, target)
            }
        }
    }

    /// The value that `read` takes from an answer's JSON; `nil` for 404 and 409.
    func value<Value>(_ target: String, _ read: (JSONValue) -> Value?) async throws -> Value? {
        var value: Value?
        let answer = try await get(target) { answer in
            value = JSONValue(received: answer.body).flatMap(read)
            return value != nil
        }
        if answer.status == 404 || answer.status == 409 { return nil }
        guard answer.status == 200 else { throw try await refused(answer, target) }
        return value
    }

    /// Why an answer with status 200 cannot be used; `nil` if it can.
    private static func fault(of answer: HTTPAccess.Answer, _ isUsable: (HTTPAccess.Answer) -> Bool) -> String? {
        if answer.isCoded { return HTTPTrouble.coded.description }
        return isUsable(answer) ? nil : "the answer is not what was asked for"
    }
}

// MARK: - Requests

extension GitHubClient {
    /// One attempt; `nil` if there was no answer, after the wait for that.
    private func attempt(_ target: String, etag: String?) async throws -> HTTPAccess.Answer? {
        do {
            return try await recording.http.ask(try await request(target, etag: etag))
        } catch let trouble as HTTPTrouble {
            try await failed(trouble.description, nil, target)
            return nil
        }
    }

    /// A request with the headers that GitHub's REST API demands: its media type, a user agent and the API's version.
    private func request(_ target: String, etag: String?) async throws -> HTTPAccess.Request {
        var headers = [
            (name: "Accept", value: "application/vnd.github+json"),
            (name: "User-Agent", value: "eventlog-logtool"),
            (name: "X-GitHub-Api-Version", value: "2022-11-28"),
        ]
        if let etag { headers.append((name: "If-None-Match", value: etag)) }
        if let token {
            let value = if let tokenNow { tokenNow } else { try await token.fresh() }
            tokenNow = value
            headers.append((name: "Authorization", value: "Bearer \(value)"))
        }
        return HTTPAccess.Request(url: base + target, headers: headers)
    }

    /// The wait that GitHub demands, in seconds; `nil` if the answer is a refusal instead of a rate limit.
    private func waitAsTold(_ answer: HTTPAccess.Answer) -> Int64? {
        if let seconds = answer.headers["retry-after"].flatMap({ Int64($0) }) { return max(0, seconds) }
        // One second more: the reset is stated in whole seconds.
        if let rate = GitHubRate(answer.headers), rate.remaining == 0 {
            return max(1, rate.reset - recording.clock.now().seconds + 1)
        }
        let isLimit = answer.status == 429 || Self.speaksOfLimits(answer.body)
        // Without a stated time: a minute, doubled each time.
        return isLimit ? Self.secondaryWait << min(Int64(limitCount), 5) : nil
    }

    /// True if the answer's message names a limit: a secondary limit may come without a header.
    private static func speaksOfLimits(_ body: [UInt8]) -> Bool {
        let message = JSONValue(received: body)?["message"]?.string?.lowercased() ?? ""
        return message.contains("rate limit") || message.contains("abuse")
    }
}

// MARK: - What the answers say of the recorder's standing

extension GitHubClient {
    /// Notes the rate limit that an answer states, and records a change of its level.
    private func note(_ answer: HTTPAccess.Answer) async throws {
        guard let rate = GitHubRate(answer.headers) else { return }
        // A later answer may end the pause: another token, or the next hour.
        pausedUntil = rate.level == .paused ? rate.reset : nil
        guard rate.level != level else { return }
        level = rate.level
        let text = "\(rate.used) % of the rate limit is used"
        if level == .normal { recording.log.notice("\(text)") } else { recording.log.warning("\(text)") }
        try connection.journal.limit(level.rawValue, used: rate.used, reset: rate.reset, at: recording.clock.now())
        try await connection.append()
    }

    /// Above 95 % of the limit, waits until the hour is over.
    private func waitForReset() async throws {
        guard let reset = pausedUntil else { return }
        pausedUntil = nil
        let seconds = min(max(0, reset - recording.clock.now().seconds + 1), Self.waitSecondsMax)
        guard seconds > 0 else { return }
        try openGap("rate limit")
        try await connection.append()
        try await recording.clock.sleep(.seconds(seconds))
    }

    /// Records a rate limit and waits. It counts as a gap: while no request is allowed, nothing is known.
    private func limited(_ answer: HTTPAccess.Answer, _ target: String, seconds: Int64) async throws {
        limitCount += 1
        pausedUntil = nil
        recording.log.warning("limited", metadata: ["status": "\(answer.status)", "seconds": "\(seconds)"])
        try record(answer, target)
        try openGap("rate limit")
        try await connection.append()
        try await recording.clock.sleep(.seconds(min(seconds, Self.waitSecondsMax)))
    }

    /// Notes a good answer; the first one opens a connection.
    private func succeeded(_ status: Int) async throws {
        connection.backoff.reset()
        limitCount = 0
        // A 404 stays noted, so that a missing branch is recorded once, not at every poll.
        if status < 400 { connection.forgetTrouble() }
        if follows { try await connection.open() }
    }

    /// Records a failure, opens a gap, and waits by the backoff.
    ///
    /// - Parameters:
    ///   - answer: `nil` if none came.
    ///   - isFault: whether `reason` describes an answer with status 200.
    private func failed(
        _ reason: String,
        _ answer: HTTPAccess.Answer?,
        _ target: String,
        isFault: Bool = false
    ) async throws {
        if let answer { try record(answer, target, fault: isFault ? reason : nil) }
        try await connection.failed(reason, opensGap: follows)
        guard follows || connection.backoff.count < PolledConnection.failuresMax else {
            throw error(.io, "GitHub gave no answer that can be used (\(reason))", "try again later")
        }
        try await recording.clock.sleep(connection.backoff.next())
    }

    /// Records a refusal, and returns its error for the caller to throw.
    private func refused(_ answer: HTTPAccess.Answer, _ target: String) async throws -> IngestError {
        try record(answer, target)
        try connection.close("refused")
        try await connection.append()
        let reason = "GitHub answered with status \(answer.status) to \(Self.path(target))"
        return error(.refused, reason, "check the repository's name and the token's rights (--token-env)")
    }

    func error(_ code: IngestError.Code, _ reason: String, _ advice: String) -> IngestError {
        IngestError(code, operation: "ingest github", object: recording.source.rawValue, reason: reason, advice: advice)
    }

    private func record(_ answer: HTTPAccess.Answer, _ target: String, fault: String? = nil) throws {
        try connection.record(answer.status, path: Self.path(target), headers: answer.headers, fault: fault)
    }

    /// The target without its query, for events and messages.
    private static func path(_ target: String) -> String { String(target.prefix { $0 != "?" }) }
}

// MARK: - Runs and gaps

extension GitHubClient {
    /// Opens a gap, unless one goes on. The next tip's commits name their parents, so reading them closes it as a
    /// replay does.
    private func openGap(_ reason: String) throws {
        if follows { try connection.openGap(reason) }
    }

    /// Opens the gap since the last run, if there was one.
    func beginRun() async throws {
        guard follows else { return }
        try connection.beginRun()
        try await connection.append()
    }

    /// Notes that everything up to the branch's tip at the instant `asked` is recorded, and closes the gaps.
    func caughtUp(_ tip: String?, at asked: Timestamp) async throws {
        connection.journal.noteAlive(at: asked)
        try await markAlive(tip)
        guard !connection.journal.openGaps.isEmpty else { return }
        try connection.journal.closeGaps(by: "replay", at: recording.clock.now()) { _ in true }
        try await connection.append()
    }

    /// Leaves a mark of life in the bookmark, at most once a minute (I29).
    private func markAlive(_ tip: String?) async throws {
        guard follows, let tip else { return }
        let now = recording.clock.elapsed()
        if let markedAt, now - markedAt < LifeMarks.interval { return }
        markedAt = now
        let bookmark = GitHubBookmark(tip: tip, alive: connection.journal.lastInbound)
        try await recording.append(SourceBatch(bookmark: bookmark.bytes))
    }

    /// Records that the branch does not exist, once.
    func noteMissing(_ answer: HTTPAccess.Answer, _ target: String) async throws {
        try record(answer, target)
        try await connection.append()
    }

    /// Records that the recorder stops, and opens the gap that the next run closes (I29).
    ///
    /// - Parameter error: why it gives up; `nil` if it was told to stop or is done.
    func stop(_ error: (any Error)? = nil) async throws {
        if follows { try await connection.stop(error) }
    }
}
#endif
