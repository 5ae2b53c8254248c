#if Recorders
import EventLog
import JSON
import Logging

/// One run of a recorder of CloudKit records. Used by one task.
///
/// Keeps the change tag of every record, so that an answer is recorded only if it differs from what the log holds.
final class CloudKitSession {
    /// The last recorded state of a record.
    private struct Known {
        /// The change tag; `nil` if the answer had none.
        var tag: String?
        /// True if the record exists but no query finds it any more, for instance because of its age.
        var isOutside = false
    }

    /// The answer to one call.
    private struct Answer {
        let status: Int
        /// The body as it came. The next web token in it is replaced before it is appended (I14).
        let body: [UInt8]
        let json: JSONValue
    }

    private let recording: Recording
    /// The container's database, without a slash at the end.
    private let url: String
    private let follows: Bool
    private var tokens: CloudKitTokens
    private let connection: PolledConnection
    /// The records that exist as far as the log shows, by type and name.
    private var known: [String: [String: Known]] = [:]

    /// The most pages that one query reads: a server that always names a next page must not hold the recorder.
    private static let pagesMax = 10_000
    /// The most names in one lookup; 200 is the most that CloudKit allows.
    private static let lookupMax = 200
    /// The longest wait that the server may demand, in seconds.
    private static let waitSecondsMax: Int64 = 3_600

    init(_ recording: Recording, url: String, tokens: CloudKitTokens, follows: Bool) throws {
        self.recording = recording
        self.url = url
        self.tokens = tokens
        self.follows = follows
        let journal = try ConnectionJournal(
            source: recording.source,
            kind: .cloudKitRecords,
            history: recording.history,
            clock: recording.clock
        )
        connection = PolledConnection(recording, journal: journal, closes: "snapshot", waitMax: .seconds(60))
        try remember(recording.history)
    }

    /// Takes the records' states from the log, because the bookmark holds none. Cost: reads the whole log once.
    private func remember(_ history: RecordedHistory) throws {
        try history.forEachEvent { event in
            guard event.envelope.kind == .cloudKitRecords, let type = event.envelope.attributes["type"],
                let records = JSONValue(received: event.payload).flatMap({ CloudKitRecord.all(in: $0) })
            else { return }
            for record in records { note(record, type) }
        }
    }

    /// Notes a record's state; a missing record is forgotten.
    private func note(_ record: CloudKitRecord, _ type: String) {
        known[type, default: [:]][record.name] = record.isMissing ? nil : Known(tag: record.tag)
    }

    /// Opens the gap since the last run, if there was one.
    func begin() async throws {
        try connection.beginRun()
        try await connection.append()
    }

    /// Records that the recorder stops, and opens the gap that the next run closes (I29).
    ///
    /// - Parameter error: why it gives up; `nil` if it was told to stop or is done.
    func stop(_ error: (any Error)? = nil) async throws {
        try await connection.stop(error)
    }

    /// Polls all records once, and records what differs from the log.
    ///
    /// - Parameter window: the greatest age of sessions that are queried, in whole seconds.
    func look(window: Duration) async throws {
        let now = recording.clock.now()
        let since = Timestamp(microseconds: now.microseconds - window.components.seconds * 1_000_000)
        try await scan("Session", [.sessions(since: since)])
        try await scan("Prompt", [.prompts(responded: false), .prompts(responded: true)])
        // The instant before the queries: a change during them is seen by the next poll.
        connection.journal.noteAlive(at: now)
        try connection.journal.closeGaps(by: "snapshot", at: recording.clock.now()) { _ in true }
        try await connection.append()
    }
}

// MARK: - Scans

extension CloudKitSession {
    /// Reads all pages of some queries, and records them if a record is new or different. Looks up records that are
    /// missing. All pages are recorded or none, so the log never holds a part of a result.
    private func scan(_ type: String, _ queries: [CloudKitCall.Query]) async throws {
        var pages: [(answer: Answer, number: Int, isLast: Bool)] = []
        for query in queries { pages += try await self.pages(query) }
        let records = pages.flatMap { CloudKitRecord.all(in: $0.answer.json) ?? [] }
        let seen = Set(records.map(\.name))
        let isDifferent = records.contains { record in
            let last = known[type]?[record.name]
            return last == nil || last?.tag != record.tag
        }
        if isDifferent {
            for page in pages { try record(page.answer, op: "query", type, page: page.number, isLast: page.isLast) }
        }
        for record in records { note(record, type) }
        // Sorted, so that the lookups do not depend on the order of a dictionary.
        let absent = (known[type] ?? [:]).filter { !seen.contains($0.key) && !$0.value.isOutside }.keys.sorted()
        try await confirm(absent, type)
        try await connection.append()
    }

    /// The answers to a query, page after page; all are held in memory until the last one is known.
    private func pages(_ query: CloudKitCall.Query) async throws -> [(answer: Answer, number: Int, isLast: Bool)] {
        var pages: [(answer: Answer, number: Int, isLast: Bool)] = []
        var marker: String?
        repeat {
            guard pages.count < Self.pagesMax else {
                // The end of the run opens a gap (I29).
                throw Self.error(.refused, "a query has more than \(Self.pagesMax) pages", "query a shorter time")
            }
            let answer = try await call("query", CloudKitCall.body(query, marker: marker))
            marker = answer.json["continuationMarker"]?.string
            pages.append((answer, pages.count + 1, marker == nil))
        } while marker != nil
        return pages
    }

