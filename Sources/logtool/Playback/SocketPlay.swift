#if Recorders
import EventLog
import NIOCore

/// The values that the parts of one playback share.
struct PlayContext: Sendable {
    let store: EventStore
    let source: SourceName
    let speed: PlaySpeed
    let isStepping: Bool
    /// The last event that only sets the state; the client gets what follows.
    let start: SequenceNumber
    let end: SequenceNumber
    /// Whether the playback ends once everything was given and the client has left.
    let endsWithClient: Bool
    let inbox: PlayInbox
    let report: PlayReport
    let answers: PlayAnswers
    let states: PlayStates
}

/// Walks through a script and gives it to one client after another (docs/decisions/0028-playback.md).
///
/// One task runs it; everything from other threads comes through the inbox.
final class SocketPlay<Dialect: PlayDialect> {
    private let play: PlayContext
    private var script: PlayScript
    private var dialect: Dialect
    private var pace: PlayPace
    private var wire: PlayWire?
    /// Encoded bytes that were not sent yet.
    private var pending = ByteBuffer()
    private var givenInPending = 0
    /// The piece that was sent ahead; the system may not have taken it yet.
    private var sending: Sending?
    /// The position that is reached once `pending` is sent.
    private var reached = SequenceNumber.zero
    /// The recorded connection that is being played, or was played last.
    private var connection: Connection?
    /// Whether the client may leave without a note, because the recorder left here.
    private var mayLeave = false
    /// Whether the connection's end was the recorder stopping, not the remote closing.
    private var isLeft = false
    /// Whether the script was rewound, so that the current step comes again.
    private var isRewound = false
    /// Whether the client has requested a route that the recorder requested.
    private var hasAsked = false
    /// Whether the playback waits for requests with recorded answers.
    private var awaitsAnswers = true
    private var isOver = false

    /// A piece that was handed to the client's connection.
    private struct Sending {
        let future: EventLoopFuture<Void>
        let given: Int
        let reached: SequenceNumber
    }

    private struct Connection {
        let name: String
        let start: SequenceNumber
        /// Whether its end was given.
        var isOver = false
        /// How often the end was taken back for a client that lacked events before it.
        var returns = 0
    }

    /// The most times that the end of one connection is taken back: a client that names the same event for ever must
    /// not stop the playback.
    private static var returnsMax: Int { 8 }
    private static var pendingBytesMax: Int { 1 << 18 }
    /// The longest waits for a client to request what the recorder requested, and to leave where the recorder left.
    private static var patience: Duration { .seconds(1) }
    private static var longPatience: Duration { .seconds(10) }

    init(_ play: PlayContext, dialect: Dialect) {
        self.play = play
        self.dialect = dialect
        script = PlayScript(store: play.store, source: play.source, end: play.end)
        pace = PlayPace(speed: play.speed, isStepping: play.isStepping)
    }

    /// Plays everything, then answers heartbeats until it is cancelled or the client has left.
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

