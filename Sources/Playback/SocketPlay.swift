#if Recorders
import EventLog
import NIOCore

/// The values that the parts of one playback share.
package struct PlayContext: Sendable {
    let store: EventStore
    let source: SourceName
    let speed: PlaySpeed
    let isStepping: Bool
    /// The last event that is folded but not sent: the client sees its effect in READY and in answers. Zero plays
    /// everything.
    let start: SequenceNumber
    /// The last event that is given, inclusive.
    let end: SequenceNumber
    /// Whether the playback ends once everything was given and the client has left.
    let endsWithClient: Bool
    let inbox: PlayInbox
    package let report: PlayReport
    let answers: PlayAnswers
    /// The recorded connections of any app, in order; empty where `SocketPlay` plays.
    let tracks: [PlayTrack]
    /// The path of the one recorded event stream, without its query; `nil` where the log has none.
    let stream: String?
    let states: PlayStates

    /// Lets one more event be given, when stepping.
    package func release() { inbox.push(.stepped(1)) }
}

/// Walks through a script and gives it to one client after another (docs/decisions/0028-playback.md).
///
/// The type owns the client's connection and the position. One task runs it and alone touches its properties; all other
/// threads reach it through the inbox. Scripts of files and commits belong to `FilesPlay` and `GitPlay`.
final class SocketPlay<Dialect: PlayDialect> {
    private let play: PlayContext
    private var script: PlayScript
    private var dialect: Dialect
    private var pace: PlayPace
    /// The client that is connected now; `nil` while nobody is.
    private var wire: PlayWire?
    /// Encoded bytes that were not sent yet.
    private var pending = ByteBuffer()
    /// How many recorded frames `pending` contains. Frames that the dialect added do not count.
    private var givenInPending = 0
    /// The piece that was sent ahead; the system may not have taken it yet.
    private var sending: Sending?
    /// The position that is reached once `pending` is sent.
    private var reached = SequenceNumber.zero
    /// The recorded connection that is being played, or was played last.
    private var connection: Connection?
    /// True while a recorded closing is played: the client may then leave without a divergence.
    private var mayLeave = false
    /// True after a closing that only means that the recorder stopped: the client stays until the next recorded
    /// connection.
    private var isLeft = false
    /// True once `resume` has rewound the script. The current step must then end without effect, because it comes
    /// again.
    private var isRewound = false
    /// True once the client has requested a route for which the recording has an answer.
    private var hasAsked = false
    /// Whether recorded answers are waited for. A wait that timed out ends this until the next such request.
    private var awaitsAnswers = true
    /// True after the last step, until a rewind.
    private var isOver = false

    /// A piece that was handed to the client's connection.
    private struct Sending {
        let future: EventLoopFuture<Void>
        let given: Int
        let reached: SequenceNumber
    }

    /// A recorded connection whose opening was given or passed.
    private struct Connection {
        let name: String
        let start: SequenceNumber
        /// Whether its end was given.
        var isOver = false
        /// How often the end was taken back for a client that lacked events before it.
        var returns = 0
    }

    /// The most times that the end of one connection is taken back. A client that names the same event for ever must
    /// not stop the playback.
    private static var returnsMax: Int { 8 }
    /// The size at which `pending` is sent: 256 KiB, large enough that a system call costs little for each frame.
    private static var pendingBytesMax: Int { 1 << 18 }
    /// The longest wait for a client to request what the recorder requested, and to leave where the recorder left.
    private static var patience: Duration { .seconds(1) }
    /// The wait for a request at full speed, from a client that has made recorded requests before.
    private static var longPatience: Duration { .seconds(10) }

    init(_ play: PlayContext, dialect: Dialect) {
        self.play = play
        self.dialect = dialect
        script = PlayScript(store: play.store, source: play.source, end: play.end)
        pace = PlayPace(speed: play.speed, isStepping: play.isStepping)
    }

    /// Plays everything, then answers heartbeats.
    ///
    /// Returns once the client has left, if `endsWithClient`.
    ///
    /// - Throws: `CancellationError`, and errors of the store.
    func run() async throws {
        repeat {
            isOver = false
            while let step = try script.step() {
                isRewound = false
                if step.sequence <= play.start { pass(step) } else { try await give(step) }
                try Task.checkCancellation()
            }
            reached = play.end
            await flush()
            isOver = true
            play.report.change { $0.isDone = true }
        } while try await linger()
    }

