#if Recorders
import EventLog
import Projections

/// A gateway as Discord and Retrocast speak it: HELLO, IDENTIFY or RESUME, READY, dispatches, heartbeats.
///
/// Dispatches wait until the client has sent its handshake. A client that identifies gets a READY even where the
/// recorder had resumed, because its session begins with READY.
struct GatewayDialect: PlayDialect {
    /// A frame with which a client begins its session; the raw value is its name in notes.
    enum Handshake: String {
        case identify = "IDENTIFY"
        case resume = "RESUME"
    }

    /// A recorded frame, sorted by what it does to the dialect.
    enum Act {
        case hello([UInt8])
        /// READY, with this server's URL in it.
        case ready([UInt8])
        case acknowledgement([UInt8])
        case frame([UInt8])
        /// A handshake that the recorder sent.
        case handshake(Handshake)
        /// A heartbeat that the recorder sent, and whether it directly followed RESUME. The answer to such a heartbeat
        /// ends Retrocast's replay, so the client's own must come first.
        case heartbeat(isBehindResume: Bool)
        /// Another frame that the recorder sent, with its `op`.
        case sent(Int?)
    }

    /// Only a connection's first 16 frames, the recorder's own frames and those of up to 96 bytes are parsed; all
    /// others pass through. HELLO and READY are among the first, acknowledgements are short.
    private static let readCountMax = 16
    private static let readBytesMax = 96
    /// The longest waits for a handshake after the first one, and for a heartbeat behind RESUME.
    private static let handshakePatience = Duration.seconds(10)
    private static let heartbeatPatience = Duration.milliseconds(250)

    /// The URL to which the client is to send RESUME: this server's.
    private let url: String
    /// Makes a READY of the state, for a client that identifies before the script has a READY.
    private let makeReady: @Sendable () -> [UInt8]
    /// Called with the user id that a recorded READY names.
    private let heardUser: @Sendable (String) -> Void
    /// The latest recorded frames of their kind, kept across connections; made ones before the first.
    private var lastHello = GatewayText.hello
    private var lastReady: [UInt8]?
    private var lastAcknowledgement = GatewayText.acknowledgement
    private var beats = PlayHeartbeats()
    private var notes: [PlayNote] = []

    // The recorded connection.
    private var frameCount = 0
    /// The recorder's handshakes given so far.
    private var recorded: [Handshake] = []
    /// True once this connection's READY was given.
    private var isReadyGiven = false
    /// True if the last frame of the recorder was RESUME.
    private var wasResume = false
    /// True once a note has recorded that the first handshakes differ.
    private var isCompared = false
    /// The recorder's other frames by `op`; -1 for frames without one.
    private var sentCounts: [Int: Int] = [:]

    // The client's connection.
    private var hasHello = false
    /// True once READY was sent on it.
    private var hasReady = false
    /// The client's handshakes; the script may add one that never came (`gaveUp`).
    private var heard: [Handshake] = []
    /// The client's other frames by `op`. Counted for each recorded connection, not for each of the client's.
    private var heardCounts: [Int: Int] = [:]

    init(
        url: String,
        heardUser: @escaping @Sendable (String) -> Void,
        makeReady: @escaping @Sendable () -> [UInt8]
    ) {
        self.url = url
        self.heardUser = heardUser
        self.makeReady = makeReady
    }

    mutating func connectionOpened() {
        compareCounts()
        (frameCount, recorded, isReadyGiven, wasResume, isCompared) = (0, [], false, false, false)
        (sentCounts, heardCounts) = ([:], [:])
        beats.forgetBorrowed()
    }

    mutating func wireOpened() {
        (hasHello, hasReady, heard) = (false, false, [])
        beats.forgetOwed()
    }

    mutating func read(_ frame: [UInt8], isOut: Bool) -> Act {
        frameCount += 1
        guard isOut || frameCount <= Self.readCountMax || frame.count <= Self.readBytesMax else { return .frame(frame) }
        let tree = try? JSONValue.parse(frame)
        let operation = tree?["op"]?.number?.int64
        let name = tree?["t"]?.string
        if name == "READY", let user = tree?["d"]?["user_id"]?.string ?? tree?["d"]?["user"]?["id"]?.string {
            heardUser(user)
        }
        return isOut ? readSent(operation) : readReceived(frame, operation, name: name)
    }

    private mutating func readSent(_ operation: Int64?) -> Act {
        defer { wasResume = operation == 6 }
        switch operation {
        // Gateway opcodes: 1 heartbeat, 2 IDENTIFY, 6 RESUME; below, 0 dispatch, 10 HELLO, 11 heartbeat acknowledged.
        case 1: return .heartbeat(isBehindResume: wasResume)
        case 2: return .handshake(.identify)
        case 6: return .handshake(.resume)
        default: return .sent(operation.flatMap { Int(exactly: $0) })
        }
    }

