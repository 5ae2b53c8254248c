#if Recorders
public import EventLog

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Records the rows of Supabase tables by Realtime's `postgres_changes`, and by REST after each interruption.
public struct RealtimeSource: LiveSource {
    /// The recorder's name in the log.
    public let name: SourceName
    private let url: String
    private let restBase: String?
    private let tables: [RealtimeTable]
    private let apiKey: TokenSource?
    private let token: TokenSource?
    private let version: PhoenixFrame.Version
    private let follows: Bool

    /// Makes a source.
    ///
    /// - Parameters:
    ///   - url: the URL of the project or of its Realtime socket; `vsn=2.0.0` in its query selects that serializer.
    ///   - restBase: the base URL of PostgREST's routes; `nil` means `/rest/v1` on the same server, empty pulls no
    ///     rows.
    ///   - tables: tables such as `notes`, `public.notes` or `notes:user_id=eq.7`, each once.
    ///   - apiKey: the project's key; it becomes a parameter of the socket's URL and a header of REST requests.
    ///   - token: the user's access token; `nil` to read with the rights of the key.
    ///   - follows: whether to go on once all rows are read.
    /// - Throws: `IngestError` with code `invalidArgument`.
    public init(
        url: String,
        restBase: String? = nil,
        tables: [String],
        apiKey: TokenSource? = nil,
        token: TokenSource? = nil,
        name: SourceName,
        follows: Bool
    ) throws {
        self.name = name
        self.url = url
        self.tables = try tables.map { try RealtimeTable($0) }
        let endpoint = try WebSocketEndpoint(url, operation: Self.operation)
        let parameters = URLComponents(string: url)?.queryItems ?? []
        let version = parameters.first { $0.name == "vsn" }?.value ?? PhoenixFrame.Version.one.rawValue
        guard let version = PhoenixFrame.Version(rawValue: version) else {
            throw Self.error(
                endpoint,
                "the version of Phoenix frames is neither 1.0.0 nor 2.0.0",
                "change vsn in the URL"
            )
        }
        self.version = version
        var base = restBase ?? "\(endpoint.origin)/rest/v1"
        while base.hasSuffix("/") { base.removeLast() }
        if !base.isEmpty { _ = try WebSocketEndpoint(base, operation: Self.operation) }
        self.restBase = base.isEmpty ? nil : base
        self.apiKey = apiKey
        self.token = token
        self.follows = follows
        // Two filters on one table would share a topic, and so a channel.
        guard !tables.isEmpty, Set(self.tables.map(\.topic)).count == tables.count else {
            throw Self.error(endpoint, "no table is given, or one twice", "name each table once with --table")
        }
        guard follows || !base.isEmpty else {
            throw Self.error(endpoint, "without REST routes there are no rows to record once", "add --follow")
        }
    }

    /// Checks that the tokens can be read.
    public func check() async throws {
        for token in [apiKey, token] { _ = try await token?.fresh() }
    }

    /// Records until it is cancelled, or until all rows are read.
    public func run(_ recording: Recording) async throws {
        let key = try await apiKey?.noted(in: recording.secrets).fresh() ?? ""
        recording.secrets.note(url: url)
        try await driver(recording, apiKey: key).run()
    }

    private static let operation = "record realtime"

    private static func error(_ endpoint: WebSocketEndpoint, _ reason: String, _ advice: String) -> IngestError {
        IngestError(.invalidArgument, operation: operation, object: endpoint.hostHeader, reason: reason, advice: advice)
    }
}

extension RealtimeSource {
    /// A driver for one run, with the open gaps of the runs before it.
    private func driver(_ recording: Recording, apiKey: String) throws -> SocketDriver<RealtimeMachine> {
        var journal = try ConnectionJournal(
            source: name,
            kind: .realtimeFrame,
            history: recording.history,
            clock: recording.clock
        )
        let topics = tables.map { Optional($0.topic) }
        let closer = restBase == nil ? GapCloser.nothing : .snapshot
        let now = recording.clock.now()
        try journal.beginRun(topics: topics, asksForPast: restBase != nil, closes: closer.rawValue, at: now)
        let configuration = SocketConfiguration<RealtimeMachine.Work>(
            operation: Self.operation,
            endpoint: try WebSocketEndpoint(socketURL(apiKey: apiKey), operation: Self.operation),
            connector: WebSocketConnector(recording),
            token: (token ?? TokenSource { apiKey }).noted(in: recording.secrets),
            follows: follows,
            topics: topics
        ) { work, recording, counters, _ in
            guard case .pull(let index) = work, let pull = pull(index, recording, counters, apiKey) else {
                return false
            }
            return try await pull.take()
        }
        return try SocketDriver(configuration: configuration, recording: recording, journal: journal) { gaps, ended in
            RealtimeMachine(
                tables: tables,
                version: version,
                pullsRows: restBase != nil,
                gaps: gaps,
                endedGaps: ended,
                random: UnitRandom(next: recording.random)
            )
        }
    }

    /// The pull of the table at an index; `nil` without REST routes.
    private func pull(
        _ index: Int,
        _ recording: Recording,
        _ counters: ConnectionCounters,
        _ apiKey: String
    ) -> RealtimePull? {
        guard let restBase, tables.indices.contains(index) else { return nil }
        return RealtimePull(
            table: tables[index],
            restBase: restBase,
            apiKey: apiKey,
            token: (token ?? TokenSource { apiKey }).noted(in: recording.secrets),
            recording: recording,
            counters: counters
        )
    }

    /// The socket's URL: the project's URL with Realtime's path, the version and the key. It holds a secret.
    private func socketURL(apiKey: String) -> String {
        guard var parts = URLComponents(string: url) else { return url }
        if parts.path.isEmpty || parts.path == "/" { parts.path = "/realtime/v1/websocket" }
        // A key or version that the given URL has already stays as it is.
        var items = parts.queryItems ?? []
        if !apiKey.isEmpty, !items.contains(where: { $0.name == "apikey" }) {
            items.append(URLQueryItem(name: "apikey", value: apiKey))
        }
        if !items.contains(where: { $0.name == "vsn" }) {
            items.append(URLQueryItem(name: "vsn", value: version.rawValue))
        }
        parts.queryItems = items
        return parts.string ?? url
    }
}
#endif
