import JSON

#if Recorders
/// Connecting, heartbeats and the token.
extension RealtimeMachine {
    /// Joins every table's channel. A socket that nobody waits for any more is closed.
    mutating func opened(token: String, at now: Duration) -> [Action] {
        guard phase == .connecting else { return [.close(RealtimeTiming.closeCode)] }
        phase = .open
        self.token = token
        // Refs count within one connection.
        refCount = 0
        pendingBeat = nil
        timers.beat = now + RealtimeTiming.beat
        timers.token = now + RealtimeTiming.token
        timers.settled = now + RealtimeTiming.settled
        for index in channels.indices { channels[index].failures = 0 }
        return channels.indices.map { join($0, at: now) }
    }

    /// Waits before the next attempt: by the backoff, or longer if the server demands it. Where rows are pulled, the
    /// gaps of the last run already cover the wait.
    mutating func refused(retryAfter: Duration?, at now: Duration) -> [Action] {
        guard phase == .connecting else { return [] }
        phase = .waiting(reconnect: now + max(backoff.next(), retryAfter ?? .zero))
        return pullsRows ? [] : channels.indices.flatMap { missedBeforeConnecting($0) }
    }

    /// Handles the end of the socket. A `drop` before it has already set the next attempt.
    mutating func closed(at now: Duration) -> [Action] {
        switch phase {
        case .waiting, .connecting: return []
        case .open: phase = .waiting(reconnect: now + backoff.next())
        case .closing(_, let reconnect): phase = .waiting(reconnect: reconnect)
        }
        return endConnection()
    }

    /// Closes a dead connection, and connects again by the backoff. The gaps open at once, because messages that still
    /// come do not count.
    private mutating func drop(at now: Duration) -> [Action] {
        phase = .closing(until: now + RealtimeTiming.closing, reconnect: now + backoff.next())
        return [.close(RealtimeTiming.closeCode)] + endConnection()
    }

    /// Forgets the connection. Each table that was subscribed gets a gap; one that was not still has one, or gets it
    /// where no pull can cover the loss.
    private mutating func endConnection() -> [Action] {
        timers = RealtimeTimers()
        return channels.indices.flatMap { index -> [Action] in
            let wasSubscribed = channels[index].isSubscribed
            channels[index].phase = .idle
            channels[index].deadline = nil
            if wasSubscribed { return [openGap(index, .disconnected)] }
            return pullsRows ? [] : missedBeforeConnecting(index)
        }
    }

    /// Does everything that is due.
    mutating func tick(at now: Duration) -> [Action] {
        var actions: [Action] = []
        // The socket's close never came; the next attempt abandons it.
        if case .closing(let until, let reconnect) = phase, until <= now { phase = .waiting(reconnect: reconnect) }
        if timers.settled.isDue(now) {
            timers.settled = nil
            backoff.reset()
        }
        if timers.beat.isDue(now) { actions += beat(at: now) }
        if timers.token.isDue(now) {
            timers.token = now + RealtimeTiming.token
            actions.append(.freshToken)
        }
        // After the heartbeat: it may have dropped the connection.
        if phase == .open { actions += channels.indices.flatMap { tick($0, at: now) } }
        if case .waiting(let reconnect) = phase, reconnect <= now {
            phase = .connecting
            actions.append(.connect(url: nil))
        }
        return actions
    }

    /// Sends a heartbeat. Without an answer to the last one the connection is dead, even if its socket is open.
    private mutating func beat(at now: Duration) -> [Action] {
        guard pendingBeat == nil else { return drop(at: now) }
        timers.beat = now + RealtimeTiming.beat
        let ref = nextRef()
        pendingBeat = ref
        return [.send(writer.frame(topic: "phoenix", event: "heartbeat", ref: ref, joinRef: nil, payload: Self.empty))]
    }

    /// Sends a newer token to every channel that has joined or is joining. The server ends a subscription whose token
    /// expires.
    mutating func renewed(_ token: String, at now: Duration) -> [Action] {
        guard token != self.token else { return [] }
        self.token = token
        guard phase == .open, !token.isEmpty else { return [] }
        return channels.indices.compactMap { index in
            guard let joinRef = channels[index].joinRef else { return nil }
            let frame = writer.frame(
                topic: tables[index].topic,
                event: "access_token",
                ref: nextRef(),
                joinRef: joinRef
            ) { writer in
                writer.begin("{")
                writer.name("access_token")
                writer.string(token)
                writer.end("}")
            }
            return .send(frame)
        }
    }

    /// The next ref of this connection, from 1.
    mutating func nextRef() -> UInt64 {
        refCount += 1
        return refCount
    }

    /// Writes the payload of a frame that has none: `{}`.
    static func empty(_ writer: inout JSONWriter) {
        writer.begin("{")
        writer.end("}")
    }
}
#endif
