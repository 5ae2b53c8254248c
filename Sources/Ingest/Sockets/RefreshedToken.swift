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
/// loses no session. An actor, because a handshake and a snapshot may need a token at once, and two exchanges with one
/// refresh token would end the session.
actor RefreshedToken {
    private let url: String
    private let path: String
    private let ask: @Sendable (HTTPAccess.Request) async throws -> HTTPAccess.Answer
    private let clock: LiveClock
    /// Notes the tokens, because a server may send them back.
    private let secrets: KnownSecrets
    /// The last access token, and when it expires, in seconds since 1970; `nil` before the first exchange.
    private var current: (token: String, expires: Int64)?
    /// The exchange that is going on; concurrent callers share its token.
    private var renewal: Task<String, any Error>?

    /// The least remaining life, in seconds, of a token used for another handshake.
    private static let reserveSeconds: Int64 = 60

    init(
        url: String,
        refreshTokenPath: String,
        clock: LiveClock,
        secrets: KnownSecrets = KnownSecrets(),
        ask: @escaping @Sendable (HTTPAccess.Request) async throws -> HTTPAccess.Answer
    ) {
        self.url = url
        path = refreshTokenPath
        self.clock = clock
        self.secrets = secrets
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
        // A task of its own: the exchange must outlive a caller that is cancelled.
        let task = renewal ?? Task { try await renew() }
        renewal = task
        defer { if renewal == task { renewal = nil } }
        return try await task.value(graceOnceCancelled: HTTPAccess.cancellationGrace, of: clock)
    }

    /// Exchanges the refresh token in the file for a new pair, and writes the new refresh token there.
    private func renew() async throws -> String {
        let refreshToken = try await TokenSource.file(path).noted(in: secrets).fresh()
        var writer = JSONWriter()
        writer.begin("{")
        writer.name("refresh_token")
        writer.string(refreshToken)
        writer.end("}")
        let headers = [(name: "Content-Type", value: "application/json")]
        let answer = try await ask(HTTPAccess.Request(method: "POST", url: url, headers: headers, body: writer.bytes))
        // These statuses do not mean that the refresh token was refused, so it is kept and tried again.
        if answer.status == 408 || answer.status == 429 || answer.status >= 500 {
            throw HTTPTrouble("the refresh URL answered with status \(answer.status)")
        }
        // The server may have spent the refresh token, but the new one cannot be read from a coded body.
        if answer.isCoded { throw HTTPTrouble.coded }
        let tree = JSONValue(received: answer.body)
        // The pair comes bare (RFC 6749, section 5.1) or in an envelope `data`.
        let pair = tree?["data"] ?? tree
        guard answer.status == 200, let access = pair?["access_token"]?.string else {
            throw failure("the server answered with HTTP status \(answer.status) and no access token")
        }
        let token = try TokenSource.checked(access, origin: "the refresh URL")
        secrets.note(token)
        if let next = pair?["refresh_token"]?.string { try store(TokenSource.checked(next, origin: "the refresh URL")) }
        // A token without an expiry serves one handshake: it has exactly the reserve left, which is not enough for
        // another.
        current = (token, Self.expiry(of: token) ?? clock.now().seconds + Self.reserveSeconds)
        return token
    }

    private func store(_ refreshToken: String) throws {
        secrets.note(refreshToken)
        do {
            try Folder.replaceFile(at: path, with: Array((refreshToken + "\n").utf8))
        } catch {
            throw failure("the new refresh token cannot be written to its file")
        }
    }

    /// An error that names the file, never the token (I14).
    private func failure(_ reason: String) -> IngestError {
        IngestError(.io, operation: "refresh token", object: path, reason: reason, advice: "log in again")
    }

    /// The `exp` of a JSON Web Token (RFC 7519), in seconds since 1970; `nil` if the token is none or has none. The
    /// signature is not checked: only the server's answer to the token counts.
    private static func expiry(of token: String) -> Int64? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        var text = String(parts[1].map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        guard let data = Data(base64Encoded: text) else { return nil }
        return JSONValue(received: Array(data))?["exp"]?.number?.int64
    }
}
#endif
