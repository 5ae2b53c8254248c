#if Recorders

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The part of a server's URL that may be shown: without user, password and query, which may be secret.
struct HTTPAddress: Sendable {
    /// Scheme, host and port.
    let origin: String
    /// The path, without the query.
    let path: String

    /// Reads a URL.
    ///
    /// - Throws: `IngestError` with code `invalidArgument`; its text quotes nothing of the URL.
    init(_ url: String, operation: String) throws {
        guard let parts = URLComponents(string: url), let host = parts.host, !host.isEmpty,
            let scheme = parts.scheme?.lowercased(), scheme == "http" || scheme == "https"
        else { throw Self.error(operation, "it is no http or https URL with a host") }
        guard parts.user == nil, parts.password == nil else {
            throw Self.error(operation, "it holds a user or password")
        }
        origin = "\(scheme)://\(host)\(parts.port.map { ":\($0)" } ?? "")"
        path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
    }

    private static func error(_ operation: String, _ reason: String) -> IngestError {
        IngestError(
            .invalidArgument,
            operation: operation,
            object: "URL",
            reason: reason,
            advice: "give one such as https://host/path, and a token by environment variable or file"
        )
    }
}
#endif
