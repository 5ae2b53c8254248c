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
        if timers.patience.isDue(now) { actions += outOfPatience(at: now) }
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
        if timers.snapshot.isDue(now) { actions += snapshotDue(at: now) }
        if phase == .waiting, timers.reconnect.isDue(now) { actions += connect(at: now) }
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

    private mutating func outOfPatience(at now: Duration) -> [Action] {
        guard phase == .closing else { return drop(at: now) }
        // The socket's close never came; frames that still come from it do not count.
        phase = .waiting
        timers.patience = nil
        return []
    }

    /// Opens a gap for a frame that is not in the log. The gap ends at once, unless the handshake still goes on.
    private mutating func lostFrame(_ reason: GapReason, at now: Duration) -> [Action] {
        let gap = makeGap(reason)
        guard phase == .live else { return [.openGap(gap)] }
        endedGaps.insert(gap)
        guard options.takesSnapshots else {
            return [.openGap(gap), .endGap(gap)] + closeGaps(by: .nothing) { $0 == gap }
        }
        return [.openGap(gap), .endGap(gap)] + startSnapshot(at: now, after: GatewayTiming.snapshotPause)
    }
}

// MARK: - Gaps and snapshots

extension GatewayMachine {
    /// Adds a gap that goes on; the caller must return the action that opens it.
    mutating func makeGap(_ reason: GapReason) -> Gap {
        gapCount += 1
        assert((gaps.last?.number ?? 0) < gapCount, "gaps are numbered in the order in which they open")
        let gap = Gap(number: gapCount, reason: reason)
        gaps.append(gap)
        return gap
    }

    mutating func openGap(_ reason: GapReason) -> [Action] {
        [.openGap(makeGap(reason))]
    }

    /// Forgets the gaps that `isClosed` accepts, and returns the actions that close them.
    mutating func closeGaps(by closer: GapCloser, where isClosed: (Gap) -> Bool) -> [Action] {
        let closed = gaps.filter(isClosed)
        gaps.removeAll(where: isClosed)
        endedGaps.subtract(closed)
        return closed.map { .closeGap($0, by: closer) }
    }

    /// Begins a snapshot, or notes that one is due. It then begins when the running one has ended, the connection is
    /// live, and `pause` has passed since the last one began.
    mutating func startSnapshot(at now: Duration, after pause: Duration = .zero) -> [Action] {
        guard options.takesSnapshots else { return [] }
        needsSnapshot = true
        guard coveredBySnapshot == nil, phase == .live else { return [] }
        if let began = snapshotBegan, began + pause > now {
            timers.snapshot = began + pause
            return []
        }
        needsSnapshot = false
        timers.snapshot = nil
        snapshotBegan = now
        // Gaps that open while the snapshot runs are not covered: it may have read their part of the state before.
        coveredBySnapshot = Set(gaps)
        return [.work(.snapshot)]
    }

    /// Closes the gaps that the snapshot covers. One that failed is taken again after a pause; its gaps stay open.
    mutating func snapshotDone(isComplete: Bool, at now: Duration) -> [Action] {
        guard let covered = coveredBySnapshot else { return [] }
        coveredBySnapshot = nil
        guard isComplete else {
            needsSnapshot = true
            timers.snapshot = now + GatewayTiming.snapshotPause
            return []
        }
        return closeGaps(by: .snapshot) { covered.contains($0) } + snapshotDue(at: now)
    }

    /// Begins the snapshot that is due, if there is one and the connection is live; otherwise the end of the next
    /// handshake begins it. A second must have passed since the last one began, so that a burst of causes gives few
    /// snapshots.
    private mutating func snapshotDue(at now: Duration) -> [Action] {
        timers.snapshot = nil
        return needsSnapshot ? startSnapshot(at: now, after: .seconds(1)) : []
    }
}
#endif
