#if Recorders

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A source of a recorder's token. The token is read anew before each handshake, and never reaches a log or a message
/// (I14).
public struct TokenSource: Sendable {
    private let read: @Sendable () async throws -> String

    /// Makes a source from a closure. The closure's errors must not quote the token.
    public init(_ read: @escaping @Sendable () async throws -> String) {
        self.read = read
    }

    /// No token: an empty text.
    public static let none = TokenSource { "" }

    /// The value of an environment variable.
    public static func environment(_ name: String) -> TokenSource {
        TokenSource {
            guard let value = ProcessInfo.processInfo.environment[name], !value.isEmpty else {
                throw IngestError(
                    .invalidArgument,
                    operation: "read token",
                    object: name,
                    reason: "the environment variable is not set or empty",
                    advice: "set it, or name another with --token-env"
                )
            }
            return try checked(value, origin: name)
        }
    }

    /// The first line of a file. It is read for each token, so another program may renew it.
    public static func file(_ path: String) -> TokenSource {
        TokenSource {
            guard let data = FileManager.default.contents(atPath: path) else {
                throw IngestError(.io, operation: "read token", object: path, reason: "the file cannot be read")
            }
            let line = data.prefix(while: { $0 != 0x0A && $0 != 0x0D })
            return try checked(String(decoding: line, as: UTF8.self), origin: path)
        }
    }

    /// Reads the token for the next handshake. May read a file or ask a server.
    ///
    /// - Throws: `IngestError`; from a refresh URL also `HTTPTrouble`.
    func fresh() async throws -> String {
        try await read()
    }

    /// The same source, whose tokens are noted as they are read: a server may send them back (I14).
    func noted(in secrets: KnownSecrets) -> TokenSource {
        TokenSource {
            let token = try await fresh()
            secrets.note(token)
            return token
        }
    }

    /// The token in `text`, without surrounding white space. Only visible ASCII is accepted, because the token goes
    /// into an HTTP header and a JSON text.
    static func checked(_ text: String, origin: String) throws -> String {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 1, let token = words.first, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw IngestError(
                .invalidArgument,
                operation: "read token",
                object: origin,
                reason: "it is empty or holds something other than visible ASCII"
            )
        }
        return String(token)
    }
}
#endif
