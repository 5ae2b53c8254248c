#if Recorders
import EventLog
import Logging
import NIOCore

/// Carries out a machine's actions: opens sockets, waits, records every frame, and runs the work beside the connection.
///
/// One task runs it. Everything that happens comes through one inbox, in order. The events that result are appended in
/// one batch, and the inbox is not read again until the log has room for them. Then the inbox fills, and the socket is
/// no longer read. A frame is journaled before the machine sees it, so the log has every frame that moved the machine.
final class SocketDriver<Machine: SocketMachine> {
    /// Something that happened.
    private enum Happening: Sendable {
        /// Events of the socket that attempt number `attempt` opened, in order.
        case socket(attempt: Int, [WebSocketEvent])
        case workDone(Machine.Work, isComplete: Bool)
        case token(String)
        /// The machine's deadline came, earlier than the clock shows by `early`.
        case deadline(early: Duration)
    }

    private let configuration: SocketConfiguration<Machine.Work>
    private let recording: Recording
    private let inbox = Inbox<Happening>(weightMax: WebSocketConnection.waitingBytesMax)
    private var machine: Machine
    private var journal: ConnectionJournal
    /// The log's keys of the machine's open gaps.
    private var gapKeys: [SocketGap: String] = [:]
    /// The open socket, or one that is closing; `nil` once its `closed` event was handled.
    private var socket: WebSocketConnection?
    /// The number of attempts to connect; events of an older attempt's socket are ignored.
    private var attempt = 0
    // Actions that take time are noted while events are handled, and done by `carryOut`.
    private var pendingConnect: PendingConnect?
    private var pendingWork: [Machine.Work] = []
    private var wantsToken = false
    /// The wait for `machine.deadline`; `nil` if the deadline came or there is none.
    private var timer: (deadline: Duration, task: Task<Void, Never>)?
    /// The reason for which going on would not help; ends the loop.
    private var fatal: IngestError?
    /// The status of the last refused upgrade; the same status again is not recorded again.
    private var lastRefusal: Int?
    private var complaints: Complaints
    /// Leaves marks of life while a socket is open (I29).
    private var lifeMarks: Task<Void, Never>?
    /// When the previous frame came, while a frame is handled. A gap that this frame reveals begins there.
    private var inboundBefore: Timestamp?
    /// True once a run that does not follow is complete.
    private var isDone = false
    /// The machine's time, fixed while the events of one read are handled; `nil` otherwise. Messages that came together
    /// then count as simultaneous, however long their handling takes.
    private var elapsed: Duration?
    /// How far the machine's time is ahead of the clock: the sum of the time by which pauses were shortened.
    private var ahead = Duration.zero

    /// The longest name of a host in the DNS, and a port.
    private static var hostCharactersMax: Int { 260 }

    /// A wish to connect; `nil` for the configured URL.
    private struct PendingConnect {
        let url: String?
    }

    /// - Parameters:
    ///   - journal: the source's past in the log.
    ///   - makeMachine: makes the machine from the open gaps and those of them that have an end.
    init(
        configuration: SocketConfiguration<Machine.Work>,
        recording: Recording,
        journal: ConnectionJournal,
        makeMachine: ([SocketGap], Set<SocketGap>) -> Machine
    ) throws {
        self.configuration = configuration
        self.recording = recording
        self.journal = journal
        complaints = Complaints(recording)
        var gaps: [SocketGap] = []
        var ended: Set<SocketGap> = []
        for recorded in journal.openGaps {
            // A reason that this version does not know counts as a hole, which no replay closes.
            let reason = GapReason(rawValue: recorded.reason) ?? .hole
            let gap = SocketGap(number: gaps.count + 1, reason: reason, topic: recorded.topic)
            gaps.append(gap)
            if recorded.to != nil { ended.insert(gap) }
            gapKeys[gap] = recorded.key
        }
        machine = makeMachine(gaps, ended)
    }

    /// Records until it is cancelled.
    ///
    /// - Throws: `CancellationError`; `IngestError` if the server shows that going on would not help; the errors of the
    ///   recording.
    func run() async throws {
        defer {
            timer?.task.cancel()
            lifeMarks?.cancel()
        }
        do {
            try await withThrowingDiscardingTaskGroup { group in
                try await loop(&group)
                group.cancelAll()
            }
        } catch let error as CancellationError {
            await stop()
            throw error
        } catch {
            await socket?.abort()
            throw error
        }
        await stop()
        if let fatal { throw fatal }
        // The inbox also ends the loop without an error when the task is cancelled.
        if !isDone { try Task.checkCancellation() }
    }
}

// MARK: - The loop

