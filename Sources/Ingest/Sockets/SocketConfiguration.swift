#if Recorders
import EventLog

/// What a socket driver is told.
struct SocketConfiguration<Work: Hashable & Sendable>: Sendable {
    /// What is being done, for errors.
    let operation: String
    let endpoint: WebSocketEndpoint
    let connector: WebSocketConnector
    let token: TokenSource
    /// Whether to go on once nothing is missing.
    var follows = true
    /// The parts of the source that have gaps of their own; one `nil` for all of it.
    var topics: [String?] = [nil]
    /// Does a piece of work; whether all of it could be done. Throws only what `append` throws.
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

    /// Where to connect: a server may name another host, which then gets the path and query of the first URL; never in
    /// the clear if that was not.
    func endpoint(redirected url: String?) -> WebSocketEndpoint {
        guard let url, let other = try? WebSocketEndpoint(url, operation: operation),
            other.isSecure || !endpoint.isSecure
        else { return endpoint }
        return other.withTarget(of: endpoint)
    }
}
#endif
