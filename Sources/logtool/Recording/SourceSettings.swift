#if Recorders
import EventLog
import Ingest
import Projections

/// The settings of a live source, from the command line or a file. They name the places of tokens, never tokens (I14).
/// Each kind uses some of them and ignores the others.
///
/// Hashable, because equal settings in a file that is read again mean that the recorder goes on (`Supervisor`).
struct SourceSettings: Hashable, Sendable {
    /// The kinds of sources that can be followed; the raw value is their word on command line and in files.
    enum Kind: String, CaseIterable, Sendable {
        case git, github, gateway, sse, ws, http, status, cloudkit, realtime
    }

    var kind: Kind
    /// The repository, URL, directory or container.
    var address: String
    /// The source's name in the log; `nil` for the one that `SourceNaming` makes.
    var name: String?
    /// The branch (git, github); `nil` for the one that HEAD, or the service, names.
    var branch: String?
    /// Whether a git repository may keep objects and branches outside its folder.
    var allowsAlternates = false
    /// The base of the API (github, cloudkit); `nil` for the service's own.
    var api: String?
    /// The variable or file that holds the token; the file wins if both are given.
    var tokenEnvironment: String?
    var tokenFile: String?
    /// The place of the second secret: Supabase's key, CloudKit's API token.
    var keyEnvironment: String?
    var keyFile: String?
    /// The base of the REST routes (gateway, realtime); `nil` for the same server's, empty for none.
    var rest: String?
    /// Where access tokens are made of the refresh token in `refreshFile`, and that file, which is written anew
    /// (gateway).
    var refreshURL: String?
    var refreshFile: String?
    /// What a Discord gateway is to send, as a sum of its bits (gateway).
    var intents: UInt64?
    /// Names and places of secrets beside tokens and the list of docs/events.md.
    var redaction = RedactionRules.none
    /// What is said on each connection, and the subprotocol that is asked for (ws).
    var greetings: [String] = []
    var subprotocol: String?
    /// The path of the decoder file that reads the source from the recorder's start on (sse, ws, http); `nil` for none.
    var decoder: String?
    /// The app that the source is of, in place of a decoder file.
    var app: BuiltInApp?
    /// The tables, with schema and filter where given (realtime).
    var tables: [String] = []
    /// Globs of file names (status); empty for the app's own.
    var patterns: [String] = []
    /// Whether status files are polled instead of watched.
    var polls = false
    /// The pause between two looks; `nil` for the kind's default.
    var interval: Duration?
    /// `development` or `production` (cloudkit); `nil` for the latter.
    var environment: String?

    /// Makes the source. Reads no token and reaches no network.
    ///
    /// - Parameter follows: False records once what the source has now.
    /// - Throws: `Failure`, `EventLogError` or `IngestError` for settings that no source can have.
    func makeSource(follows: Bool) throws -> any LiveSource {
        let name = try SourceName(self.name ?? SourceNaming.name(kind: kind.rawValue, address: address))
        switch kind {
        // Followed in both cases: `makeSource` has no other source for git. `ingest git` without `--follow` uses
        // `GitSource` itself.
        case .git:
            let git = GitSource(
                repository: address,
                branch: branch,
                name: name,
                allowsAlternates: allowsAlternates,
                clock: { SystemClock.now }
            )
            return FollowedGitSource(git, interval: interval ?? .seconds(10))
        case .github:
            let base = api ?? "https://api.github.com"
            let repository = try GitHubSource.Repository(address, branch: branch, api: base)
            let pause = interval ?? .seconds(10)
            return GitHubSource(repository, name: name, token: token, follows: follows, interval: pause)
        case .sse: return try EventStreamSource(url: address, name: name, token: token, follows: follows)
        case .ws:
            return try AnySocketSource(
                url: address,
                greetings: greetings,
                subprotocol: subprotocol,
                token: token,
                name: name,
                follows: follows
            )
        case .http:
            let pause = interval ?? .seconds(10)
            return try AnswerSource(url: address, interval: pause, token: token, name: name, follows: follows)
        case .status: return try status(name, follows: follows)
        case .gateway: return try gateway(name, follows: follows)
        case .realtime:
            return try RealtimeSource(
                url: address,
                restBase: rest,
                tables: tables,
                apiKey: key,
                token: token,
                name: name,
                follows: follows
            )
        case .cloudkit: return try cloudKit(name, follows: follows)
        }
    }

    /// Status files: watched, polled or read once.
    private func status(_ name: SourceName, follows: Bool) throws -> StatusSource {
        let milliseconds = interval.map { Int32(clamping: $0.wholeMilliseconds) }
        let mode: StatusSource.Mode = polls ? .polling(milliseconds: milliseconds ?? 1_000) : .watching
        return try StatusSource(
            directory: address,
            patterns: patterns.isEmpty ? ["vibestatus-*.json"] : patterns,
            name: name,
            mode: follows ? mode : .once
        )
    }

    /// A gateway; it needs a token or a refresh token.
    private func gateway(_ name: SourceName, follows: Bool) throws -> GatewaySource {
        let refresh = refreshURL.flatMap { url in refreshFile.map { GatewaySource.Refresh(url: url, tokenFile: $0) } }
        // A refresh token is enough, because access tokens are made of it.
        guard token != nil || refresh != nil else {
            throw Failure("record gateway: a token is needed; name where it is with --token-env or --token-file")
        }
        return try GatewaySource(
            url: address,
            restBase: rest,
            intents: intents,
            token: token ?? .none,
            refresh: refresh,
            name: name,
            follows: follows
        )
    }

    /// A CloudKit container; it needs the user's token and the API token. The web token changes with each request; from
    /// a file it is kept there for the next run.
    private func cloudKit(_ name: SourceName, follows: Bool) throws -> CloudKitSource {
        guard let token, let key else {
            throw Failure(
                "record cloudkit: two tokens are needed; name where they are with --token-file and --api-token-env"
            )
        }
        let base = api ?? "https://api.apple-cloudkit.com"
        let container = try CloudKitSource.Container(address, environment: environment ?? "production", api: base)
        return CloudKitSource(
            container,
            name: name,
            apiToken: key,
            webToken: token,
            webTokenFile: tokenFile,
            interval: interval ?? .seconds(5),
            follows: follows
        )
    }

    /// Where the token is read from, each time that it is needed.
    private var token: TokenSource? {
        tokenFile.map { TokenSource.file($0) } ?? tokenEnvironment.map { TokenSource.environment($0) }
    }

    private var key: TokenSource? {
        keyFile.map { TokenSource.file($0) } ?? keyEnvironment.map { TokenSource.environment($0) }
    }
}
#endif
