#if Recorders
import EventLog

/// What differs between protocols: which frames wait for the client, and what a client needs beyond the recording.
///
/// A dialect only decides; it has no socket and no clock. The playing task calls it, never two calls at a time. For
/// each recorded frame: `read`, then `need` until it returns `go`, then `give`. Frames before the start go through
/// `read` and `give` alone.
protocol PlayDialect {
    /// What a recorded frame means to the protocol.
    associatedtype Act

    /// Called when a recorded connection begins; forgets what belongs to the one before.
    mutating func connectionOpened()
    /// Called when a client has connected, and after each passed step; forgets what belongs to the client before.
    mutating func wireOpened()
    /// Reads a recorded frame. Called in the order of the script, and again after a rewind.
    ///
    /// - Parameter isOut: True for frames that the recorder sent.
    mutating func read(_ frame: [UInt8], isOut: Bool) -> Act
    /// What must happen before an act can be given; `act` is `nil` after the end of the script.
    mutating func need(before act: Act?, at now: PlayInstant) -> PlayNeed
    /// Called when a wait that `need` returned has timed out. The next `need` must not wait for the same thing.
    mutating func gaveUp(before act: Act)
    /// The bytes that the client gets for an act; `nil` for none. Called for every act that is given or passed.
    mutating func give(_ act: Act) -> [UInt8]?
    /// Takes a client's message.
    mutating func hear(_ message: [UInt8], at now: PlayInstant)
    /// Takes the messages that are due to the client because of the time alone.
    ///
    /// - Parameter isOver: True after the end of the script, where nothing recorded can come any more.
    mutating func overdue(at now: PlayInstant, isOver: Bool) -> [[UInt8]]
    /// When `overdue` or `need` may next have something for the client; `nil` if only an event can cause it.
    var nextDue: PlayInstant? { get }
    /// Takes the client's departures from the recording since the last call.
    mutating func takeNotes() -> [PlayNote]
}

typealias PlayInstant = ContinuousClock.Instant

/// What must happen before an act can be given.
enum PlayNeed {
    /// Nothing.
    case go
    /// The client gets these bytes first; then `need` is called again.
    case say([UInt8])
    /// The client must do something within this time; `nil` waits without a limit.
    case wait(Duration?)
}

/// A departure of the client from the recording: what was recorded, and what the client did instead.
struct PlayNote {
    let recorded: String
    let client: String
}

/// Matches a client's heartbeats with the recorded acknowledgements.
///
/// Heartbeats follow the client's clock, acknowledgements the recording, so they seldom meet. An acknowledgement keeps
/// its recorded place and answers the oldest heartbeat that waits. A heartbeat that has waited for `grace` is answered
/// at once, and the next recorded acknowledgement is left out in return.
struct PlayHeartbeats {
    /// A heartbeat that was not acknowledged yet.
    private struct Owed {
        /// The client's reference in the heartbeat; `nil` in protocols without one.
        let reference: String?
        let since: PlayInstant
    }

    /// How long a heartbeat waits for a recorded acknowledgement. Well below a gateway's usual interval of 41.25 s, at
    /// whose end a client without an acknowledgement leaves.
    static let grace = Duration.seconds(10)
    /// Bounds memory for a client that sends nothing but heartbeats.
    private static let owedMax = 64

    /// Heartbeats without an acknowledgement, oldest first.
    private var owed: [Owed] = []
    /// How many acknowledgements were sent ahead of the recorded ones, which are then left out.
    private var borrowed = 0

    /// When the oldest heartbeat must be acknowledged.
    var due: PlayInstant? { owed.first.map { $0.since + Self.grace } }

    /// Whether a heartbeat waits.
    var isOwing: Bool { !owed.isEmpty }

    /// Forgets the heartbeats of the last client.
    mutating func forgetOwed() { owed = [] }

    /// Forgets the acknowledgements sent ahead on the last recorded connection.
    mutating func forgetBorrowed() { borrowed = 0 }

    /// Notes a heartbeat of the client; beyond 64, the oldest is dropped.
    mutating func owe(_ reference: String?, at now: PlayInstant) {
        if owed.count == Self.owedMax { owed.removeFirst() }
        owed.append(Owed(reference: reference, since: now))
        assert(owed.count <= Self.owedMax, "heartbeats that nobody acknowledges are bounded")
    }

    /// Takes a recorded acknowledgement.
    ///
    /// - Returns: `isSent`: whether it is sent, which is not so if it was sent ahead. `reference`: the heartbeat that
    ///   it answers; `nil` if none waits or the protocol has none.
    mutating func recorded() -> (isSent: Bool, reference: String?) {
        if !owed.isEmpty { return (true, owed.removeFirst().reference) }
        guard borrowed > 0 else { return (true, nil) }
        borrowed -= 1
        return (false, nil)
    }

    /// Takes the references of heartbeats that have waited too long; after the end of the script, of all.
    mutating func overdue(at now: PlayInstant, isOver: Bool) -> [String?] {
        let count = isOver ? owed.count : owed.prefix { $0.since + Self.grace <= now }.count
        defer { owed.removeFirst(count) }
        borrowed += isOver ? 0 : count
        return owed.prefix(count).map(\.reference)
    }
}
#endif
