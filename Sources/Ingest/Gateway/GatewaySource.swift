public import EventLog

/// Records a gateway WebSocket, Retrocast's or Discord's: every frame, and the state by REST after each handshake.
public struct GatewaySource: LiveSource {
    /// The recorder's name in the log.
    public let name: SourceName
    private let configuration: GatewayConfiguration

    /// Makes a source.
    ///
    /// - Parameters:
    ///   - url: the WebSocket; `http` and `https` are taken as `ws` and `wss`.
    ///   - restBase: the base of the REST routes; `nil` takes `/api/v1` on the same server, empty takes no snapshots.
    ///   - intents: `intents` of IDENTIFY, which Discord asks for; also makes the REST routes and tokens Discord's.
    ///   - follows: whether to go on once the state is complete.
    /// - Throws: `IngestError` with code `invalidArgument`.
    public init(
        url: String,
        restBase: String? = nil,
        intents: UInt64? = nil,
        token: TokenSource,
        name: SourceName,
        follows: Bool
    ) throws {
        self.name = name
        let endpoint = try WebSocketEndpoint(url, operation: "record gateway")
        let isDiscord = intents != nil
        var base = restBase ?? (isDiscord ? "" : "\(endpoint.origin)/api/v1")
        while base.hasSuffix("/") { base.removeLast() }
        if !base.isEmpty { _ = try WebSocketEndpoint(base, operation: "record gateway") }
        guard follows || !base.isEmpty else {
            throw IngestError(
                .invalidArgument,
                operation: "record gateway",
                object: endpoint.hostHeader,
                reason: "without REST routes there is no state to record once",
                advice: "add --follow, or name the routes with --rest"
            )
        }
        configuration = GatewayConfiguration(
            endpoint: endpoint,
            restBase: base.isEmpty ? nil : base,
            style: isDiscord ? .discord : .retrocast,
            intents: intents,
            token: token,
            follows: follows
        )
    }

    /// Records until it is cancelled, or until the state is complete.
    public func run(_ recording: Recording) async throws {
        try await configuration.driver(recording).run()
    }
}
