#if Recorders
/// The protocol logic of a recorder on a gateway.
///
/// The operations are those of Discord's gateway v10; Retrocast has fewer of them. Where the two differ, the machine
/// does what works with both. Every open gap that has no end goes on, and the log has an event for each.
struct GatewayMachine: SocketMachine {
    enum Work: Hashable, Sendable {
        /// Read the whole state by REST.
        case snapshot
    }

    enum Phase: Equatable {
        /// No connection; `reconnect` is when to try again.
        case waiting(reconnect: Duration)
        /// An attempt is on its way; the driver answers with `opened` or `refused`.
        case connecting
        /// Connected; HELLO has not come.
        case greeting(token: String)
        /// IDENTIFY was sent; READY has not come.
        case identifying
        /// RESUME was sent; neither RESUMED nor the heartbeat's answer has come.
        case resuming
        /// Every change comes in.
        case live
        /// Closing; frames do not count until the socket is gone. `until` is when that has taken too long.
        case closing(until: Duration, reconnect: Duration)
        /// Going on would not help; nothing leaves this phase.
        case stopped
    }

    let options: GatewayOptions
    let random: UnitRandom
    var phase = Phase.waiting(reconnect: .zero)
    /// The session to resume; `nil` if the next handshake must identify.
    var session: GatewaySession?
    var timers = GatewayTimers()
    /// The interval that HELLO named; until then Discord's own.
    var heartbeatInterval = Duration.milliseconds(41_250)
    /// True if the last heartbeat was answered, or none was sent on this connection.
    var isAcknowledged = true
    /// The numbers of the current connection.
    var watch = SequenceWatch(after: 0)
    /// Reset once a connection has lasted `GatewayTiming.settled`.
    var backoff: Backoff
    /// The connections since the last live one that ended during IDENTIFY or RESUME.
    var handshakeFailures = 0
    /// The attempts since the last live connection that never came to a handshake, by the address that was tried: first
    /// the session's own, then the configured one.
    var failedAttempts = 0
    /// The closes in a row by which the server refused the token.
    var rejections = 0
    var book: GapBook
    var snapshots = SnapshotSchedule()

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
        book = GapBook(gaps, ended: endedGaps)
    }

    var deadline: Duration? {
        let own: Duration? =
            switch phase {
            case .waiting(let reconnect): reconnect
            case .closing(let until, _): until
            case .live: watch.deadline
            case .connecting, .greeting, .identifying, .resuming, .stopped: nil
            }
        return [timers.earliest, phase == .stopped ? nil : snapshots.next, own].compactMap { $0 }.min()
    }

    var gaps: [Gap] { book.open }

    var sessionBytes: [UInt8]? { session?.bytes }

    func closer(of reason: GapReason) -> GapCloser {
        if reason.isOutage, session?.isContinuous == true { return .replay }
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
