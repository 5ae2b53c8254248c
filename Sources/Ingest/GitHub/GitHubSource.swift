#if Recorders
public import EventLog

/// Records the commits of one branch over GitHub's REST API: the same events, byte for byte and in the same order, that
/// `GitSource` makes from a clone.
///
/// Polls the branch's tip with its ETag, so that a poll without a change costs nothing. Finds new commits by walking
/// parents, so that a change and its revert between two polls are both recorded.
public struct GitHubSource: LiveSource {
    /// A repository, and how to reach it.
    public struct Repository: Sendable {
        let owner: String
        let name: String
        let branch: String?
        let api: String

        /// Names a repository.
        ///
        /// - Parameters:
        ///   - name: `OWNER/NAME`.
        ///   - branch: `nil` for the repository's default branch.
        ///   - api: the base URL of the REST API.
        /// - Throws: `IngestError` with code `invalidArgument`.
        public init(_ name: String, branch: String? = nil, api: String = "https://api.github.com") throws {
            let parts = name.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, parts.allSatisfy(Self.isName) else {
                throw IngestError(
                    .invalidArgument,
                    operation: "ingest github",
                    object: name,
                    reason: "it is not the name of a repository",
                    advice: "give OWNER/NAME, such as ada/chat"
                )
            }
            let place = try HTTPAddress(api, operation: "ingest github")
            (owner, self.name, self.branch) = (parts[0], parts[1], branch)
            self.api = place.origin + (place.path == "/" ? "" : place.path)
        }

        private static func isName(_ text: String) -> Bool {
            !text.isEmpty && text != "." && text != ".."
                && text.utf8.allSatisfy { byte in
                    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                        || byte == 0x2D || byte == 0x5F || byte == 0x2E
                }
        }
    }

    /// The recorder's name in the log.
    public let name: SourceName
    private let repository: Repository
    private let token: TokenSource?
    private let follows: Bool
    private let interval: Duration

    /// Makes a source.
    ///
    /// - Parameters:
    ///   - token: the access token; without one GitHub allows 60 requests an hour.
    ///   - follows: whether to go on polling.
    ///   - interval: the pause between two polls.
    public init(
        _ repository: Repository,
        name: SourceName,
        token: TokenSource? = nil,
        follows: Bool,
        interval: Duration = .seconds(10)
    ) {
        self.repository = repository
        self.name = name
        self.token = token
        self.follows = follows
        self.interval = interval
    }

    /// Checks that the token can be read.
    public func check() async throws {
        _ = try await token?.fresh()
    }

    /// Records until it is cancelled; unless following, until everything up to the branch's tip is recorded.
    public func run(_ recording: Recording) async throws {
        let client = try GitHubClient(recording, base: repository.api, token: token, follows: follows)
        let branch = try GitHubBranch(repository, client: client, recording: recording)
        do {
            try await client.beginRun()
            while true {
                try await branch.look(isOnlyLook: !follows)
                guard follows else { break }
                try await recording.clock.sleep(interval)
            }
            try await client.stop()
        } catch {
            try await client.stop(error)
            throw error
        }
    }
}
#endif
