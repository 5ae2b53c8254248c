#if Recorders
public import EventLog
public import Logging

/// What a live source may use while it records: the log's memory of it, a way to append, the time, and HTTP.
public struct Recording: Sendable {
    /// The recorder's name in the log.
    public let source: SourceName
    /// What the log held of the source when the run began.
    public let history: RecordedHistory
    /// The time; `now` never falls within a run.
    public let clock: LiveClock
    /// Numbers from 0 up to, not including, 1.
    public let random: @Sendable () -> Double
    /// HTTP and TLS.
    public let http: HTTPAccess
    /// For people: what the recorder does. Never a token, never the text of a message.
    public let log: Logger
    private let queue: BatchQueue

    init(_ source: SourceName, history: RecordedHistory, tools: LiveTools, queue: BatchQueue) {
        self.source = source
        self.history = history
        clock = tools.clock.rising()
        random = tools.random
        http = tools.http
        var log = tools.log
        log[metadataKey: "source"] = "\(source)"
        self.log = log
        self.queue = queue
    }

    /// Takes events in order, to be appended within 50 ms, and returns when there is room for more.
    ///
    /// Once called, the events are taken, also where the task is cancelled meanwhile.
    ///
    /// - Throws: what made an append fail, such as a full disk; nothing is appended any more then.
    public func append(_ items: [SourceItem]) async throws {
        try await append(SourceBatch(items))
    }

    func append(_ pieces: SourceBatch) async throws {
        guard !pieces.isEmpty else { return }
        try await queue.append(pieces)
    }

    /// Begins to leave a mark of life each minute in which nothing comes, until the task is cancelled; for a connection that
    /// is open now.
    func startLifeMarks() -> Task<Void, Never> {
        Task { [queue, clock] in await LifeMarks(queue: queue, clock: clock).run() }
    }

    /// Returns when all that was taken is durable.
    public func flush() async throws {
        try await queue.flush()
    }
}

/// What live recorders share and do not make themselves.
public struct LiveTools: Sendable {
    /// The time.
    public var clock: LiveClock
    /// Numbers from 0 up to, not including, 1.
    public var random: @Sendable () -> Double
    /// HTTP and TLS.
    public var http: HTTPAccess
    /// For people.
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
