import EventLog

/// The part of an entry's URL that may be kept: without user, password and the secrets of its query (I14).
///
/// The hash is a part of keys (I15), so a change of what `path` or the origin contains makes every HAR new.
struct HARAddress: Equatable {
    /// The host, without its port.
    let host: String
    /// The path and the query, beginning with `/`; without the fragment.
    let path: String
    /// True for the URL of a WebSocket.
    let isSocket: Bool
    /// The scheme, host and port, in lower case.
    private let origin: String

    /// Reads a URL; `nil` if it names no server: `data:`, `blob:`, an extension's.
    init?(_ url: String) {
        guard let colon = url.utf8.firstRange(of: Array("://".utf8)) else { return nil }
        let scheme = url[..<colon.lowerBound].lowercased()
        guard ["http", "https", "ws", "wss"].contains(scheme) else { return nil }
        let rest = url[colon.upperBound...].prefix { $0 != "#" }
        let authority = rest.prefix { !"/?".contains($0) }
        // Behind the last `@`, as the URL standard says: a password may contain one.
        let server = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        // An IPv6 address has colons of its own, within brackets.
        let host = server.hasPrefix("[") ? server.prefix { $0 != "]" } + "]" : server.prefix { $0 != ":" }
        guard !host.isEmpty else { return nil }
        let path = rest[authority.endIndex...]
        self.host = host.lowercased()
        self.path = Self.withoutSecrets(path.hasPrefix("/") ? String(path) : "/\(path)")
        isSocket = scheme.hasPrefix("ws")
        origin = "\(scheme)://\(server.lowercased())"
    }

    /// The path alone.
    var route: Substring { path.prefix { $0 != "?" } }

    /// A short hash of the whole address, which tells entries of one instant apart. It covers the address without
    /// secrets, so that a renewed token changes no key.
    var hash: String {
        String(Hasher256.hash(Array((origin + path).utf8)).hex.prefix(8))
    }

    private static func withoutSecrets(_ path: String) -> String {
        String(decoding: Secrets.redact(Array(path.utf8), kind: .gatewayREST).bytes, as: UTF8.self)
    }
}
