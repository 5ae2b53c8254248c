#if Recorders
/// What a recorder does on a gateway.
///
/// The numbers are those of Discord's gateway v10, which Retrocast follows with fewer operations; where the two differ,
/// what works with both.
struct GatewayMachine: SocketMachine {
    enum Work: Hashable, Sendable {
        /// Reading the whole state by REST.
        case snapshot
    }

    enum Phase: Equatable {
        /// No connection; the deadline says when to try again.
        case waiting
        case connecting
        /// Connected; HELLO has not come.
        case greeting(token: String)
        case identifying
        case resuming
        case live
        /// Closing; nothing counts until the socket is gone.
        case closing
        case stopped
    }

    let options: GatewayOptions
    let random: UnitRandom
    var phase = Phase.waiting
    var session: GatewaySession?
    var timers = GatewayTimers()
    var heartbeatInterval = Duration.milliseconds(41_250)
    var isAcknowledged = true
    var watch = SequenceWatch(after: 0)
    /// Begins again once a connection has lived for a while.
    var backoff: Backoff
    var handshakeFailures = 0
    var rejections = 0
    /// What is still missing, in order.
    var gaps: [Gap] = []
    /// Those of `gaps` in which nothing more is missed.
    var endedGaps: Set<Gap> = []
    var gapCount = 0
    /// The gaps that a running snapshot will close; `nil` while none runs.
    var coveredBySnapshot: Set<Gap>?
    var needsSnapshot = false
    var snapshotBegan: Duration?

    /// - Parameters:
    ///   - session: what an earlier run kept, to resume it.
    ///   - gaps: what is missing already, numbered from 1; `endedGaps` are those of them in which nothing more is.
    init(
        options: GatewayOptions,
        session: GatewaySession? = nil,
        gaps: [SocketGap] = [],
        endedGaps: Set<SocketGap> = [],
        random: UnitRandom
    ) {
        self.options = options
        self.session = session
        self.random = random
        backoff = Backoff(max: GatewayTiming.backoffMax, random: random.next)
        timers.reconnect = .zero
        self.gaps = gaps
        self.endedGaps = endedGaps
        gapCount = gaps.count
    }

    var deadline: Duration? {
        let own = phase == .live ? watch.deadline : phase == .waiting ? timers.reconnect : nil
        return timers.earliest(or: own)
    }

    var sessionBytes: [UInt8]? { session?.bytes }

    func closer(of reason: GapReason) -> GapCloser {
        let isOutage = reason == .disconnected || reason == .stopped
        if isOutage, session?.isContinuous == true { return .replay }
        return options.takesSnapshots ? .snapshot : .nothing
    }

    mutating func receive(_ input: Input, at now: Duration) -> [Action] {
        switch input {
        case .opened(let token): return opened(token: token, at: now)
        case .refused(let wait): return refused(retryAfter: wait, at: now)
        case .message(let bytes): return message(bytes, at: now)
        case .oversize: return oversize(at: now)
        case .closed(let code): return closed(code: code, at: now)
        case .workDone(.snapshot, let isComplete): return snapshotDone(isComplete: isComplete, at: now)
        case .token: return []
        case .tick: return tick(at: now)
        }
    }
}
#endif
