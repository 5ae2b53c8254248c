#if Recorders
public import EventLog
public import Logging

/// The tools of a live source for one run: its past in the log, a way to append, clocks, HTTP and a logger.
public struct Recording: Sendable {
    /// The recorder's name in the log.
    public let source: SourceName
    /// The source's past in the log when the run began.
    public let history: RecordedHistory
    /// The clocks; `now` follows the machine's clock also where that is set back, and `steps` tells of it.
    public let clock: LiveClock
    /// Random numbers in `0..<1`.
    public let random: @Sendable () -> Double
    /// HTTP and TLS.
    public let http: HTTPAccess
    /// Tells people what the recorder does; never a token, never the text of a message (I14).
    public let log: Logger
    /// The recorder's tokens, which are replaced in everything that it appends (I14).
    let secrets: KnownSecrets
    /// What the user declared secret.
    let rules: RedactionRules
    private let sink: any PieceSink

    init(
        _ source: SourceName,
        history: RecordedHistory,
        tools: LiveTools,
        redacting rules: RedactionRules = .none,
        sink: any PieceSink
    ) {
        self.source = source
        self.history = history
        random = tools.random
        http = tools.http
        var log = tools.log
        log[metadataKey: "source"] = "\(source)"
        self.log = log
        secrets = KnownSecrets(log: log)
        self.rules = rules
        self.sink = sink
        clock = tools.clock.noticingSteps { [log] step in
            let direction = step < .zero ? "back" : "forward"
            log.warning(
                "the machine's clock was set; times of receipt follow it, outages are measured without it",
                metadata: [direction: "\(max(step, .zero - step).components.seconds) s"]
            )
        }
    }

    /// Takes events in order, to be durable within 50 ms, and returns once there is room for more. Replaces the
    /// recorder's tokens in them, and what the user declared secret (I14).
    ///
    /// The events are taken even if the task is cancelled meanwhile.
    ///
    /// - Throws: the error of an append that failed, such as a full disk; from then on nothing is appended.
    public func append(_ items: [SourceItem]) async throws {
        try await append(SourceBatch(items))
    }

    func append(_ pieces: SourceBatch) async throws {
        guard !pieces.isEmpty else { return }
        var pieces = pieces
        try pieces.redact(secrets, rules)
        try await sink.take(pieces)
    }

    /// Leaves a mark of life for each minute of silence, until the returned task is cancelled. Call it when a
    /// connection was opened, and cancel when it ends.
    func startLifeMarks() -> Task<Void, Never> {
        Task { [sink, clock] in await LifeMarks(sink: sink, clock: clock).run() }
    }

    /// Returns once everything taken is durable.
    ///
    /// - Throws: as `append`.
    public func flush() async throws {
        try await sink.flush()
    }
}

/// The tools that a caller provides to live recorders, which share them.
public struct LiveTools: Sendable {
    /// The clocks.
    public var clock: LiveClock
    /// Random numbers in `0..<1`.
    public var random: @Sendable () -> Double
    /// HTTP and TLS.
    public var http: HTTPAccess
    /// The logger, for people.
    public var log: Logger

    /// Makes a set of tools.
    public init(clock: LiveClock, random: @escaping @Sendable () -> Double, http: HTTPAccess, log: Logger) {
        self.clock = clock
        self.random = random
        self.http = http
        self.log = log
    }
}
#endif
