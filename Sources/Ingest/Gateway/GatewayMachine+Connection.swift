#if Recorders
import EventLog
import JSON

/// Connecting, the handshake, and the end of a connection.
extension GatewayMachine {
    /// Waits for HELLO. A socket that nobody waits for any more is closed.
    mutating func opened(token: String, at now: Duration) -> [Action] {
        guard phase == .connecting else { return [.close(GatewayCloseCode.ours)] }
        phase = .greeting(token: token)
        timers.patience = now + GatewayTiming.patience
        timers.pong = now + random.duration(milliseconds: GatewayTiming.pongMilliseconds)
        return []
    }

    /// Waits before the next attempt: by the backoff, or longer if the server demands it.
    mutating func refused(retryAfter: Duration?, at now: Duration) -> [Action] {
        guard phase == .connecting else { return [] }
        phase = .waiting(reconnect: now + max(backoff.next(), retryAfter ?? .zero))
        attemptFailed(wasReached: false)
        return missedBeforeConnecting()
    }

    /// Handles the end of the socket, whoever closed it. A `drop` before it has already set the next attempt.
    mutating func closed(code: UInt16, at now: Duration) -> [Action] {
        let reconnect: Duration?
        switch phase {
        case .waiting, .stopped, .connecting: return []
        case .closing(_, let planned): reconnect = planned
        case .greeting, .identifying, .resuming, .live: reconnect = nil
        }
        let lost = endConnection()
        if let reason = fatalReason(code) {
            phase = .stopped
            return lost + [.stop(reason: reason)]
        }
        if GatewayCloseCode.endsSession(code) { session = nil }
        phase = .waiting(reconnect: reconnect ?? now + backoff.next())
        return lost
    }

    /// Closes the connection with a code that keeps the session, and connects again after a pause: `pause`, or by the
    /// backoff if that is `nil`.
    ///
    /// The gap opens at once, because frames that still come from the socket do not count.
    mutating func drop(at now: Duration, pause: Duration? = nil) -> [Action] {
        let lost = endConnection()
        phase = .closing(until: now + GatewayTiming.closing, reconnect: now + (pause ?? backoff.next()))
        return [.close(GatewayCloseCode.ours)] + lost
    }

    /// Connects to the session's server if it named one, so that RESUME reaches the server that keeps the session.
    mutating func connect() -> [Action] {
        phase = .connecting
        return [.connect(url: session?.resumeURL.flatMap { $0.isEmpty ? nil : $0 })]
    }

    /// Counts an attempt that came to no handshake. After a few, the session's own address is given up for the
    /// configured one; after a few that reached that one (`wasReached`), the session is.
    ///
    /// A network that is down costs no session: nothing is known of a server that was not reached.
    private mutating func attemptFailed(wasReached: Bool) {
        guard let current = session else { return }
        let hasOwnURL = current.resumeURL.map { !$0.isEmpty } ?? false
        guard hasOwnURL || wasReached else { return }
        failedAttempts += 1
        guard failedAttempts >= GatewayTiming.attemptsMax else { return }
        failedAttempts = 0
        if hasOwnURL { session?.resumeURL = "" } else { session = nil }
    }

    /// Forgets the connection. A gap opens if it was live, or if its handshake failed and no snapshot can cover the
    /// loss.
    private mutating func endConnection() -> [Action] {
        timers = GatewayTimers()
        switch phase {
        // A connection whose handshake failed was never heard, so the gap before it still goes on.
        case .live: return [.openGap(book.open(.disconnected))]
        case .resuming, .identifying:
            handshakeFailures += 1
            // A server that forgot the session may just close, so a second failed RESUME discards the session.
            if phase == .resuming, handshakeFailures >= 2 { session = nil }
            return missedBeforeConnecting()
        case .greeting:
            attemptFailed(wasReached: true)
            return missedBeforeConnecting()
        default: return []
        }
    }

    /// Opens a gap at the first failed attempt if none goes on: a recorder that takes no snapshots begins without a
    /// gap.
    private mutating func missedBeforeConnecting() -> [Action] {
        guard !options.takesSnapshots, book.hasNone(goingOn: nil) else { return [] }
        return [.openGap(book.open(.unreachable))]
    }

    /// Why no further attempt helps after a close code; `nil` if one may. Counts refused tokens.
    private mutating func fatalReason(_ code: UInt16) -> String? {
        rejections = code == GatewayCloseCode.notAuthenticated ? rejections + 1 : 0
        // A token may expire between its creation and its use, so one more token is tried.
        if rejections >= 2 { return "the token was not accepted" }
        return GatewayCloseCode.fatalReason(code)
    }
}

