/// A loopback address of this machine and a port. No other host can be made one (I32).
public struct PlayAddress: Hashable, Sendable {
    /// `127.0.0.1` or `::1`.
    public let host: String
    /// From 1 to 65,535; 0 lets the system choose.
    public let port: Int

    /// Any free port, chosen by the system.
    public static let free = PlayAddress("127.0.0.1", 0)

    /// Makes an address; `nil` for a host other than this machine's own names and for a port out of range.
    ///
    /// - Parameter host: `127.0.0.1`, `localhost`, `[::1]` or `::1`; empty for `127.0.0.1`.
    public init?(host: String, port: Int) {
        guard let known = Self.hosts[host], (0...65_535).contains(port) else { return nil }
        self.init(known, port)
    }

    init(_ host: String, _ port: Int) {
        (self.host, self.port) = (host, port)
    }

    /// The authority of URLs at this address, such as `127.0.0.1:4000` or `[::1]:4000`.
    var hostAndPort: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }

    /// The addresses of the hosts that may be named. `localhost` is not resolved, because the resolver may name any address.
    private static let hosts = [
        "": "127.0.0.1", "127.0.0.1": "127.0.0.1", "localhost": "127.0.0.1", "[::1]": "::1", "::1": "::1",
    ]
}
