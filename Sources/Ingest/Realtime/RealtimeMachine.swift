#if Recorders
/// What a recorder does on a Supabase Realtime socket: joins a channel per table, beats, renews its token, joins again.
///
/// Changes come from the `system` message that says "subscribed" on, and nothing is ever sent twice: every interruption
/// is a gap of that table, which a pull by REST closes.
struct RealtimeMachine: SocketMachine {
    enum Work: Hashable, Sendable {
        /// Reading all rows of the table with a place in the list of tables.
        case pull(table: Int)
    }

    enum Phase: Equatable {
        /// No connection; the deadline says when to try again.
        case waiting
        case connecting
        case open
        /// Closing; nothing counts until the socket is gone.
        case closing
    }

    let tables: [RealtimeTable]
    let writer: PhoenixWriter
    let pullsRows: Bool
    var phase = Phase.waiting
    var channels: [RealtimeChannel]
    var token = ""
    var backoff: Backoff
    var refCount: UInt64 = 0
    /// The heartbeat that is not answered yet.
    var pendingBeat: UInt64?
    var timers = RealtimeTimers()
    var gaps: [SocketGap] = []
    var endedGaps: Set<SocketGap> = []
    var gapCount = 0

    /// - Parameters:
    ///   - pullsRows: whether rows can be read by REST.
    ///   - gaps: what is missing already, numbered from 1; `endedGaps` are those of them in which nothing more is.
    init(
        tables: [RealtimeTable],
        version: PhoenixFrame.Version,
        pullsRows: Bool,
        gaps: [SocketGap] = [],
        endedGaps: Set<SocketGap> = [],
        random: UnitRandom
    ) {
        self.tables = tables
        writer = PhoenixWriter(version: version)
        self.pullsRows = pullsRows
        channels = tables.map { _ in RealtimeChannel() }
        backoff = Backoff(max: RealtimeTiming.backoffMax, random: random.next)
        self.gaps = gaps
        self.endedGaps = endedGaps
        gapCount = gaps.count
        timers.reconnect = .zero
    }

    var sessionBytes: [UInt8]? { nil }

    func closer(of reason: GapReason) -> GapCloser { pullsRows ? .snapshot : .nothing }

    var deadline: Duration? {
        let own = [
            phase == .waiting ? timers.reconnect : nil, timers.patience, timers.beat, timers.token, timers.settled,
        ]
        let ofChannels = phase == .open ? channels.flatMap { [$0.deadline, $0.pullAgain] } : []
        return (own + ofChannels).compactMap { $0 }.min()
    }

    mutating func receive(_ input: Input, at now: Duration) -> [Action] {
        switch input {
        case .opened(let token): return opened(token: token, at: now)
        case .refused(let wait): return refused(retryAfter: wait, at: now)
        case .message(let bytes): return message(bytes, at: now)
        case .oversize: return phase == .open ? channels.indices.flatMap { interrupted($0, .oversize, at: now) } : []
        case .closed: return closed(at: now)
        case .workDone(.pull(let table), let isComplete): return pulled(table, isComplete: isComplete, at: now)
        case .token(let token): return renewed(token, at: now)
        case .tick: return tick(at: now)
        }
    }
}

/// One table's channel.
struct RealtimeChannel: Equatable {
    enum Phase: Equatable {
        /// Not joined; the deadline says when to join.
        case idle
        /// A join is out; its ref.
        case joining(UInt64)
        /// Joined, but no changes come in yet.
        case joined(UInt64)
        /// Changes come in.
        case subscribed(UInt64)
    }

    var phase = Phase.idle
    /// When the step takes too long, or when to join again.
    var deadline: Duration?
    var failures = 0
    /// The gaps that a running pull will close; `nil` while none runs.
    var coveredByPull: Set<SocketGap>?
    var needsPull = false
    var pullBegan: Duration?
    /// When to pull again.
    var pullAgain: Duration?

    /// The `join_ref` of the channel's frames.
    var joinRef: UInt64? {
        switch phase {
        case .idle: nil
        case .joining(let ref), .joined(let ref), .subscribed(let ref): ref
        }
    }

    var isSubscribed: Bool {
        if case .subscribed = phase { true } else { false }
    }
}

/// When a realtime machine wants to be called, apart from its channels.
struct RealtimeTimers: Equatable {
    var reconnect: Duration?
    /// When closing takes too long.
    var patience: Duration?
    var beat: Duration?
    /// When to look for a newer token.
    var token: Duration?
    /// When a connection counts as one that works.
    var settled: Duration?

    mutating func endConnection() {
        (patience, beat, token, settled) = (nil, nil, nil, nil)
    }
}

/// The spans of the protocol and of this recorder.
enum RealtimeTiming {
    static let beat = Duration.seconds(25)
    static let join = Duration.seconds(10)
    /// The longest wait for "subscribed" after a join; the server tries each 5 to 10 s.
    static let subscribe = Duration.seconds(60)
    /// Between failed joins, as the clients wait.
    static let rejoin: [Duration] = [.seconds(1), .seconds(2), .seconds(5), .seconds(10)]
    static let backoffMax = Duration.seconds(60)
    static let closing = Duration.seconds(5)
    static let settled = Duration.seconds(10)
    /// How often a newer token is looked for.
    static let token = Duration.seconds(30)
    /// Between pulls of one table that the server's resubscribing asks for, and after one that failed.
    static let pullPause = Duration.seconds(30)
    /// What this recorder closes with.
    static let closeCode: UInt16 = 1_000
}
#endif