extension SocketDriver {
    /// Handles what happens until the machine stops, a run that does not follow is complete, or the task is cancelled.
    private func loop(_ group: inout ThrowingDiscardingTaskGroup<any Error>) async throws {
        // The first tick makes the machine connect.
        try receive(.tick, at: recording.clock.now())
        while fatal == nil, !isDone {
            try await carryOut(&group)
            // A refused connection may have been the end.
            guard fatal == nil, !isDone else { return }
            guard let happenings = await inbox.take() else { return }
            for happening in happenings where fatal == nil && !isDone { try handle(happening) }
        }
    }

    /// Does what may take time: appends, connects, starts work and sets the timer.
    private func carryOut(_ group: inout ThrowingDiscardingTaskGroup<any Error>) async throws {
        try await append()
        while let pending = pendingConnect {
            pendingConnect = nil
            try await connect(url: pending.url)
            try await append()
        }
        for work in pendingWork { add(work, to: &group) }
        pendingWork = []
        if wantsToken {
            wantsToken = false
            addTokenReader(to: &group)
        }
        arm()
    }

    /// Appends everything that the journal made, with the machine's state as of now; returns once the queue has room.
    private func append() async throws {
        journal.session = machine.sessionBytes
        try await recording.append(journal.take())
    }

    private func handle(_ happening: Happening) throws {
        switch happening {
        case .deadline(let early):
            timer = nil
            ahead += early
            try receive(.tick, at: recording.clock.now())
        case .workDone(let work, let isComplete):
            try receive(.workDone(work, isComplete: isComplete), at: recording.clock.now())
            if !isComplete { complaints.failed("the state cannot be read", "no answer over REST that can be used") }
            if isComplete, !configuration.follows, machine.gaps.isEmpty { isDone = true }
        case .token(let token): try receive(.token(token), at: recording.clock.now())
        case .socket(let attempt, let events):
            // The rest of a socket that was given up; its end is recorded already.
            guard attempt == self.attempt else { return }
            assert(elapsed == nil, "the machine's time is fixed for one read at a time")
            elapsed = now
            for event in events where fatal == nil && !isDone { try handle(event) }
            elapsed = nil
        }
    }

    /// Journals one event and gives it to the machine.
    private func handle(_ event: WebSocketEvent) throws {
        assert(inboundBefore == nil, "events are handled one after another")
        inboundBefore = journal.lastInbound
        defer { inboundBefore = nil }
        switch event {
        case .messages(let messages, let time):
            try messages.forEach { message in
                try journal.frame(.in, message, at: time)
                try receive(.message(message), at: time)
                // The next message of the run may reveal a gap; it then begins here.
                inboundBefore = time
                return fatal == nil && !isDone
            }
        case .oversize(let length, let hash, let time):
            try journal.oversize(length: length, hash: hash, at: time)
            try receive(.oversize, at: time)
        case .pong: break
        case .closed(let closure, let time):
            socket = nil
            lifeMarks?.cancel()
            complaints.failed("disconnected", "\(closure.reason), code \(closure.code)")
            try journal.close(closure, at: time)
            try receive(.closed(code: closure.code), at: time)
        }
    }

    /// Wakes the loop at the machine's deadline. Only pauses between connections are shortened by the clock's `speed`:
    /// while a socket is open the sleep is stretched by it, so that a server keeps its full time to answer.
    private func arm() {
        guard timer?.deadline != machine.deadline else { return }
        timer?.task.cancel()
        timer = machine.deadline.map { deadline in
            let delay = max(.zero, deadline - now)
            let speed = recording.clock.speed
            // `early` tells the machine's time what the shortened pause left out, so that the deadline has come by its
            // reckoning.
            let (sleep, early) = socket == nil ? (delay, delay - delay / speed) : (delay * speed, .zero)
            let task = Task { [recording, inbox] in
                guard (try? await recording.clock.sleep(sleep)) != nil, !Task.isCancelled else { return }
                inbox.push(.deadline(early: early))
            }
            return (deadline, task)
        }
    }

    /// The machine's time.
    private var now: Duration { elapsed ?? recording.clock.elapsed() + ahead }
}

// MARK: - Actions

extension SocketDriver {
    private func receive(_ input: Machine.Input, at time: Timestamp) throws {
        for action in machine.receive(input, at: now) { try perform(action, at: time) }
    }

    /// Carries out an action that takes no time, and notes the others for `carryOut`.
    private func perform(_ action: Machine.Action, at time: Timestamp) throws {
        switch action {
        case .connect(let url): pendingConnect = PendingConnect(url: url)
        case .send(let bytes):
            socket?.send(bytes)
            try journal.frame(.out, bytes[...], at: recording.clock.now())
        case .sendPong: socket?.sendPong()
        case .close(let code): socket?.close(code)
        case .openGap(let gap):
            assert(gapKeys[gap] == nil, "a machine opens each gap once")
            // The frame that reveals a gap has already moved `lastInbound`, so the frame before it counts.
            let from = inboundBefore ?? journal.lastInbound ?? time
            gapKeys[gap] = try journal.openGap(
                gap.reason.rawValue,
                topic: gap.topic,
                from: from,
                closes: machine.closer(of: gap.reason).rawValue,
                at: time
            )
        case .endGap(let gap): journal.endGaps(at: time) { $0.key == gapKeys[gap] }
        case .closeGap(let gap, let closer):
            try journal.closeGaps(by: closer.rawValue, at: time) { $0.key == gapKeys[gap] }
            gapKeys[gap] = nil
        case .work(let work): pendingWork.append(work)
        case .freshToken: wantsToken = true
        case .finish: isDone = true
        case .stop(let reason):
            fatal = IngestError(
                .refused,
                operation: configuration.operation,
                object: configuration.endpoint.hostHeader,
                reason: reason,
                advice: "mend it and start the recorder again"
            )
        }
    }