    /// Takes in a step before the start: the client gets it as state, not as a frame.
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
        case .sent(let bytes): try await settle(dialect.read(bytes, isOut: true), isGiven: true)
        case .answer: try await awaitAnswer(at: step.sequence)
        case .lost: play.report.change { $0.lost += 1 }
        case .file, .commit, .rewrite: break
        }
        if isRewound { return }
        reached = step.sequence
        if !pace.isImmediate { await flush() }
    }

    private func give(_ act: Dialect.Act, _ step: PlayStep) async throws {
        try await settle(act)
        if !pace.isImmediate { try await pace(step, before: act) }
        if isRewound { return }
        if put(act, step) { await sendAhead() }
    }

    /// Whether an act can be given at once; appends what must be sent before it. At full speed nearly all frames go
    /// this way.
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

    /// Appends an act's bytes to `pending`; true once there is enough to send.
    private func put(_ act: Dialect.Act, _ step: PlayStep) -> Bool {
        guard let bytes = dialect.give(act) else { return false }
        append(bytes)
        givenInPending += 1
        pace.gave()
        guard pending.readableBytes >= Self.pendingBytesMax else { return false }
        reached = step.sequence
        return true
    }

    /// Starts to send `pending`, without waiting for it: more is encoded meanwhile.
    private func sendAhead() async {
        await finishSending()
        assert(sending == nil, "one piece is on its way at a time")
        if let wire {
            sending = Sending(future: wire.write(pending), given: givenInPending, reached: reached)
            givenInPending = 0
        }
        pending = ByteBuffer()
        pending.reserveCapacity(Self.pendingBytesMax + 4096)
        takeEvents()
    }

    /// Waits until the system has taken the piece that was sent ahead.
    private func finishSending() async {
        guard let sending else { return }
        self.sending = nil
        // Where it fails, the inbox will tell that the client has gone.
        try? await sending.future.get()
        tell(sending.given, sending.reached)
    }

    private func tell(_ given: Int, _ reached: SequenceNumber) {
        play.report.change { contents in
            contents.given += given
            contents.sequence = max(contents.sequence, reached)
        }
    }

    /// Waits until an act can be given, and sends what must come before it.
    private func settle(_ act: Dialect.Act, isGiven: Bool = false) async throws {
        while true {
            try await needWire()
            switch dialect.need(before: act, at: .now) {
            case .go:
                if isGiven { _ = dialect.give(act) }
                return noteAll()
            case .say(let bytes): append(bytes)
            case .wait(let limit):
                pace.restart()
                if try await idle(limit) { dialect.gaveUp(before: act) }
            }
        }
    }

    private func pace(_ step: PlayStep, before act: Dialect.Act) async throws {
        while true {
            let wait = pace.wait(for: step.recordedAt, at: .now)
            if wait == .zero { return }
            _ = try await idle(wait)
            try await settle(act)
        }
    }

    private func needWire() async throws {
        while wire == nil {
            pace.restart()
            _ = try await idle(nil)
        }
    }

    private func awaitAnswer(at sequence: SequenceNumber) async throws {
        // A client that has made one of the recorder's requests will probably make the others, however busy the machine
        // is.
        let end = PlayInstant.now + (hasAsked && pace.isImmediate ? Self.longPatience : Self.patience)
        while awaitsAnswers, wire != nil, !play.answers.isGiven(sequence) {
            pace.restart()
            if try await idle(end - .now) { awaitsAnswers = false }
        }
        play.answers.pass(sequence)
    }

    private func close(_ step: PlayStep, code: UInt16, reason: String) async throws {
        await flush()
        // The recorder stopped, not the remote: the client stays until another connection begins.
        if reason == "recorder stopped" {
            isLeft = true
            return
        }
        connection?.isOver = true
        mayLeave = true
        defer { mayLeave = false }
        // If the recorder left first, the client may have reason to leave, too.
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
        // A close frame about the recorder itself means nothing to the client.
        let isRemote = reason.isEmpty || reason == "closed by the peer"
        wire.close(code: isRemote ? code : 1006, isOrderly: reason == "the server ended the stream")
        forget(wire)
        noteAll()
    }

    /// Ends a connection that the recorder left.
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
            _ = try await idle(nil)
            if isRewound { return true }
        }
    }
}

// MARK: - The client

extension SocketPlay {
    /// Sends what is pending, then waits for an event of the inbox or for the limit.
    ///
    /// - Returns: True if the limit passed and nothing happened.
    private func idle(_ limit: Duration?) async throws -> Bool {
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

    /// Handles the events of the inbox; true if there were none.
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
        case .message(let number, let bytes): if number == wire?.number { dialect.hear(bytes, at: .now) }
        case .closed(let number):
            guard let wire, number == wire.number else { return }
            forget(wire)
            if !isOver, !mayLeave { play.report.note(recorded: "the connection goes on", client: "left it") }
        case .asked: (awaitsAnswers, hasAsked) = (true, true)
        case .stepped(let count): pace.releases += count
        }
    }

    /// Resumes a stream after the event that the client names, even if the stream has ended: the last bytes before a
    /// cut may have been lost.
    private func resume(after id: String) {
        guard var connection, let rest = try? script.rest(after: id, from: connection.start, through: reached) else {
            return
        }
        // Events without ids may or may not have reached the client.
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

    /// What was never sent was not given.
    private func forgetPending() {
        pending.clear()
        givenInPending = 0
    }

    private func append(_ bytes: [UInt8]) {
        wire?.encode(bytes, into: &pending)
    }

    /// Sends everything that is pending, and returns when the system has taken it.
    private func flush() async {
        await finishSending()
        // Where it fails, the inbox will tell that the client has gone.
        if let wire, pending.readableBytes > 0 { try? await wire.write(pending).get() }
        pending.clear(minimumCapacity: pending.capacity <= 2 * Self.pendingBytesMax ? pending.capacity : 0)
        tell(givenInPending, reached)
        givenInPending = 0
    }

    private func noteAll() {
        for note in dialect.takeNotes() { play.report.note(recorded: note.recorded, client: note.client) }
    }
}
#endif