    /// Looks up records that a complete scan did not find: a record can leave a query's result without being deleted.
    /// One that still exists is marked as outside, so that it is looked up only once.
    private func confirm(_ absent: [String], _ type: String) async throws {
        for start in stride(from: 0, to: absent.count, by: Self.lookupMax) {
            let names = Array(absent[start..<min(absent.count, start + Self.lookupMax)])
            let answer = try await call("lookup", CloudKitCall.lookup(names))
            let records = CloudKitRecord.all(in: answer.json) ?? []
            if records.contains(where: { $0.isMissing || $0.tag != known[type]?[$0.name]?.tag }) {
                try record(answer, op: "lookup", type)
            }
            for record in records {
                note(record, type)
                known[type]?[record.name]?.isOutside = true
            }
        }
    }

    /// Records an answer as it came. Its connection is the one that the journal has open.
    private func record(
        _ answer: Answer,
        op: String,
        _ type: String,
        page: Int? = nil,
        isLast: Bool = false
    ) throws {
        var pairs = [
            Attributes.Pair(name: "op", value: op), Attributes.Pair(name: "type", value: type),
            Attributes.Pair(name: "status", value: String(answer.status)),
            Attributes.Pair(name: "connection", value: connection.journal.counters.name),
        ]
        if let page { pairs.append(Attributes.Pair(name: "page", value: String(page))) }
        if isLast { pairs.append(Attributes.Pair(name: "last", value: "true")) }
        try connection.journal.observation(answer.body, pairs, at: recording.clock.now())
    }
}

// MARK: - Calls

extension CloudKitSession {
    /// Repeats a call until it succeeds, and returns the answer.
    ///
    /// - Throws: `IngestError` with code `refused` if another attempt would not help; with code `io` after
    ///   `failuresMax` failures in a row, unless following.
    private func call(_ name: String, _ body: [UInt8]) async throws -> Answer {
        while true {
            let request = HTTPAccess.Request(
                method: "POST",
                url: "\(url)/records/\(name)?\(try await tokens.parameters())",
                headers: [
                    (name: "Content-Type", value: "application/json"), (name: "Accept", value: "application/json"),
                ],
                body: body
            )
            let answer: HTTPAccess.Answer
            do {
                // `askOnce`, because the request spends the web token: without the answer, and the next token in it,
                // the session is lost.
                answer = try await recording.http.askOnce(request, clock: recording.clock)
            } catch let trouble as HTTPTrouble {
                try await failed(trouble.description, nil, name, wait: nil)
                continue
            }
            if let done = try await take(answer, name) { return done }
        }
    }

    /// Takes the next token out of an answer of any status, and judges the answer; `nil` if the call must be repeated.
    private func take(_ answer: HTTPAccess.Answer, _ name: String) async throws -> Answer? {
        let json = JSONValue(received: answer.body)
        let token = answer.headers["x-apple-cloudkit-web-auth-token"] ?? json?["webAuthToken"]?.string
        if let token { try tokens.renew(token) }
        switch answer.status {
        case 200:
            guard let json, !answer.isCoded, CloudKitRecord.all(in: json) != nil else {
                let fault = answer.isCoded ? HTTPTrouble.coded.description : "the answer holds no records"
                try await failed(fault, answer, name, wait: nil, isFault: true)
                return nil
            }
            connection.backoff.reset()
            connection.forgetTrouble()
            try await connection.open()
            return Answer(status: 200, body: answer.body, json: json)
        case 408, 429, 500...599:
            // CloudKit states the wait in the body, in seconds.
            let told = json?["retryAfter"]?.number?.int64 ?? answer.headers["retry-after"].flatMap { Int64($0) }
            try await failed("status \(answer.status)", answer, name, wait: told)
            return nil
        default:
            try record(answer, name)
            try connection.close("refused")
            try await connection.append()
            throw Self.error(
                .refused,
                "CloudKit answered with status \(answer.status)",
                "sign in again, and give the new tokens"
            )
        }
    }

    /// Records a failure, opens a gap, and waits by the backoff, or longer if the server demands it.
    ///
    /// - Parameters:
    ///   - answer: `nil` if none came.
    ///   - wait: the wait that the server demands, in seconds.
    ///   - isFault: whether `reason` describes an answer with status 200.
    private func failed(
        _ reason: String,
        _ answer: HTTPAccess.Answer?,
        _ name: String,
        wait: Int64?,
        isFault: Bool = false
    ) async throws {
        if let answer { try record(answer, name, fault: isFault ? reason : nil) }
        try await connection.failed(reason)
        guard follows || connection.backoff.count < PolledConnection.failuresMax else {
            throw Self.error(.io, "CloudKit gave no answer that can be used (\(reason))", "try again later")
        }
        let own = connection.backoff.next()
        let told = Duration.seconds(min(max(0, wait ?? 0), Self.waitSecondsMax))
        try await recording.clock.sleep(max(own, told))
    }

    /// Records an answer that cannot be used. The path leaves out the query, which holds the tokens (I14).
    private func record(_ answer: HTTPAccess.Answer, _ name: String, fault: String? = nil) throws {
        try connection.record(answer.status, path: "records/\(name)", headers: answer.headers, fault: fault)
    }

    /// An error without an object: the URL holds tokens (I14).
    private static func error(_ code: IngestError.Code, _ reason: String, _ advice: String) -> IngestError {
        IngestError(code, operation: "ingest cloudkit", object: "", reason: reason, advice: advice)
    }
}
#endif
