import JSON

#if Recorders
/// Frames, heartbeats and time.
extension GatewayMachine {
    /// Takes one frame by its operation (Discord: 0 dispatch, 1 heartbeat, 7 reconnect, 9 invalid session, 10 hello, 11
    /// heartbeat ACK). Passes over what it does not know, and everything before HELLO; the log has it all the same.
    mutating func message(_ bytes: ArraySlice<UInt8>, at now: Duration) -> [Action] {
        guard isConnected, let frame = GatewayFrame(bytes) else { return unreadable(bytes) }
        switch (frame.operation, phase) {
        case (10, .greeting(let token)): return hello(frame.dataValue, token: token, at: now)
        case (_, .greeting): return []
        case (0, _): return dispatch(frame, at: now)
        // The server may ask for a heartbeat; it is sent at once, whatever the timer shows.
        case (1, _): return heartbeat(at: now)
        case (7, _): return reconnectAsked(at: now)
        case (9, _): return invalidSession(frame.dataValue, at: now)
        case (11, _): return acknowledged(at: now)
        default: return []
        }
    }

    /// Stops if the connection begins with a frame that no later one makes readable: the server compresses, or sends
    /// another encoding than JSON.
    private mutating func unreadable(_ bytes: ArraySlice<UInt8>) -> [Action] {
        guard case .greeting = phase, let coding = GatewayFrame.coding(of: bytes) else { return [] }
        phase = .stopped
        timers = GatewayTimers()
        return [.stop(reason: "the server sends frames in \(coding), which cannot be read; plain JSON can")]
    }

    /// A frame too large to keep: the log has its hash but not its changes, so only a snapshot shows them.
    mutating func oversize(at now: Duration) -> [Action] {
        isConnected ? lostFrame(.oversize, at: now) : []
    }

    /// Does everything that is due, in this order: a connection that is dropped makes the later steps find nothing to
    /// do.
    mutating func tick(at now: Duration) -> [Action] {
        var actions: [Action] = []
        // The socket's close never came; frames that still come from it do not count.
        if case .closing(let until, let reconnect) = phase, until <= now { phase = .waiting(reconnect: reconnect) }
        if timers.patience.isDue(now) { actions += drop(at: now) }
        if timers.heartbeat.isDue(now) { actions += heartbeatDue(at: now) }
        if timers.pong.isDue(now) {
            timers.pong = now + random.duration(milliseconds: GatewayTiming.pongMilliseconds)
            actions.append(.sendPong)
        }
        if timers.settled.isDue(now) {
            timers.settled = nil
            backoff.reset()
        }
        if phase == .live, watch.takeOverdue(at: now) { actions += lostFrame(.hole, at: now) }
        if snapshots.next.isDue(now) { actions += snapshotDue(at: now) }
        if case .waiting(let reconnect) = phase, reconnect <= now { actions += connect() }
        return actions
    }

    /// True while frames from the socket count.
    private var isConnected: Bool {
        switch phase {
        case .greeting, .identifying, .resuming, .live: true
        case .waiting, .connecting, .closing, .stopped: false
        }
    }

    /// Takes the number of a dispatch, and handles the three dispatches that the protocol itself depends on.
    private mutating func dispatch(_ frame: GatewayFrame, at now: Duration) -> [Action] {
        if let number = frame.number {
            watch.take(number, at: now)
            session?.number = watch.contiguous
        }
        if frame.isNamed("READY") { return ready(frame.dataValue, at: now) }
        if frame.isNamed("RESUMED") { return resumed(at: now) }
        if frame.isNamed("GUILD_CREATE") { return guildCreated(at: now) }
        return []
    }

    /// Sends a heartbeat now; the answer is due before the next one.
    mutating func heartbeat(at now: Duration) -> [Action] {
        isAcknowledged = false
        timers.heartbeat = now + heartbeatInterval
        // Greatest, not contiguous: Discord demands the last number received. 0 means that none came, which is sent as
        // `null`.
        return [.send(GatewayMessages.heartbeat(number: watch.greatest == 0 ? nil : watch.greatest))]
    }

    private mutating func heartbeatDue(at now: Duration) -> [Action] {
        // Without an answer to the last heartbeat the connection is dead, even if its socket is open.
        isAcknowledged ? heartbeat(at: now) : drop(at: now)
    }

    /// The answer to a heartbeat. On a server that numbers each connection anew it also ends the replay, because the
    /// heartbeat went out right behind RESUME.
    private mutating func acknowledged(at now: Duration) -> [Action] {
        isAcknowledged = true
        return session?.isContinuous == false ? resumed(at: now) : []
    }

    /// Opens a gap for a frame that is not in the log. The gap ends at once, unless the handshake still goes on.
    private mutating func lostFrame(_ reason: GapReason, at now: Duration) -> [Action] {
        let gap = book.open(reason)
        guard phase == .live else { return [.openGap(gap)] }
        book.end(gap)
        let actions: [Action] = [.openGap(gap), .endGap(gap)]
        guard options.takesSnapshots else { return actions + closeGaps(by: .nothing) { $0 == gap } }
        return actions + startSnapshot(at: now, after: GatewayTiming.snapshotPause)
    }
}

// MARK: - Gaps and snapshots

extension GatewayMachine {
    /// Closes the gaps that `isClosed` accepts.
    mutating func closeGaps(by closer: GapCloser, where isClosed: (Gap) -> Bool) -> [Action] {
        book.close(where: isClosed).map { .closeGap($0, by: closer) }
    }

    /// Begins a snapshot, or notes that one is due.
    mutating func startSnapshot(at now: Duration, after pause: Duration) -> [Action] {
        snapshots.start(covering: gaps, canBegin: phase == .live, at: now, after: pause) ? [.work(.snapshot)] : []
    }

    /// Closes the gaps that the snapshot covers. One that failed is taken again after a pause; its gaps stay open.
    mutating func snapshotDone(isComplete: Bool, at now: Duration) -> [Action] {
        let pause = GatewayTiming.snapshotPause
        guard let covered = snapshots.finish(isComplete: isComplete, at: now, retryAfter: pause) else { return [] }
        return closeGaps(by: .snapshot) { covered.contains($0) } + snapshotDue(at: now)
    }

    /// Begins the snapshot that is due, if there is one and the connection is live; otherwise the end of the next
    /// handshake begins it.
    private mutating func snapshotDue(at now: Duration) -> [Action] {
        snapshots.startDue(covering: gaps, canBegin: phase == .live, at: now) ? [.work(.snapshot)] : []
    }
}
#endif