    /// Folds a step before the start into dialect and answers. The client gets its effect as state, not as a frame.
    private func pass(_ step: PlayStep) {
        switch step.act {
        case .open(let connection):
            self.connection = Connection(name: connection, start: step.sequence)
            play.answers.begin(connection: connection)
            dialect.connectionOpened()
        case .close: connection?.isOver = true
        case .answer: play.answers.pass(step.sequence)
        case .frame(let bytes): _ = dialect.give(dialect.read(bytes, isOut: false))
        case .sent(let bytes): _ = dialect.give(dialect.read(bytes, isOut: true))
        default: break
        }
        // Nobody is connected yet, so nothing given here belongs to a client.
        dialect.wireOpened()
        reached = step.sequence
    }

    /// Plays one step. Returns early, without moving the position, if a client's `Last-Event-ID` rewound the script.
    private func give(_ step: PlayStep) async throws {
        switch step.act {
        case .open(let connection):
            if isLeft { leave() }
            try await needWire()
            if isRewound { return }
            play.answers.begin(connection: connection)
            play.report.change { $0.connections += 1 }
            self.connection = Connection(name: connection, start: step.sequence)
            dialect.connectionOpened()
            pace.restart()
        case .close(let code, let reason): try await close(step, code: code, reason: reason)
        case .frame(let bytes):
            let act = dialect.read(bytes, isOut: false)
            if needsNothing(act) {
                if put(act, step) { await sendAhead() }
            } else {
                try await give(act, step)
            }
        // The recorder's own frames are given to the dialect alone, which notes what the client should have done.
        case .sent(let bytes): try await settle(dialect.read(bytes, isOut: true), isGiven: true)
        case .answer: try await awaitAnswer(at: step.sequence)
        case .lost: play.report.change { $0.lost += 1 }
        case .file, .commit, .rewrite: break
        }
        if isRewound { return }
        reached = step.sequence
        // At full speed, `put` and `sendAhead` collect many frames for one system call.
        if !pace.isImmediate { await flush() }
    }

    private func give(_ act: Dialect.Act, _ step: PlayStep) async throws {
        try await settle(act)
        if !pace.isImmediate { try await pace(step, before: act) }
        if isRewound { return }
        if put(act, step) { await sendAhead() }
    }

    /// Returns true if an act can be given at once, after appending to `pending` what the dialect sends before it. At
    /// full speed nearly all frames go this way, without suspending the task.
    private func needsNothing(_ act: Dialect.Act) -> Bool {
        guard pace.isImmediate, wire != nil else { return false }
        while true {
            switch dialect.need(before: act, at: .now) {
            case .go:
                noteAll()
                return true
            case .say(let bytes): append(bytes)
            case .wait: return false
            }
        }
    }

    /// Appends an act's bytes to `pending`. Returns true once `pending` is large enough to be sent.
    private func put(_ act: Dialect.Act, _ step: PlayStep) -> Bool {
        guard let bytes = dialect.give(act) else { return false }
        append(bytes)
        givenInPending += 1
        pace.gave()
        // `reached` moves here, too, because `sendAhead` is called before the step ends.
        guard pending.readableBytes >= Self.pendingBytesMax else { return false }
        reached = step.sequence
        return true
    }

    /// Starts to send `pending` without waiting for the system to take it, so that the next frames are encoded
    /// meanwhile. At most two pieces are in memory.
    private func sendAhead() async {
        await finishSending()
        assert(sending == nil, "one piece is on its way at a time")
        if let wire {
            sending = Sending(future: wire.write(pending), given: givenInPending, reached: reached)
            givenInPending = 0
        }
        pending = ByteBuffer()
        // Room for one frame beyond the limit, so that the buffer seldom grows.
        pending.reserveCapacity(Self.pendingBytesMax + 4096)
        takeEvents()
    }

    /// Waits until the system has taken the piece that was sent ahead.
    private func finishSending() async {
        guard let sending else { return }
        self.sending = nil
        // If the write fails, the inbox gets a `closed` event.
        try? await sending.future.get()
        tell(sending.given, sending.reached)
    }

