#if Recorders
import EventLog

/// The two secrets of a CloudKit recorder: the API token and the web token. A web token works once; each answer
/// contains the next one, which is written to `webFile`, so that the next run is still signed in.
///
/// Requests therefore go one after another, and each takes the token of the answer before.
struct CloudKitTokens {
    private let api: TokenSource
    private let web: TokenSource
    private let webFile: String?
    /// The web token of the last answer; `nil` before the first.
    private var next: String?

    private let secrets: KnownSecrets

    init(api: TokenSource, web: TokenSource, webFile: String?, secrets: KnownSecrets) {
        (self.api, self.web) = (api.noted(in: secrets), web.noted(in: secrets))
        (self.webFile, self.secrets) = (webFile, secrets)
    }

    /// The tokens as parameters of a URL; secret.
    mutating func parameters() async throws -> String {
        let key = try await api.fresh()
        let token = if let next { next } else { try await web.fresh() }
        return "ckAPIToken=\(UTF8Text.percentEncoded(key))&ckWebAuthToken=\(UTF8Text.percentEncoded(token))"
    }

    /// Takes the web token of an answer and writes it to the file. A token that holds anything but visible ASCII is
    /// passed over.
    ///
    /// - Throws: `IngestError` with code `io` if the file cannot be written.
    mutating func renew(_ token: String) throws {
        guard token != next, let token = try? TokenSource.checked(token, origin: "answer") else { return }
        next = token
        secrets.note(token)
        guard let webFile else { return }
        do {
            // Replaced as a whole: a half-written token would lose the session.
            try Folder.replaceFile(at: webFile, with: Array("\(token)\n".utf8))
        } catch {
            throw IngestError(
                .io,
                operation: "keep token",
                object: webFile,
                reason: "the file cannot be written, and without it the next run is not signed in",
                advice: "let the recorder write the file and its directory"
            )
        }
    }
}
#endif
