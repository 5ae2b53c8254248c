#if Recorders
import EventLog

/// The settings of a socket driver. `Work` is the work that its machine orders beside the connection.
struct SocketConfiguration<Work: Hashable & Sendable>: Sendable {
    /// The operation's name, for errors.
    let operation: String
    let endpoint: WebSocketEndpoint
    let connector: WebSocketConnector
    let token: TokenSource
    /// More headers of the handshake, made of the token; never logged (I14).
    var headers: @Sendable (_ token: String) -> [(String, String)] = { _ in [] }
    /// False for a run that ends once no gap is open.
    var follows = true
    /// The parts of the source that have gaps of their own; a single `nil` for the whole source.
    var topics: [String?] = [nil]
    /// Does a piece of work; returns true if all of it could be done. Throws only what `append` throws.
    ///
    /// The last argument is the beginning of the earliest open gap: what happened before it is in the log.
    let perform: @Sendable (Work, Recording, ConnectionCounters, Timestamp) async throws -> Bool

    init(
        operation: String,
        endpoint: WebSocketEndpoint,
        connector: WebSocketConnector,
        token: TokenSource,
        follows: Bool = true,
        topics: [String?] = [nil],
        perform: @escaping @Sendable (Work, Recording, ConnectionCounters, Timestamp) async throws -> Bool
    ) {
        self.operation = operation
        self.endpoint = endpoint
        self.connector = connector
        self.token = token
        self.follows = follows
        self.topics = topics
        self.perform = perform
    }

    /// The endpoint to connect to. A server may redirect to another host, which gets the path and query of the
    /// configured URL; a redirect from TLS to plain text is ignored. The token goes to that host too, as a RESUME
    /// demands.
    func endpoint(redirected url: String?) -> WebSocketEndpoint {
        guard let url, let other = try? WebSocketEndpoint(url, operation: operation),
            other.isSecure || !endpoint.isSecure
        else { return endpoint }
        return other.withTarget(of: endpoint)
    }
}
#endif
