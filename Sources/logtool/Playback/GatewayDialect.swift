#if Recorders
import EventLog
import Projections

/// A gateway: HELLO, IDENTIFY or RESUME, READY, dispatches, heartbeats.
struct GatewayDialect: PlayDialect {
    enum Handshake: String {
        case identify = "IDENTIFY"
        case resume = "RESUME"
    }

    enum Act {
        case hello([UInt8])
        case ready([UInt8])
        case acknowledgement([UInt8])
        case frame([UInt8])
        /// A handshake that the recorder sent.
        case handshake(Handshake)
        /// A heartbeat that the recorder sent, and whether RESUME came right before it.
        case heartbeat(isBehindResume: Bool)
        /// Another frame that the recorder sent, with its `op`.
        case sent(Int?)
    }

    /// Only a connection's first frames and short frames are parsed; all others pass through.
    private static let readCountMax = 16
    private static let readBytesMax = 96
    /// The longest wait for a second handshake, and for a heartbeat behind RESUME.
    private static let handshakePatience = Duration.seconds(10)
    private static let heartbeatPatience = Duration.milliseconds(250)

    /// Where the client is to send RESUME.
    private let url: String
    private let makeReady: @Sendable () -> [UInt8]
    /// Called with the user id that READY names.
    private let heardUser: @Sendable (String) -> Void
    private var lastHello = GatewayText.hello
    private var lastReady: [UInt8]?
    private var lastAcknowledgement = GatewayText.acknowledgement
    private var beats = PlayHeartbeats()
    private var notes: [PlayNote] = []

    // The recorded connection.
    private var frameCount = 0
    private var recorded: [Handshake] = []
    private var isReadyGiven = false
    private var wasResume = false
    private var isCompared = false
    private var sentCounts: [Int: Int] = [:]

    // The client's connection.
    private var hasHello = false
    private var hasReady = false
    private var heard: [Handshake] = []
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
        if case .hello = act { return .go }
        if !hasHello {
            hasHello = true
            return .say(lastHello)
        }
        if case .handshake(let handshake) = act {
            let count = recorded.count + 1
            guard heard.count >= min(count, 1) else { return .wait(nil) }
            if count > 1, heard.count < count { return .wait(Self.handshakePatience) }
            compare(with: handshake, count: count)
        }
        guard let first = heard.last else { return .wait(nil) }
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

    private mutating func compare(with handshake: Handshake, count: Int) {
        guard !isCompared || count > 1, let client = heard.last, client != handshake else { return }
        isCompared = true
        notes.append(PlayNote(recorded: handshake.rawValue, client: client.rawValue))
    }

    mutating func gaveUp(before act: Act) {
        switch act {
        case .handshake(let handshake):
            notes.append(PlayNote(recorded: "another \(handshake.rawValue)", client: "nothing"))
            heard.append(handshake)
        case .heartbeat: beats.owe(nil, at: .now)
        default: break
        }
    }

    mutating func give(_ act: Act) -> [UInt8]? {
        switch act {
        case .hello(let bytes):
            lastHello = bytes
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