    /// Reports frames as given and the position as reached. The position only grows, also after a rewind.
    private func tell(_ given: Int, _ reached: SequenceNumber) {
        play.report.change { contents in
            contents.given += given
            contents.sequence = max(contents.sequence, reached)
        }
    }

    /// Waits until an act can be given, and appends what must come before it.
    ///
    /// - Parameter isGiven: True also gives the act to the dialect, for frames that the recorder sent.
    private func settle(_ act: Dialect.Act, isGiven: Bool = false) async throws {
        while true {
            try await needWire()
            switch dialect.need(before: act, at: .now) {
            case .go:
                if isGiven { _ = dialect.give(act) }
                return noteAll()
            case .say(let bytes): append(bytes)
            case .wait(let limit):
                // Time that the client took does not count towards the recorded distances.
                pace.restart()
                if try await idle(limit) { dialect.gaveUp(before: act) }
            }
        }
    }

    /// Waits until a step is due by `--speed` or released by `--step`.
    private func pace(_ step: PlayStep, before act: Dialect.Act) async throws {
        while true {
            let wait = pace.wait(for: step.recordedAt, at: .now)
            if wait == .zero { return }
            // The client may have left or sent something during the wait.
            _ = try await idle(wait)
            try await settle(act)
        }
    }

    /// Returns once a client is connected, however long that takes.
    private func needWire() async throws {
        while wire == nil {
            pace.restart()
            _ = try await idle(nil)
        }
    }

    /// Waits until the client requests a recorded answer, so that the playback does not outrun it. Afterwards the
    /// answer counts as past.
    private func awaitAnswer(at sequence: SequenceNumber) async throws {
        // A client that has made one of the recorder's requests will probably make the others, however busy the machine
        // is, so full speed waits ten times as long for it.
        let end = PlayInstant.now + (hasAsked && pace.isImmediate ? Self.longPatience : Self.patience)
        while awaitsAnswers, wire != nil, !play.answers.isGiven(sequence) {
            pace.restart()
            if try await idle(end - .now) { awaitsAnswers = false }
        }
        play.answers.pass(sequence)
    }

    /// Ends the client's connection as the recorded one ended, at the recorded distance.
    private func close(_ step: PlayStep, code: UInt16, reason: String) async throws {
        await flush()
        // "recorder stopped" is what live sources write when they are stopped. The remote closed nothing, so the client
        // stays until another connection begins.
        if reason == "recorder stopped" {
            isLeft = true
            return
        }
        connection?.isOver = true
        mayLeave = true
        defer { mayLeave = false }
        // If the recorder left first ("closed by us"), the client may have a reason to leave, too, and gets a moment
        // for it.
        let end = PlayInstant.now + Self.patience
        var isLate = !reason.hasPrefix("closed by us")
        while wire != nil, !isRewound, !isLate { isLate = try await idle(end - .now) }
        while wire != nil, !isRewound {
            let wait = pace.wait(for: step.recordedAt, at: .now)
            if wait == .zero { break }
            _ = try await idle(wait)
        }
        guard let wire, !isRewound else { return }
        pace.gave()
        // The recorder's own close code says nothing about the remote, so the client sees a cut connection (1006).
        let isRemote = reason.isEmpty || reason == "closed by the peer"
        wire.close(code: isRemote ? code : 1006, isOrderly: reason == "the server ended the stream")
        forget(wire)
        noteAll()
    }

    /// Cuts the client's connection where the recorder had stopped and another recorded connection begins.
    private func leave() {
        isLeft = false
        connection?.isOver = true
        guard let wire else { return }
        wire.close(code: 1006, isOrderly: false)
        forget(wire)
    }

    /// After the last step: heartbeats go on, and clients that connect again are greeted.
    ///
    /// - Returns: True if the script was rewound; false if the playback is over.
    private func linger() async throws -> Bool {
        while true {
            if wire != nil, case .say(let bytes) = dialect.need(before: nil, at: .now) {
                append(bytes)
                continue
            }
            noteAll()
            if play.endsWithClient, wire == nil, play.report.now.connections > 0 { return false }
            // Before the first connection, `--once` waits for a client instead of ending at once.
            _ = try await idle(nil)
            if isRewound { return true }
        }
    }
}

