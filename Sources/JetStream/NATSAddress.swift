import EventLog

/// Where a stream is: `nats://HOST[:PORT][,HOST…][/STREAM]`, or with `tls://` or `nats+tls://` for TLS. Without a user and a password: these
/// come from files or the environment.
public struct NATSAddress: Hashable, Sendable {
    /// The servers, as `SCHEME://HOST[:PORT]`.
    public let servers: [String]
    /// Whether the server must speak TLS.
    public let isSecure: Bool
    /// The name of the first server, which its certificate must bear.
    public let host: String
    /// The stream's name; `nil` for the one that belongs to the log.
    public let stream: String?

    private static let schemes = ["nats://": false, "tls://": true, "nats+tls://": true]

    /// Whether a text means a NATS server.
    public static func isAddress(_ text: String) -> Bool {
        schemes.keys.contains { text.lowercased().hasPrefix($0) }
    }

    /// Reads an address.
    ///
    /// - Throws: `EventLogError` with code `invalidArgument` for any other text, for one with a user or a password, which the error does not
    ///   repeat, and for TLS to servers of several names: certificates are checked for one.
    public init(_ text: String) throws {
        let lowered = text.lowercased()
        guard let (scheme, isSecure) = Self.schemes.first(where: { lowered.hasPrefix($0.key) }) else {
            throw Self.refused(text, "it is no address of a NATS server: nats://HOST[:PORT][/STREAM]")
        }
        let rest = text.dropFirst(scheme.count)
        guard !rest.contains("@") else {
            throw Self.refused(
                "\(scheme)…",
                "an address has no user and no password; say --credentials, --token-file or --token-env"
            )
        }
        let parts = rest.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let hosts = parts[0].split(separator: ",", omittingEmptySubsequences: false)
        guard hosts.allSatisfy({ Self.isHost($0) }) else { throw Self.refused(text, "it names no host") }
        let stream = parts.count > 1 && !parts[1].isEmpty ? String(parts[1]) : nil
        if let stream, !Self.isStream(stream) {
            throw Self.refused(text, "a stream's name has 1 to 255 letters, digits, - and _")
        }
        let names = hosts.map { Self.name(of: $0) }
        guard !isSecure || Set(names).count == 1 else {
            throw Self.refused(text, "with TLS all servers have one name, and differ in their ports alone")
        }
        host = names[0]
        servers = hosts.map { "\(isSecure ? "tls" : "nats")://\($0)" }
        (self.isSecure, self.stream) = (isSecure, stream)
    }

    /// For messages.
    public var text: String { servers.joined(separator: ",") + (stream.map { "/\($0)" } ?? "") }

    private static func refused(_ text: String, _ reason: String) -> EventLogError {
        EventLogError(.invalidArgument, operation: "read address", object: text, reason: reason)
    }

    private static func isHost(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.count <= 300
            && text.utf8.allSatisfy { isPlain($0) || [".", ":", "[", "]", "%"].contains(UnicodeScalar($0)) }
    }

    /// A host without its port.
    private static func name(of host: Substring) -> String {
        if host.first == "[" { return String(host.dropFirst().prefix { $0 != "]" }) }
        return String(host.prefix { $0 != ":" })
    }

    /// Whether nothing leaves this machine on the way to the servers.
    var isLoopback: Bool {
        servers.allSatisfy { server in
            let name = Self.name(of: server.dropFirst("\(isSecure ? "tls" : "nats")://".count))
            return name == "localhost" || name == "::1" || name.hasPrefix("127.")
        }
    }

    private static func isStream(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count) && text.utf8.allSatisfy { isPlain($0) }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch UnicodeScalar(byte) {
        case "0"..."9", "a"..."z", "A"..."Z", "-", "_": true
        default: false
        }
    }
}

/// What proves this program to a NATS server, and the server to it.
public struct NATSSecurity: Sendable {
    /// The path of a file of credentials, as `nsc` writes it.
    public var credentials: String?
    /// A token.
    public var token: String?
    /// The path of certificates in PEM to check the server against, in place of the system's.
    public var trustFile: String?

    /// Makes one without credentials, a token or certificates.
    public init() {}
}

/// Which end of a courier this is.
public enum CourierEnd: Sendable {
    /// The sender of a log with an identity; the stream that it makes has so many replicas.
    case sender([UInt8], replicas: Int)
    /// A receiver, and the identity of the log that it has already.
    case receiver([UInt8]?)
}
