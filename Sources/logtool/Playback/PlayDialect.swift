#if Recorders
import EventLog

/// What differs between protocols: which frames wait for the client, and what a client needs beyond the recording. A
/// dialect only decides; it has no socket and no clock.
protocol PlayDialect {
    /// What a recorded frame means to the protocol.
    associatedtype Act

    /// Called when a recorded connection begins.
    mutating func connectionOpened()
    /// Called when a client has connected.
    mutating func wireOpened()
    /// Reads a recorded frame.
    mutating func read(_ frame: [UInt8], isOut: Bool) -> Act
    /// What must happen before an act can be given; `act` is `nil` after the end of the script.
    mutating func need(before act: Act?, at now: PlayInstant) -> PlayNeed
    /// Called when a wait that `need` asked for has timed out.
    mutating func gaveUp(before act: Act)
    /// The bytes that the client gets for an act; `nil` for none. Called for every act that is given or passed.
    mutating func give(_ act: Act) -> [UInt8]?
    /// Takes a client's message.
    mutating func hear(_ message: [UInt8], at now: PlayInstant)
    /// Messages that are due to the client because of the time alone.
    mutating func overdue(at now: PlayInstant, isOver: Bool) -> [[UInt8]]
    /// When `overdue` may next return something.
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

/// A departure of the client from the recording.
struct PlayNote {
    let recorded: String
    let client: String
}

/// Matches a client's heartbeats with the recorded acknowledgements.
struct PlayHeartbeats {
    private struct Owed {
        let reference: String?
        let since: PlayInstant
    }

    /// How long a heartbeat waits for a recorded acknowledgement.
    static let grace = Duration.seconds(10)
    private static let owedMax = 64

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

    /// Takes a recorded acknowledgement: whether it is sent, and which reference it answers.
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
