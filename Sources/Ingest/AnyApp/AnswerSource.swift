#if Recorders
public import EventLog

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Records what an address answers, asked again and again: each answer whose bytes differ from the last one, as
/// `http.answer/1`, and a gap for each time without a good answer.
///
/// It asks with the `ETag` and `Last-Modified` of the last answer, so that a server can say that nothing is new (304). 408,
/// 429 and 5xx are waited out, by `Retry-After` where it is longer than the own wait; any other status than 2xx is an error,
/// unless the address gave a good answer before: then it is waited out, too.
public struct AnswerSource: LiveSource {
    /// The recorder's name in the log.
    public let name: SourceName
    /// The whole URL; its query may be secret (I14).
    private let url: String
    /// The path and query, without secrets.
    private let path: String
    private let token: TokenSource?
    private let interval: Duration
    private let follows: Bool

    private static let operation = "ingest http"
    /// The longest wait that a server may demand.
    private static let waitMax = Duration.seconds(3_600)

    /// Makes a source.
    ///
    /// - Parameters:
    ///   - interval: the pause between an answer and the next request.
    ///   - token: sent as `Authorization: Bearer`; read anew for each request.
    ///   - follows: whether to go on after the first good answer.
    /// - Throws: `IngestError` with code `invalidArgument` if the URL cannot be used.
    public init(
        url: String,
        interval: Duration = .seconds(10),
        token: TokenSource? = nil,
        name: SourceName,
        follows: Bool
    ) throws {
        let place = try HTTPAddress(url, operation: Self.operation)
        let query = URLComponents(string: url)?.percentEncodedQuery.map { "?\($0)" } ?? ""
        path = String(decoding: Secrets.redact(address: Array((place.path + query).utf8), .common), as: UTF8.self)
        (self.url, self.interval, self.token) = (url, interval, token)
        (self.name, self.follows) = (name, follows)
    }

    /// Checks that the token can be read.
    public func check() async throws {
        _ = try await token?.fresh()
    }

    /// Records until it is cancelled; without `follows`, until one good answer came.
    public func run(_ recording: Recording) async throws {
        recording.secrets.note(url: url)
        let journal = try ConnectionJournal(
            source: name,
            kind: .httpAnswer,
            history: recording.history,
            secrets: recording.secrets,
            clock: recording.clock
        )
        let connection = PolledConnection(recording, journal: journal, closes: "nothing", waitMax: .seconds(60))
        var last = try LastAnswer(recording.history)
        do {
            try connection.beginRun()
            try await connection.append()
            while true {
                let wait = try await look(recording, connection, &last)
                guard follows || wait != nil else { break }
                try await recording.clock.sleep(wait ?? interval)
            }
            try await connection.stop(nil)
        } catch {
            try await connection.stop(error)
            throw error
        }
    }

    /// Asks once.
    ///
    /// - Returns: how long to wait after a failure; `nil` after a good answer.
    /// - Throws: `IngestError` with code `refused` if another attempt would not help; with code `io` after `failuresMax`
    ///   failures in a row, unless following.
    private func look(
        _ recording: Recording,
        _ connection: PolledConnection,
        _ last: inout LastAnswer
    ) async throws -> Duration? {
        let answer: HTTPAccess.Answer
        do {
            answer = try await recording.http.ask(try await request(last, recording))
        } catch let trouble as HTTPTrouble {
            return try await failed(trouble.description, connection)
        }
        let time = recording.clock.now()
        switch answer.status {
        case 200...299 where !answer.isCoded:
            try await take(answer, connection, &last, at: time)
            return nil
        case 304 where last.hash != nil:
            try await good(connection, at: time)
            return nil
        case 200...299, 408, 429, 500...599: return try await failed(answer, connection)
        default:
            guard !connection.journal.hasWorked else { return try await failed(answer, connection) }
            try connection.record(answer.status, path: path, headers: answer.headers)
            throw Self.error(
                .refused,
                "the address answered with status \(answer.status)",
                "check the URL and the token"
            )
        }
    }

