#if Recorders

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The server and path of a WebSocket, from a URL (RFC 6455, section 3; `http` and `https` mean `ws` and `wss`).
struct WebSocketEndpoint: Hashable, Sendable {
    /// The host to connect to; an IPv6 address without brackets.
    let host: String
    let port: Int
    let isSecure: Bool
    /// The path and query of the request, percent-encoded; never empty. The query may be secret (I14).
    private(set) var target: String

    /// The path of the request, without the query, which may be secret.
    var path: String { String(target.prefix { $0 != "?" }) }

    /// The same server with the path and query of `other`.
    func withTarget(of other: WebSocketEndpoint) -> WebSocketEndpoint {
        var copy = self
        copy.target = other.target
        return copy
    }

    /// Reads a URL.
    ///
    /// - Throws: `IngestError` with code `invalidArgument`; its text quotes nothing of the URL, which may be secret
    ///   (I14).
    init(_ url: String, operation: String) throws {
        guard let parts = URLComponents(string: url), let host = parts.host, !host.isEmpty else {
            throw Self.error(operation, reason: "it is not a URL with a host")
        }
        switch parts.scheme?.lowercased() {
        case "ws", "http": isSecure = false
        case "wss", "https": isSecure = true
        default: throw Self.error(operation, reason: "the scheme is not ws or wss")
        }
        guard parts.user == nil, parts.password == nil else {
            throw Self.error(operation, reason: "it holds a user or password")
        }
        // Foundation may give an IPv6 host with its brackets.
        self.host = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        port = parts.port ?? (isSecure ? 443 : 80)
        guard (1...65_535).contains(port) else { throw Self.error(operation, reason: "the port is out of range") }
        let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        target = parts.percentEncodedQuery.map { "\(path)?\($0)" } ?? path
    }

    /// The value of the Host header; it includes the port if that is not the scheme's default.
    var hostHeader: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// The scheme, host and port of REST routes on the same server.
    var origin: String { "\(isSecure ? "https" : "http")://\(hostHeader)" }

    /// The name for SNI and certificates; `nil` for an IP address, which SNI does not allow (RFC 6066, section 3).
    var serverName: String? {
        // A colon shows IPv6. A name of digits and dots alone is taken for IPv4; no top-level domain is a number.
        let isAddress = host.contains(":") || host.allSatisfy { $0.isNumber || $0 == "." }
        return isAddress ? nil : host
    }

    private static func error(_ operation: String, reason: String) -> IngestError {
        IngestError(
            .invalidArgument,
            operation: operation,
            object: "URL",
            reason: reason,
            advice: "give one such as wss://chat.example.org/gateway"
        )
    }
}
#endif
