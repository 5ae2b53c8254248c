#if Recorders
import EventLog

/// What differs between the protocols that are played: which frames wait for the client, and what a client needs that the
/// recording does not say. It only decides, and has neither socket nor clock.
protocol PlayDialect {
    /// What a recorded frame means to the protocol.
    associatedtype Act

    /// A recorded connection begins.
    mutating func connectionOpened()
    /// A client has connected.
    mutating func wireOpened()
    /// Reads a recorded frame.
    mutating func read(_ frame: [UInt8], isOut: Bool) -> Act
    /// What must happen before an act can be given; `nil` for the end of the script.
    mutating func need(before act: Act?, at now: PlayInstant) -> PlayNeed
    /// A wait was not answered in time.
    mutating func gaveUp(before act: Act)
    /// The bytes that go to the client; `nil` where nothing does. Told of every act that was given or passed.
    mutating func give(_ act: Act) -> [UInt8]?
    /// A client's message.
    mutating func hear(_ message: [UInt8], at now: PlayInstant)
    /// What the client is to get by its own clock.
    mutating func overdue(at now: PlayInstant, isOver: Bool) -> [[UInt8]]
    /// When `overdue` may have something.
    var nextDue: PlayInstant? { get }
    /// What the client did otherwise since the last call.
    mutating func takeNotes() -> [PlayNote]
}

typealias PlayInstant = ContinuousClock.Instant

/// What an act waits for.
enum PlayNeed {
    /// Nothing.
    case go
    /// The client gets these bytes first.
    case say([UInt8])
    /// Something that the client does; for so long, or for ever.
    case wait(Duration?)
}

/// Where a client did otherwise than the recording.
struct PlayNote {
    let recorded: String
    let client: String
}

/// Heartbeats of a client and the recorded acknowledgements.
struct PlayHeartbeats {
    private struct Owed {
        let reference: String?
        let since: PlayInstant
    }

    /// How long a heartbeat waits for a recorded acknowledgement.
    static let grace = Duration.seconds(10)
    private static let owedMax = 64

    private var owed: [Owed] = []
    /// Acknowledgements that were sent before the recorded ones.
    private var borrowed = 0

    /// When the first one is due.
    var due: PlayInstant? { owed.first.map { $0.since + Self.grace } }

    /// Whether any waits.
    var isOwing: Bool { !owed.isEmpty }

    /// Forgets those of the last client.
    mutating func forgetOwed() { owed = [] }

    /// Forgets what belongs to a recorded connection.
    mutating func forgetBorrowed() { borrowed = 0 }

    /// The client beats.
    mutating func owe(_ reference: String?, at now: PlayInstant) {
        if owed.count == Self.owedMax { owed.removeFirst() }
        owed.append(Owed(reference: reference, since: now))
    }

    /// A recorded acknowledgement comes: what it answers, and whether it is sent at all.
    mutating func recorded() -> (isSent: Bool, reference: String?) {
        if !owed.isEmpty { return (true, owed.removeFirst().reference) }
        guard borrowed > 0 else { return (true, nil) }
        borrowed -= 1
        return (false, nil)
    }

    /// The references of those that wait no longer.
    mutating func overdue(at now: PlayInstant, isOver: Bool) -> [String?] {
        let count = isOver ? owed.count : owed.prefix { $0.since + Self.grace <= now }.count
        defer { owed.removeFirst(count) }
        borrowed += isOver ? 0 : count
        return owed.prefix(count).map(\.reference)
    }
}
#endif
