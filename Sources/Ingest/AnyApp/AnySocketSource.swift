#if Recorders
public import EventLog

/// Records the WebSocket of any app: every message in both directions, as `ws.frame/1`, and a gap for each time without a
/// connection.
///
/// It reads nothing of what the server says. What it sends itself is what the user gives. No extension is negotiated, so
/// nothing comes compressed.
public struct AnySocketSource: LiveSource {
    /// The recorder's name in the log.
    public let name: SourceName
    private let url: String
    private let endpoint: WebSocketEndpoint
    private let greetings: [String]
    private let subprotocol: String?
    private let token: TokenSource?
    private let follows: Bool

    private static let operation = "record ws"

    /// Makes a source.
    ///
    /// - Parameters:
    ///   - url: the WebSocket's URL; `http` and `https` mean `ws` and `wss`.
    ///   - greetings: texts that are sent on each connection, in order; `{token}` in one stands for the token.
    ///   - subprotocol: the one that is asked for (RFC 6455, section 1.9); `nil` for none.
    ///   - token: read anew for each connection, and sent as `Authorization: Bearer` unless a text of `greetings` has it.
    ///   - follows: whether to connect again after the server has ended the connection.
    /// - Throws: `IngestError` with code `invalidArgument`.
    public init(
        url: String,
        greetings: [String] = [],
        subprotocol: String? = nil,
        token: TokenSource? = nil,
        name: SourceName,
        follows: Bool
    ) throws {
        endpoint = try WebSocketEndpoint(url, operation: Self.operation)
        if let subprotocol, !Self.isToken(subprotocol) {
            throw IngestError(
                .invalidArgument,
                operation: Self.operation,
                object: endpoint.hostHeader,
                reason: "the subprotocol has characters that a header does not allow",
                advice: "give one name of letters, digits, '.', '-' and '_'"
            )
        }
        (self.url, self.greetings, self.subprotocol) = (url, greetings, subprotocol)
        (self.token, self.name, self.follows) = (token, name, follows)
    }

    /// Checks that the token can be read.
    public func check() async throws {
        _ = try await token?.fresh()
    }

    /// Records until it is cancelled; without `follows`, until the server ends the connection.
    public func run(_ recording: Recording) async throws {
        recording.secrets.note(url: url)
        try await driver(recording).run()
    }

    private func driver(_ recording: Recording) throws -> SocketDriver<AnySocketMachine> {
        var journal = try ConnectionJournal(
            source: name,
            kind: .socketFrame,
            history: recording.history,
            secrets: recording.secrets,
            clock: recording.clock
        )
        journal.path = String(decoding: Secrets.redact(address: Array(endpoint.target.utf8), .common), as: UTF8.self)
        try journal.beginRun(topics: [nil], asksForPast: false, closes: "nothing", at: recording.clock.now())
        var configuration = SocketConfiguration<AnySocketMachine.Work>(
            operation: Self.operation,
            endpoint: endpoint,
            connector: WebSocketConnector(recording),
            token: (token ?? TokenSource { "" }).noted(in: recording.secrets),
            follows: follows
        ) { _, _, _, _ in true }
        let fixed = subprotocol.map { [("Sec-WebSocket-Protocol", $0)] } ?? []
        let sendsToken = token != nil && !greetings.contains { $0.contains("{token}") }
        configuration.headers = { fixed + (sendsToken ? [("Authorization", "Bearer \($0)")] : []) }
        return try SocketDriver(configuration: configuration, recording: recording, journal: journal) { gaps, ended in
            AnySocketMachine(
                greetings: greetings,
                follows: follows,
                gaps: gaps,
                endedGaps: ended,
                random: UnitRandom(next: recording.random)
            )
        }
    }

    /// Whether a text is a token of RFC 9110, section 5.6.2.
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
    }
}
#endif
