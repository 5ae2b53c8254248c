#if Recorders
import EventLog
import NIOCore

/// Gives the recorded connections of any app to clients: each client gets the first one that nobody has yet and that its
/// path fits. Several may be open at once; their events go out in the order of the log.
///
/// One task runs it and alone touches its properties. Answers to requests are given by the routes; without connections,
/// it only waits until all of them are given.
final class TracksPlay {
    private let play: PlayContext
    private var pace: PlayPace
    /// The connections that are not over, in order.
    private var waiting: [PlayTrack]
    private var open: [Open] = []
    /// Clients that have got everything of their connection and stay.
    private var left: [PlayWire] = []
    /// Clients for which no connection is left, unless the client of one leaves before its end.
    private var idle: [PlayWire] = []
    private var isDone = false

    /// A recorded connection with the client that gets it.
    private struct Open {
        var track: PlayTrack
        let wire: PlayWire
        /// Messages that the recorder and the client have sent.
        var sent = 0
        var heard = 0
        /// When a wait for the client's next message ends; `nil` if nothing is waited for.
        var patienceEnd: PlayInstant?
        /// False once a wait has ended without a message, until the client sends one.
        var awaits = true
    }

    /// The longest wait for a message that the recorder had sent.
    private static let patience = Duration.seconds(1)

    init(_ play: PlayContext) {
        self.play = play
        pace = PlayPace(speed: play.speed, isStepping: play.isStepping)
        waiting = play.tracks
    }

    /// Plays everything, then goes on until the task is cancelled, or until the clients have left with `endsWithClient`.
    ///
    /// - Throws: `CancellationError`, and errors of the store.
    func run() async throws {
        while true {
            for event in play.inbox.takeAll() { take(event) }
            try Task.checkCancellation()
            noteEnd()
            if isDone, play.endsWithClient, open.isEmpty, left.isEmpty, idle.isEmpty { return }
            guard let (place, step) = try earliest() else {
                await play.inbox.wait(upTo: nil)
                continue
            }
            if let wait = try wait(for: step, of: place) {
                await play.inbox.wait(upTo: wait)
            } else {
                try await give(step, to: place)
            }
        }
    }

    /// The open connection whose next step is the earliest in the log. Ends those that have no more.
    private func earliest() throws -> (place: Int, step: PlayStep)? {
        var found: (place: Int, step: PlayStep)?
        for place in open.indices.reversed() {
            guard let step = try open[place].track.peek(in: play) else {
                end(place)
                // The places behind it move.
                found?.place -= 1
                continue
            }
            if found.map({ step.sequence < $0.step.sequence }) ?? true { found = (place, step) }
        }
        return found
    }

    /// How long a step must wait; `nil` inside for another event of the inbox, `nil` outside if it may be given now.
    private func wait(for step: PlayStep, of place: Int) throws -> Duration?? {
        if case .sent = step.act {
            guard open[place].awaits, open[place].heard <= open[place].sent else { return nil }
            let end = open[place].patienceEnd ?? .now + Self.patience
            open[place].patienceEnd = end
            if end > .now { return .some(end - .now) }
            open[place].awaits = false
            return nil
        }
        let wait = pace.wait(for: step.recordedAt, at: .now)
        return wait == .zero ? nil : .some(wait)
    }

    private func give(_ step: PlayStep, to place: Int) async throws {
        open[place].track.advance()
        var given = 0
        switch step.act {
        case .frame(let bytes):
            var buffer = ByteBuffer()
            open[place].wire.encode(bytes, into: &buffer)
            // If the write fails, the inbox gets a `closed` event.
            try? await open[place].wire.write(buffer).get()
            pace.gave()
            given = 1
        case .sent:
            open[place].sent += 1
            if open[place].patienceEnd != nil { pace.restart() }
            open[place].patienceEnd = nil
        case .lost: play.report.change { $0.lost += 1 }
        // "recorder stopped" is what live sources write when they are stopped: the remote closed nothing.
        case .close(let code, let reason) where reason != "recorder stopped":
            pace.gave()
            close(place, code: code, reason: reason)
        default: pace.gave()
        }
        play.report.change { contents in
            contents.given += given
            contents.sequence = max(contents.sequence, step.sequence)
        }
    }