    /// Opens a socket, and tells the machine whether that worked.
    ///
    /// - Throws: `IngestError` if no token can be had and this run never connected; `CancellationError`; the journal's
    ///   errors.
    private func connect(url: String?) async throws {
        await leaveSocket()
        attempt += 1
        let endpoint = configuration.endpoint(redirected: url)
        do {
            let token = try await configuration.token.fresh()
            let socket = try await configuration.connector.open(endpoint, headers: configuration.headers(token)) {
                [attempt, inbox] events, bytes in
                inbox.push(.socket(attempt: attempt, events), weight: bytes)
            }
            self.socket = socket
            inbox.whenDrained { socket.resume() }
            lastRefusal = nil
            complaints.succeeded("connected")
            try journal.open(at: recording.clock.now())
            lifeMarks = recording.startLifeMarks()
            try receive(.opened(token: token), at: recording.clock.now())
        } catch let refusal as WebSocketRefusal {
            try refused(refusal, by: endpoint)
        } catch let trouble as HTTPTrouble {
            // The token could not be fetched; this is retried like any other failure to connect.
            complaints.failed("no token", "\(trouble)")
            try receive(.refused(retryAfter: nil), at: recording.clock.now())
        } catch let error as IngestError {
            // Without a connection so far, a missing token is a mistake in the configuration; later it may come back.
            guard journal.hasConnected else { throw error }
            complaints.failed("no token", "\(error)")
            try receive(.refused(retryAfter: nil), at: recording.clock.now())
        }
    }

    /// Records the server's answer, unless it is the same as before, and has the machine wait. People are told which
    /// server it was: it may be another one than they configured.
    private func refused(_ refusal: WebSocketRefusal, by endpoint: WebSocketEndpoint) throws {
        complaints.failed("cannot connect", "\(endpoint.hostHeader.prefix(Self.hostCharactersMax)): \(refusal)")
        guard case .status(let status, let wait) = refusal else {
            return try receive(.refused(retryAfter: nil), at: recording.clock.now())
        }
        if status != lastRefusal {
            try journal.http(status, path: configuration.endpoint.path, retryAfter: wait, at: recording.clock.now())
        }
        lastRefusal = status
        try receive(.refused(retryAfter: wait.map { .seconds($0) }), at: recording.clock.now())
    }

    /// Abandons a socket whose close never came.
    private func leaveSocket() async {
        guard let old = socket else { return }
        socket = nil
        lifeMarks?.cancel()
        await old.abort()
        try? journal.close(
            WebSocketClosure(code: 1006, reason: "gave up waiting for the end"),
            at: recording.clock.now()
        )
    }

    /// Starts a piece of work beside the connection. It keeps the counters of the connection at its start, even if the
    /// socket is replaced meanwhile.
    private func add(_ work: Machine.Work, to group: inout ThrowingDiscardingTaskGroup<any Error>) {
        let since = journal.openGaps.map(\.from).min() ?? recording.clock.now()
        let perform = configuration.perform
        group.addTask { [recording, inbox, counters = journal.counters] in
            let isComplete = try await perform(work, recording, counters, since)
            inbox.push(.workDone(work, isComplete: isComplete))
        }
    }

    /// Reads the current token. A failure is passed over: the machine goes on with the token it has.
    private func addTokenReader(to group: inout ThrowingDiscardingTaskGroup<any Error>) {
        group.addTask { [token = configuration.token, inbox] in
            if let token = try? await token.fresh() { inbox.push(.token(token)) }
        }
    }

    /// Records that the recorder stops, and opens the gap that the next run closes (I29).
    private func stop() async {
        await socket?.abort()
        let time = recording.clock.now()
        let pieces = Result {
            if socket != nil {
                var closure = WebSocketClosure.ended(by: fatal)
                closure.code = 1001
                try journal.close(closure, at: time)
            }
            socket = nil
            try journal.endRun(topics: configuration.topics, closes: machine.closer(of: .stopped).rawValue, at: time)
            return journal.take()
        }
        // A task of its own, so that cancellation does not lose the last events.
        let finish = Task { [recording] in try await recording.append(pieces.get()) }
        _ = await finish.result
    }
}
#endif