    private func request(_ last: LastAnswer, _ recording: Recording) async throws -> HTTPAccess.Request {
        var headers = [(name: "Accept", value: "application/json, */*;q=0.5")]
        if let token {
            headers.append(
                (name: "Authorization", value: "Bearer \(try await token.noted(in: recording.secrets).fresh())")
            )
        }
        if let tag = last.tag { headers.append((name: "If-None-Match", value: tag)) }
        if let date = last.date { headers.append((name: "If-Modified-Since", value: date)) }
        return HTTPAccess.Request(url: url, headers: headers)
    }

    /// Records an answer whose bytes are new.
    private func take(
        _ answer: HTTPAccess.Answer,
        _ connection: PolledConnection,
        _ last: inout LastAnswer,
        at time: Timestamp
    ) async throws {
        (last.tag, last.date) = (answer.headers["etag"], answer.headers["last-modified"])
        try await connection.open()
        let pairs = [
            Attributes.Pair(name: "dir", value: "in"), Attributes.Pair(name: "path", value: path),
            Attributes.Pair(name: "method", value: "GET"),
            Attributes.Pair(name: "status", value: String(answer.status)),
            Attributes.Pair(name: "connection", value: connection.journal.counters.name),
        ]
        let hash = Hasher256.hash(answer.body)
        if answer.body.count > EnvelopeLimits.payloadBytesMax {
            if last.hash != hash {
                let count = answer.body.count
                try connection.journal.oversizeObservation(length: count, hash: hash, pairs, at: time)
            }
        } else if last.hash != hash {
            try connection.journal.observation(answer.body, pairs, at: time)
        }
        last.hash = hash
        try await good(connection, at: time)
    }

    /// Notes that nothing is missed up to now.
    private func good(_ connection: PolledConnection, at time: Timestamp) async throws {
        connection.backoff.reset()
        connection.forgetTrouble()
        try await connection.open()
        connection.journal.noteAlive(at: time)
        try connection.journal.closeGaps(by: "nothing", at: time) { _ in true }
        try await connection.append()
    }

    /// Records an answer that cannot be used, and opens a gap.
    private func failed(_ answer: HTTPAccess.Answer, _ connection: PolledConnection) async throws -> Duration {
        let fault = answer.isCoded ? HTTPTrouble.coded.description : nil
        try connection.record(answer.status, path: path, headers: answer.headers, fault: fault)
        let told = answer.headers["retry-after"].flatMap { Int64($0) }.map { Duration.seconds(max(0, $0)) }
        return try await failed(fault ?? "status \(answer.status)", connection, told: told)
    }

    private func failed(
        _ reason: String,
        _ connection: PolledConnection,
        told: Duration? = nil
    ) async throws -> Duration {
        try await connection.failed(reason)
        guard follows || connection.backoff.count < PolledConnection.failuresMax else {
            throw Self.error(.io, "no answer that can be used came (\(reason))", "try again later")
        }
        return max(connection.backoff.next(), min(told ?? .zero, Self.waitMax))
    }

    /// An error without an object: the URL may hold a secret (I14).
    private static func error(_ code: IngestError.Code, _ reason: String, _ advice: String) -> IngestError {
        IngestError(code, operation: operation, object: "", reason: reason, advice: advice)
    }
}

/// What the next request and the next answer are compared with.
private struct LastAnswer {
    /// Of the body; `nil` before the first answer.
    var hash: Hash256?
    /// The `ETag` and `Last-Modified` of the answer; only of this run, since the log does not hold them.
    var tag: String?
    var date: String?

    /// The last answer in the log, if it is there as it came.
    init(_ history: RecordedHistory) throws {
        var hash: Hash256?
        try history.forEachEvent { event in
            guard event.envelope.kind == .httpAnswer, event.envelope.attributes["dir"] == "in" else { return }
            hash = event.envelope.attributes["redacted"] == nil ? Hasher256.hash(event.payload) : nil
        }
        self.hash = hash
    }
}
#endif
