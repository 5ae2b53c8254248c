#if Recorders
public import EventLog

/// Records CloudKit's `Session` and `Prompt` records by polling its web services: their default zone has no feed of
/// changes.
public struct CloudKitSource: LiveSource {
    /// A container of records.
    public struct Container: Sendable {
        /// The private database, under which the routes `records/query` and `records/lookup` lie.
        let url: String

        /// Names a container.
        ///
        /// - Parameters:
        ///   - environment: `development` or `production`.
        ///   - api: the base URL of the web services.
        /// - Throws: `IngestError` with code `invalidArgument`.
        public init(
            _ name: String,
            environment: String = "production",
            api: String = "https://api.apple-cloudkit.com"
        ) throws {
            let place = try HTTPAddress(api, operation: "ingest cloudkit")
            // Goes into a path as it is, so only letters, digits, points and hyphens.
            let isName = name.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || byte == 0x2E || byte == 0x2D
            }
            guard isName, name.hasPrefix("iCloud."), ["development", "production"].contains(environment) else {
                throw IngestError(
                    .invalidArgument,
                    operation: "ingest cloudkit",
                    object: name,
                    reason: "the container's name or environment is wrong",
                    advice: "give one such as iCloud.com.example.app, and development or production"
                )
            }
            url = "\(place.origin)\(place.path == "/" ? "" : place.path)/database/1/\(name)/\(environment)/private"
        }
    }

    /// The recorder's name in the log.
    public let name: SourceName
    private let container: Container
    private let apiToken: TokenSource
    private let webToken: TokenSource
    private let webTokenFile: String?
    private let window: Duration
    private let interval: Duration
    private let follows: Bool

    /// Makes a source.
    ///
    /// - Parameters:
    ///   - apiToken: `ckAPIToken`, from the dashboard.
    ///   - webToken: `ckWebAuthToken`, from signing in. It works for one request; each answer contains the next one.
    ///   - webTokenFile: the file that keeps the next token for the next run; `nil` to keep none.
    ///   - window: the greatest age of the sessions that are queried.
    ///   - interval: the pause between two polls.
    ///   - follows: whether to go on polling after the first poll.
    public init(
        _ container: Container,
        name: SourceName,
        apiToken: TokenSource,
        webToken: TokenSource,
        webTokenFile: String? = nil,
        window: Duration = .seconds(1_800),
        interval: Duration = .seconds(5),
        follows: Bool
    ) {
        self.container = container
        self.name = name
        self.apiToken = apiToken
        self.webToken = webToken
        self.webTokenFile = webTokenFile
        self.window = window
        self.interval = interval
        self.follows = follows
    }

    /// Checks that the tokens can be read.
    public func check() async throws {
        for token in [apiToken, webToken] { _ = try await token.fresh() }
    }

    /// Records until it is cancelled; unless following, until the first poll is complete.
    public func run(_ recording: Recording) async throws {
        let tokens = CloudKitTokens(api: apiToken, web: webToken, webFile: webTokenFile, secrets: recording.secrets)
        let session = try CloudKitSession(recording, url: container.url, tokens: tokens, follows: follows)
        do {
            try await session.begin()
            while true {
                try await session.look(window: window)
                guard follows else { break }
                try await recording.clock.sleep(interval)
            }
            try await session.stop()
        } catch {
            try await session.stop(error)
            throw error
        }
    }
}
#endif
