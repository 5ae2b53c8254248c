import JSON

#if Recorders
import EventLog

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Access tokens from a refresh URL such as Retrocast's: it takes `{"refresh_token"}` and returns a new pair. Each
/// refresh token works once.
///
/// The refresh token lives in a file. The new one is written there before the access token is used, so that a crash
/// loses no session.
actor RefreshedToken {
    private let url: String
    private let path: String
    private let ask: @Sendable (HTTPAccess.Request) async throws -> HTTPAccess.Answer
    private let clock: LiveClock
    private var current: (token: String, expires: Int64)?
    /// The exchange that is going on; concurrent callers share its token.
    private var renewal: Task<String, any Error>?

    /// The least remaining life, in seconds, of a token used for another handshake.
    private static let reserveSeconds: Int64 = 60

    init(
        url: String,
        refreshTokenPath: String,
        clock: LiveClock,
        ask: @escaping @Sendable (HTTPAccess.Request) async throws -> HTTPAccess.Answer
    ) {
        self.url = url
        path = refreshTokenPath
        self.clock = clock
        self.ask = ask
    }

    /// A token that stays valid for a while; fetches a new one if needed.
    ///
    /// If the caller is cancelled, an exchange goes on for 5 s: the old refresh token may be spent already.
    ///
    /// - Throws: `IngestError` if the server refuses; `HTTPTrouble` if another attempt may succeed.
    func token() async throws -> String {
        try Task.checkCancellation()
        if let current, current.expires - clock.now().seconds > Self.reserveSeconds { return current.token }
        let task = renewal ?? Task { try await renew() }
        renewal = task
        defer { if renewal == task { renewal = nil } }
        return try await task.value(graceOnceCancelled: HTTPAccess.cancellationGrace, of: clock)
    }

    private func renew() async throws -> String {
        let refreshToken = try await TokenSource.file(path).fresh()
        var writer = JSONWriter()
        writer.begin("{")
        writer.name("refresh_token")
        writer.string(refreshToken)
        writer.end("}")
        let headers = [(name: "Content-Type", value: "application/json")]
        let answer = try await ask(HTTPAccess.Request(method: "POST", url: url, headers: headers, body: writer.bytes))
        if answer.status == 408 || answer.status == 429 || answer.status >= 500 {
            throw HTTPTrouble("the refresh URL answered with status \(answer.status)")
        }
        // The server may have spent the refresh token, but the new one cannot be read from a coded body.
        if answer.isCoded { throw HTTPTrouble.coded }
        let tree = JSONTree(parsing: answer.body)
        let pair = tree?["data"] ?? tree
        guard answer.status == 200, let access = pair?["access_token"]?.string else {
            throw failure("the server answered with HTTP status \(answer.status) and no access token")
        }
        let token = try TokenSource.checked(access, origin: "the refresh URL")
        if let next = pair?["refresh_token"]?.string { try store(TokenSource.checked(next, origin: "the refresh URL")) }
        current = (token, Self.expiry(of: token) ?? clock.now().seconds + Self.reserveSeconds)
        return token
    }

    private func store(_ refreshToken: String) throws {
        do {
            try Folder.replaceFile(at: path, with: Array((refreshToken + "\n").utf8))
        } catch {
            throw failure("the new refresh token cannot be written to its file")
        }
    }

    private func failure(_ reason: String) -> IngestError {
        IngestError(.io, operation: "refresh token", object: path, reason: reason, advice: "log in again")
    }

    /// The `exp` of a JSON Web Token, in seconds since 1970.
    private static func expiry(of token: String) -> Int64? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        var text = String(parts[1].map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        guard let data = Data(base64Encoded: text) else { return nil }
        return JSONTree(parsing: Array(data))?["exp"]?.integer
    }
}
#endif