// MARK: - The client

extension SocketPlay {
    /// Sends what is pending, waits for an event of the inbox or for the limit, and handles what came.
    ///
    /// - Parameter limit: `nil` waits without a limit.
    /// - Returns: True if the limit passed and no event came.
    private func idle(_ limit: Duration?) async throws -> Bool {
        // After the end, `overdue` leaves nothing that is due later.
        await flush()
        let due = dialect.nextDue.map { max(.zero, $0 - .now) }
        let shortest = [limit, isOver ? nil : due].compactMap { $0 }.min()
        let end = limit.map { PlayInstant.now + $0 }
        if shortest.map({ $0 > .zero }) ?? true { await play.inbox.wait(upTo: shortest) }
        try Task.checkCancellation()
        let isQuiet = takeEvents()
        await flush()
        return isQuiet && (end.map { $0 <= .now } ?? false)
    }

    /// Handles the events of the inbox, then appends what is due to the client by now. Returns true if no event came.
    @discardableResult
    private func takeEvents() -> Bool {
        let events = play.inbox.takeAll()
        for event in events { take(event) }
        guard wire != nil else { return events.isEmpty }
        for bytes in dialect.overdue(at: .now, isOver: isOver) { append(bytes) }
        return events.isEmpty
    }

    private func take(_ event: PlayInbox.Event) {
        switch event {
        // A client that reconnects may open the new connection before the old one's end is noticed.
        case .opened(let new):
            if let old = wire {
                play.report.note(recorded: "one connection", client: "opened another beside it")
                old.drop()
            }
            forgetPending()
            wire = new
            play.report.change { $0.isConnected = true }
            dialect.wireOpened()
            if let id = new.lastEventID { resume(after: id) }
        // A message or end of a connection that was replaced before is ignored.
        case .message(let number, let bytes): if number == wire?.number { dialect.hear(bytes, at: .now) }
        case .closed(let number):
            guard let wire, number == wire.number else { return }
            forget(wire)
            if !isOver, !mayLeave { play.report.note(recorded: "the connection goes on", client: "left it") }
        case .asked: (awaitsAnswers, hasAsked) = (true, true)
        case .stepped(let count): pace.releases += count
        }
    }

    /// Rewinds the script to the first event that the client lacks, if it names a `Last-Event-ID` of the connection
    /// that is played or was played last. The connection may have ended: bytes shortly before a cut may not have
    /// arrived.
    private func resume(after id: String) {
        guard var connection, let rest = try? script.rest(after: id, from: connection.start, through: reached) else {
            return
        }
        // Without ids in the rest, nothing shows whether the client got it. It is given again only within an open
        // connection whose named event is known.
        guard rest.setsID || (rest.isKnown && !connection.isOver && rest.first <= reached) else { return }
        if connection.isOver {
            guard connection.returns < Self.returnsMax else { return }
            connection.returns += 1
            connection.isOver = false
        }
        self.connection = connection
        script.rewind(to: rest.first, in: connection.name)
        isRewound = true
    }

    private func forget(_ wire: PlayWire) {
        self.wire = nil
        forgetPending()
        play.report.change { $0.isConnected = false }
    }

    /// Drops what was never sent, without counting it as given.
    private func forgetPending() {
        pending.clear()
        givenInPending = 0
    }

    /// Appends a message in the client's encoding; does nothing if no client is connected.
    private func append(_ bytes: [UInt8]) {
        wire?.encode(bytes, into: &pending)
    }

    /// Sends everything pending, returns when the system has taken it, and reports the position.
    private func flush() async {
        await finishSending()
        // If the write fails, the inbox gets a `closed` event.
        if let wire, pending.readableBytes > 0 { try? await wire.write(pending).get() }
        // A single huge frame must not keep its buffer for the rest of the playback.
        pending.clear(minimumCapacity: pending.capacity <= 2 * Self.pendingBytesMax ? pending.capacity : 0)
        tell(givenInPending, reached)
        givenInPending = 0
    }

    /// Moves the dialect's notes into the report.
    private func noteAll() {
        for note in dialect.takeNotes() { play.report.note(recorded: note.recorded, client: note.client) }
    }
}
#endif
