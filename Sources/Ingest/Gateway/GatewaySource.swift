#if Recorders
public import EventLog

/// Records a gateway WebSocket, Retrocast's or Discord's: every frame, and the state by REST after each handshake.
public struct GatewaySource: LiveSource {
    /// A URL that makes access tokens of a refresh token, as Retrocast's `/auth/refresh` does.
    public struct Refresh: Sendable {
        /// Where to ask.
        public let url: String
        /// The file that holds the refresh token; each answer brings a new one, which is written there.
        public let tokenFile: String

        /// Makes a description.
        public init(url: String, tokenFile: String) {
            self.url = url
            self.tokenFile = tokenFile
        }
    }

    /// The recorder's name in the log.
    public let name: SourceName
    private let configuration: GatewayConfiguration
    private let refresh: Refresh?

    /// Makes a source.
    ///
    /// - Parameters:
    ///   - url: the WebSocket; `http` and `https` are taken as `ws` and `wss`.
    ///   - restBase: the base of the REST routes; `nil` takes `/api/v1` on the same server, empty takes no snapshots.
    ///   - intents: `intents` of IDENTIFY, which Discord asks for; also makes the REST routes and tokens Discord's.
    ///   - refresh: takes the token's place where given.
    ///   - follows: whether to go on once the state is complete.
    /// - Throws: `IngestError` with code `invalidArgument`.
    public init(
        url: String,
        restBase: String? = nil,
        intents: UInt64? = nil,
        token: TokenSource,
        refresh: Refresh? = nil,
        name: SourceName,
        follows: Bool
    ) throws {
        self.name = name
        self.refresh = refresh
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

    /// Whether its token can be read.
    public func check() async throws {
        let token = refresh.map { TokenSource.file($0.tokenFile) } ?? configuration.token
        _ = try await token.fresh()
    }

    /// Records until it is cancelled, or until the state is complete.
    public func run(_ recording: Recording) async throws {
        var configuration = configuration
        if let refresh {
            let tokens = RefreshedToken(
                url: refresh.url,
                refreshTokenPath: refresh.tokenFile,
                clock: recording.clock,
                ask: { try await recording.http.ask($0) }
            )
            configuration.token = TokenSource { try await tokens.token() }
        }
        try await configuration.driver(recording).run()
    }
}
#endif
