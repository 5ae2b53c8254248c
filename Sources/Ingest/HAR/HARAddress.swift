import EventLog

/// An entry's URL, as far as it may be kept: without users, passwords and the secrets of its query.
struct HARAddress: Equatable {
    /// The host, without its port.
    let host: String
    /// The path and the query.
    let path: String
    /// Whether it is that of a WebSocket.
    let isSocket: Bool
    private let origin: String

    /// `nil` for what is no address of a server: `data:`, `blob:`, an extension's.
    init?(_ url: String) {
        guard let colon = url.utf8.firstRange(of: Array("://".utf8)) else { return nil }
        let scheme = url[..<colon.lowerBound].lowercased()
        guard ["http", "https", "ws", "wss"].contains(scheme) else { return nil }
        let rest = url[colon.upperBound...].prefix { $0 != "#" }
        let authority = rest.prefix { !"/?".contains($0) }
        let server = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
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

    /// A short hash of the whole, by which entries of one instant are told apart.
    var hash: String {
        String(Hasher256.hash(Array((origin + path).utf8)).hex.prefix(8))
    }

    private static func withoutSecrets(_ path: String) -> String {
        String(decoding: Secrets.redact(Array(path.utf8), kind: .gatewayREST).bytes, as: UTF8.self)
    }
}
