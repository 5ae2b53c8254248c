#if Recorders
public import EventLog

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Records a gateway WebSocket, Retrocast's or Discord's: every frame, and the state by REST after each handshake.
public struct GatewaySource: LiveSource {
    /// A URL that exchanges a refresh token for an access token, such as Retrocast's `/auth/refresh`.
    public struct Refresh: Sendable {
        /// The URL.
        public let url: String
        /// The path of the file that holds the refresh token; the new one of each answer is written there.
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
    /// The WebSocket's URL; its query may be secret.
    private let url: String
    private let refresh: Refresh?

    /// Makes a source.
    ///
    /// - Parameters:
    ///   - url: the WebSocket's URL; `http` and `https` mean `ws` and `wss`.
    ///   - restBase: the base URL of the REST routes. `nil` means `/api/v1` on the same server, or with `intents` no
    ///     snapshots; empty means no snapshots.
    ///   - intents: the `intents` of IDENTIFY. A value selects Discord's REST routes and token scheme.
    ///   - refresh: replaces `token` if given.
    ///   - follows: whether to go on once the state is complete.
    /// - Throws: `IngestError` with code `invalidArgument` for a URL that cannot be used, or without REST routes if
    ///   `follows` is false.
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
        self.url = url
        self.refresh = refresh
        let endpoint = try WebSocketEndpoint(url, operation: "record gateway")
        try Self.checkCoding(url, endpoint)
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

    /// Refuses a URL that asks for frames which cannot be read.
    private static func checkCoding(_ url: String, _ endpoint: WebSocketEndpoint) throws {
        for item in URLComponents(string: url)?.queryItems ?? [] {
            let plain: String
            switch item.name.lowercased() {
            case "compress": plain = ""
            case "encoding": plain = "json"
            default: continue
            }
            let value = item.value?.lowercased() ?? ""
            if value.isEmpty || value == plain || value == "false" { continue }
            // The value is not quoted: a query may be secret (I14).
            throw IngestError(
                .invalidArgument,
                operation: "record gateway",
                object: endpoint.hostHeader,
                reason: plain.isEmpty
                    ? "compress in the URL asks for compressed frames, which cannot be read"
                    : "encoding in the URL asks for frames in another form than JSON, which cannot be read",
                advice: plain.isEmpty ? "leave compress out of the URL" : "give encoding=json or leave it out"
            )
        }
    }

    /// Checks that the token can be read.
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
                secrets: recording.secrets,
                ask: { try await recording.http.ask($0) }
            )
            configuration.token = TokenSource { try await tokens.token() }
        }
        configuration.token = configuration.token.noted(in: recording.secrets)
        recording.secrets.note(url: url)
        try await configuration.driver(recording).run()
    }
}
#endif
