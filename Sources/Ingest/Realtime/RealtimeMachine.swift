#if Recorders
/// The protocol logic of a recorder on a Supabase Realtime socket: joins a channel per table, sends heartbeats, renews
/// the token, and joins again.
///
/// Changes come in once a `system` message confirms the subscription, and the server repeats none. So every
/// interruption is a gap of its table, which a pull by REST closes.
struct RealtimeMachine: SocketMachine {
    enum Work: Hashable, Sendable {
        /// Read all rows of the table at this index of `tables`.
        case pull(table: Int)
    }

    enum Phase: Equatable {
        /// No connection; `reconnect` is when to try again.
        case waiting(reconnect: Duration)
        /// An attempt is on its way; the driver answers with `opened` or `refused`.
        case connecting
        /// Connected; each channel has a phase of its own.
        case open
        /// Closing; messages do not count until the socket is gone. `until` is when that has taken too long.
        case closing(until: Duration, reconnect: Duration)
    }

    let tables: [RealtimeTable]
    let writer: PhoenixWriter
    /// True if rows can be read by REST; without that, gaps are closed by nothing.
    let pullsRows: Bool
    var phase = Phase.waiting(reconnect: .zero)
    /// One for each of `tables`, at the same index.
    var channels: [RealtimeChannel]
    /// The token that joins send; empty for none.
    var token = ""
    /// Reset once a connection has lasted `RealtimeTiming.settled`.
    var backoff: Backoff
    /// The last ref of this connection.
    var refCount: UInt64 = 0
    /// The ref of the heartbeat that is not answered yet.
    var pendingBeat: UInt64?
    var timers = RealtimeTimers()
    var book: GapBook

    /// - Parameters:
    ///   - pullsRows: true if rows can be read by REST.
    ///   - gaps: the open gaps of earlier runs, numbered from 1.
    ///   - endedGaps: those of `gaps` that have an end.
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
        book = GapBook(gaps, ended: endedGaps)
    }

    var gaps: [Gap] { book.open }

    /// Nothing: the server has no sessions, so a new connection is all that the next run needs.
    var sessionBytes: [UInt8]? { nil }

    /// The server repeats no change, so only the rows themselves can show what was missed.
    func closer(of reason: GapReason) -> GapCloser { pullsRows ? .snapshot : .nothing }

    var deadline: Duration? {
        switch phase {
        case .waiting(let reconnect): return reconnect
        case .connecting: return nil
        case .closing(let until, _): return until
        case .open:
            let own = [timers.beat, timers.token, timers.settled]
            return (own + channels.flatMap { [$0.deadline, $0.pulls.next] }).compactMap { $0 }.min()
        }
    }

    mutating func receive(_ input: Input, at now: Duration) -> [Action] {
        switch input {
        case .opened(let token): return opened(token: token, at: now)
        case .refused(let wait): return refused(retryAfter: wait, at: now)
        case .message(let bytes): return message(bytes, at: now)
        // The table of a frame that was not kept is not known, so every table may have missed a change.
        case .oversize: return phase == .open ? channels.indices.flatMap { interrupted($0, .oversize, at: now) } : []
        case .closed: return closed(at: now)
        case .workDone(.pull(let table), let isComplete): return pulled(table, isComplete: isComplete, at: now)
        case .token(let token): return renewed(token, at: now)
        case .tick: return tick(at: now)
        }
    }
}

/// One table's channel. The machine alone changes it.
struct RealtimeChannel: Equatable {
    enum Phase: Equatable {
        /// Not joined; the channel's `deadline` is when to join.
        case idle
        /// A join with this ref was sent.
        case joining(UInt64)
        /// Joined with this ref, but no changes come in yet.
        case joined(UInt64)
        /// Joined with this ref, and changes come in.
        case subscribed(UInt64)
    }

    var phase = Phase.idle
    /// When the current step has taken too long, or when to join again.
    var deadline: Duration?
    /// The failed joins since the last subscription or connection; chooses the pause before the next.
    var failures = 0
    /// When the table's rows are pulled.
    var pulls = SnapshotSchedule()

    /// The `join_ref` of the channel's frames.
    var joinRef: UInt64? {
        switch phase {
        case .idle: nil
        case .joining(let ref), .joined(let ref), .subscribed(let ref): ref
        }
    }

    /// True while every change of the table comes in.
    var isSubscribed: Bool {
        if case .subscribed = phase { true } else { false }
    }
}

/// The instants at which a realtime machine with a connection must be called, apart from its channels'; `nil` for never.
struct RealtimeTimers: Equatable {
    /// When the next heartbeat goes out, and the answer to the last one is overdue.
    var beat: Duration?
    /// When to look for a newer token.
    var token: Duration?
    /// When the connection counts as one that works.
    var settled: Duration?
}

/// The durations of the protocol and of this recorder.
enum RealtimeTiming {
    /// The interval of heartbeats. The answer to one is due before the next.
    static let beat = Duration.seconds(25)
    /// The longest wait for the answer to a join.
    static let join = Duration.seconds(10)
    /// The longest wait for the subscription after a join; the server tries every 5 to 10 s.
    static let subscribe = Duration.seconds(60)
    /// The pauses after failed joins, the same as those of the clients.
    static let rejoin: [Duration] = [.seconds(1), .seconds(2), .seconds(5), .seconds(10)]
    /// The longest wait between two attempts, but for the random part and what the server demands.
    static let backoffMax = Duration.seconds(60)
    /// The longest wait for the socket to close.
    static let closing = Duration.seconds(5)
    /// A connection that lasts this long was no failed attempt.
    static let settled = Duration.seconds(10)
    /// The interval at which the token is read again.
    static let token = Duration.seconds(30)
    /// The pause between two pulls of one table that interruptions cause, and after a pull that failed.
    static let pullPause = Duration.seconds(30)
    /// The code with which this recorder closes.
    static let closeCode: UInt16 = 1_000
}
#endif