// MARK: - Handshake

extension GatewayMachine {
    /// Answers HELLO: with RESUME if there is a session, else with IDENTIFY. The first heartbeat comes after a random
    /// part of the interval, as Discord's documentation demands, so that clients that reconnect together do not beat
    /// together.
    mutating func hello(_ data: JSONValue?, token: String, at now: Duration) -> [Action] {
        // Discord's own interval, in milliseconds, for a HELLO that names none.
        let interval = data?["heartbeat_interval"]?.number?.int64 ?? 41_250
        let range = GatewayTiming.heartbeatMilliseconds
        heartbeatInterval = .milliseconds(min(max(interval, range.lowerBound), range.upperBound))
        timers.patience = now + GatewayTiming.patience
        timers.heartbeat = now + random.duration(milliseconds: 0...heartbeatInterval.wholeMilliseconds)
        isAcknowledged = true
        guard let session else {
            phase = .identifying
            watch = SequenceWatch(after: 0)
            return [.send(GatewayMessages.identify(token: token, options: options))]
        }
        phase = .resuming
        // The first number that is expected: the one after the last without a hole, or 1.
        watch = SequenceWatch(after: session.isContinuous ? session.number : 0)
        let resume = Action.send(GatewayMessages.resume(token: token, session: session))
        // A server that does not answer RESUME itself answers the heartbeat after it once everything is replayed.
        return session.isContinuous ? [resume] : [resume] + heartbeat(at: now)
    }

    /// Takes the new session, and reads the state. READY may also answer a RESUME, from a server that forgot the
    /// session.
    mutating func ready(_ data: JSONValue?, at now: Duration) -> [Action] {
        guard phase == .identifying || phase == .resuming else { return [] }
        session = GatewaySession(ready: data)
        // READY has a number itself, which `dispatch` took before.
        session?.number = watch.contiguous
        return becomeLive(at: now) + readState(at: now)
    }

    /// Reconnects for a new guild, because a server that numbers each connection anew subscribes only in the handshake.
    mutating func guildCreated(at now: Duration) -> [Action] {
        guard phase == .live, session?.isContinuous == false else { return [] }
        // RESUME is a handshake, too.
        return drop(at: now)
    }

    /// Handles RESUMED, or the answer to the heartbeat after RESUME.
    mutating func resumed(at now: Duration) -> [Action] {
        guard phase == .resuming else { return [] }
        // Only numbers that go on from the last connection prove anything, and only of gaps that end now: others were
        // before this session, or in a replay with a hole (I29).
        let isProven = session?.isContinuous == true && watch.isComplete
        let proven = isProven ? gaps.filter { !book.ended.contains($0) && $0.reason.isOutage } : []
        var actions = becomeLive(at: now)
        actions += closeGaps(by: .replay) { proven.contains($0) }
        return actions + readState(at: now)
    }

    /// Begins a snapshot, which will close the gaps. If none can be taken, closes them by nothing.
    private mutating func readState(at now: Duration) -> [Action] {
        guard !options.takesSnapshots else { return startSnapshot(at: now, after: .zero) }
        return closeGaps(by: .nothing) { _ in true }
    }

    /// Ends the gaps that go on, because from now on nothing is missed. They stay open until a snapshot or replay
    /// closes them.
    private mutating func becomeLive(at now: Duration) -> [Action] {
        assert(phase == .identifying || phase == .resuming, "only a handshake makes a connection live")
        phase = .live
        handshakeFailures = 0
        failedAttempts = 0
        rejections = 0
        timers.patience = nil
        // The backoff starts over only when the connection has lasted: a server may accept and close at once.
        timers.settled = now + GatewayTiming.settled
        return book.end(topic: nil).map { .endGap($0) }
    }

    /// Handles INVALID_SESSION; `d` is `true` if the session may still be resumed.
    mutating func invalidSession(_ data: JSONValue?, at now: Duration) -> [Action] {
        if data != .bool(true) { session = nil }
        return drop(at: now, pause: random.duration(milliseconds: GatewayTiming.invalidSessionMilliseconds))
    }

    /// Handles RECONNECT: connects at once, unless this connection is itself a retry that has not settled yet.
    mutating func reconnectAsked(at now: Duration) -> [Action] {
        drop(at: now, pause: backoff.count == 0 ? .zero : nil)
    }
}
#endif
