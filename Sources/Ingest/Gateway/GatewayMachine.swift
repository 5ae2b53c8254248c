#if Recorders
/// The protocol logic of a recorder on a gateway.
///
/// The operations are those of Discord's gateway v10; Retrocast has fewer of them. Where the two differ, the machine
/// does what works with both.
struct GatewayMachine: SocketMachine {
    enum Work: Hashable, Sendable {
        /// Read the whole state by REST.
        case snapshot
    }

    enum Phase: Equatable {
        /// No connection; `timers.reconnect` is when to try again.
        case waiting
        case connecting
        /// Connected; HELLO has not come.
        case greeting(token: String)
        case identifying
        case resuming
        case live
        /// Closing; frames do not count until the socket is gone.
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
    /// Reset once a connection has lasted `GatewayTiming.settled`.
    var backoff: Backoff
    var handshakeFailures = 0
    var rejections = 0
    /// The gaps that are not closed, in the order in which they were opened.
    var gaps: [Gap] = []
    /// The gaps in `gaps` that have an end: nothing more is missed in them.
    var endedGaps: Set<Gap> = []
    var gapCount = 0
    /// The gaps that the running snapshot will close; `nil` while none runs.
    var coveredBySnapshot: Set<Gap>?
    var needsSnapshot = false
    var snapshotBegan: Duration?

    /// - Parameters:
    ///   - session: the session of an earlier run, to resume it.
    ///   - gaps: the open gaps of earlier runs, numbered from 1.
    ///   - endedGaps: those of `gaps` that have an end.
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