    private func readReceived(_ frame: [UInt8], _ operation: Int64?, name: String?) -> Act {
        switch operation {
        case 10: .hello(frame)
        case 11: .acknowledgement(frame)
        case 0 where name == "READY": .ready(GatewayText.ready(frame, resumingAt: url))
        default: .frame(frame)
        }
    }

    mutating func need(before act: Act?, at now: PlayInstant) -> PlayNeed {
        // `give` drops the recorded HELLO if the client has one already.
        if case .hello = act { return .go }
        if !hasHello {
            hasHello = true
            return .say(lastHello)
        }
        if case .handshake(let handshake) = act {
            let count = recorded.count + 1
            // The first handshake must come, however long it takes. A second one on the same connection (after
            // INVALID_SESSION) may not.
            guard heard.count >= min(count, 1) else { return .wait(nil) }
            if count > 1, heard.count < count { return .wait(Self.handshakePatience) }
            compare(with: handshake, count: count)
        }
        guard let first = heard.last else { return .wait(nil) }
        // The client begins a session, and the script has no READY for it.
        if first == .identify, !hasReady, lacksReady(before: act) {
            hasReady = true
            return .say(lastReady ?? makeReady())
        }
        if case .heartbeat(true) = act, !beats.isOwing { return .wait(Self.heartbeatPatience) }
        return .go
    }

    /// Whether the script will not bring the READY that a client waits for after IDENTIFY.
    private func lacksReady(before act: Act?) -> Bool {
        switch act {
        case .ready: false
        case .handshake(let handshake): handshake == .resume
        case nil: true
        case .frame where recorded.isEmpty && !isReadyGiven: lastReady != nil
        default: (recorded.last ?? .identify) != .identify || isReadyGiven
        }
    }

    /// Notes that the client identifies where the recorder resumed, or the reverse; once for the first handshake.
    private mutating func compare(with handshake: Handshake, count: Int) {
        guard !isCompared || count > 1, let client = heard.last, client != handshake else { return }
        isCompared = true
        notes.append(PlayNote(recorded: handshake.rawValue, client: client.rawValue))
    }

    mutating func gaveUp(before act: Act) {
        switch act {
        case .handshake(let handshake):
            notes.append(PlayNote(recorded: "another \(handshake.rawValue)", client: "nothing"))
            // Counted as heard, so that `need` does not wait for it again.
            heard.append(handshake)
        // Owed in the client's place, so that `need` does not wait again.
        case .heartbeat: beats.owe(nil, at: .now)
        default: break
        }
    }

    mutating func give(_ act: Act) -> [UInt8]? {
        switch act {
        case .hello(let bytes):
            lastHello = bytes
            // The client may have got an earlier HELLO when it connected.
            defer { hasHello = true }
            return hasHello ? nil : bytes
        case .ready(let bytes):
            (lastReady, isReadyGiven, hasReady) = (bytes, true, true)
            return bytes
        case .acknowledgement(let bytes):
            lastAcknowledgement = bytes
            return beats.recorded().isSent ? bytes : nil
        case .frame(let bytes): return bytes
        case .handshake(let handshake): recorded.append(handshake)
        case .heartbeat: break
        case .sent(let operation): sentCounts[operation ?? -1, default: 0] += 1
        }
        return nil
    }

    mutating func hear(_ message: [UInt8], at now: PlayInstant) {
        switch GatewayText.operation(message) {
        case 1: beats.owe(nil, at: now)
        case 2: heard.append(.identify)
        case 6: heard.append(.resume)
        case let operation: heardCounts[operation ?? -1, default: 0] += 1
        }
    }

    var nextDue: PlayInstant? { beats.due }

    mutating func overdue(at now: PlayInstant, isOver: Bool) -> [[UInt8]] {
        beats.overdue(at: now, isOver: isOver).map { _ in lastAcknowledgement }
    }

    mutating func takeNotes() -> [PlayNote] {
        defer { notes = [] }
        return notes
    }

    /// Notes, at the end of a connection, where the counts of other frames differ.
    private mutating func compareCounts() {
        for operation in Set(sentCounts.keys).union(heardCounts.keys).sorted() {
            let counts = (sentCounts[operation] ?? 0, heardCounts[operation] ?? 0)
            guard counts.0 != counts.1 else { continue }
            notes.append(PlayNote(recorded: "\(counts.0) frames with op \(operation)", client: "\(counts.1)"))
        }
    }
}
#endif