    /// Ends a client's connection as the recorded one ended.
    private func close(_ place: Int, code: UInt16, reason: String) {
        let ended = open.remove(at: place)
        compare(ended)
        let isRemote = reason.isEmpty || reason == "closed by the peer"
        // A HAR tells that a socket ended, but no code.
        let isOrderly = reason == "the server ended the stream" || (isRemote && code == 0)
        ended.wire.close(code: isRemote ? (code == 0 ? 1000 : code) : 1006, isOrderly: isOrderly)
        keepRest(of: ended.track)
    }

    /// Ends a connection that has no more events: the client stays, unless there is another connection for it.
    private func end(_ place: Int) {
        let ended = open.remove(at: place)
        compare(ended)
        if waiting.contains(where: { $0.fits(ended.wire.target, isLoose: true) }) {
            ended.wire.close(code: 1006, isOrderly: false)
        } else {
            left.append(ended.wire)
        }
    }

    /// Notes where the client sent another number of messages than the recorder.
    private func compare(_ ended: Open) {
        guard ended.sent != ended.heard else { return }
        play.report.note(recorded: "\(ended.sent) messages to the remote", client: "\(ended.heard)")
    }

    /// Keeps what a client did not get for the next one of its path.
    ///
    /// - Returns: whether there is such a rest.
    @discardableResult
    private func keepRest(of track: PlayTrack) -> Bool {
        var track = track
        guard (try? track.peek(in: play)) ?? nil != nil else { return false }
        waiting.insert(track, at: 0)
        // A client that comes back may be here before the end of its last connection is noticed.
        if let place = idle.firstIndex(where: { track.fits($0.target, isLoose: true) }) {
            begin(idle.remove(at: place))
        }
        return true
    }

    /// Notes once that everything was given.
    private func noteEnd() {
        guard !isDone, waiting.isEmpty, open.isEmpty, play.answers.isAllGiven || !play.tracks.isEmpty else { return }
        isDone = true
        play.report.change {
            $0.isDone = true; $0.sequence = self.play.end
        }
    }

    private func take(_ event: PlayInbox.Event) {
        switch event {
        case .opened(let wire): begin(wire)
        case .message(let number, _):
            guard let place = open.firstIndex(where: { $0.wire.number == number }) else { return }
            open[place].heard += 1
            open[place].awaits = true
        case .closed(let number):
            left.removeAll { $0.number == number }
            idle.removeAll { $0.number == number }
            if let place = open.firstIndex(where: { $0.wire.number == number }) {
                let gone = open.remove(at: place)
                // A client may leave after the last event, before the end of the track is noticed.
                if keepRest(of: gone.track) {
                    play.report.note(recorded: "the connection goes on", client: "left it")
                } else {
                    compare(gone)
                }
            }
        case .asked: break
        case .stepped(let count): pace.releases += count
        }
        play.report.change { $0.isConnected = !(self.open.isEmpty && self.left.isEmpty && self.idle.isEmpty) }
    }

    /// Gives a client its recorded connection. Where there is none for its path any more, it stays without one; where there
    /// never was one, it is closed.
    private func begin(_ wire: PlayWire) {
        let place =
            waiting.firstIndex { $0.fits(wire.target, isLoose: false) }
            ?? waiting.firstIndex { $0.fits(wire.target, isLoose: true) }
        if let place {
            open.append(Open(track: waiting.remove(at: place), wire: wire))
            play.report.change { $0.connections += 1 }
            pace.restart()
        } else if play.tracks.contains(where: { $0.fits(wire.target, isLoose: true) }) {
            idle.append(wire)
        } else {
            let shown = wire.target.prefix { $0 != "?" }.prefix(200)
            play.report.note(recorded: "no such connection", client: "opened \(shown)")
            // 1008: the request is not one that this remote takes (RFC 6455, section 7.4.1).
            wire.close(code: 1008, isOrderly: true)
        }
    }
}
#endif
