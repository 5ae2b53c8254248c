#if Recorders
/// How a recorder speaks to a gateway.
struct GatewayOptions: Equatable, Sendable {
    /// `intents` of IDENTIFY, which Discord's gateway asks for; `nil` leaves them out.
    var intents: UInt64?
    /// Whether a REST snapshot can be taken.
    var takesSnapshots = true
}

/// When a gateway machine wants to be called.
struct GatewayTimers: Equatable {
    /// When to connect.
    var reconnect: Duration?
    /// When the step of the handshake, or the closing, takes too long.
    var patience: Duration?
    var heartbeat: Duration?
    var pong: Duration?
    /// When a connection counts as one that works.
    var settled: Duration?
    /// When to try a snapshot again.
    var snapshot: Duration?

    /// Forgets what belongs to a connection.
    mutating func endConnection() {
        (patience, heartbeat, pong, settled) = (nil, nil, nil, nil)
    }

    /// The next of the instants, but for `reconnect`, which counts only without a connection.
    func earliest(or other: Duration?) -> Duration? {
        [patience, heartbeat, pong, settled, snapshot, other].compactMap { $0 }.min()
    }
}

/// The spans of the protocol and of this recorder.
enum GatewayTiming {
    /// The longest wait for HELLO, and for READY or the answer to RESUME.
    static let patience = Duration.seconds(30)
    /// The longest wait for the peer's part of a closing.
    static let closing = Duration.seconds(5)
    /// The server drops a connection without a Pong for 60 s, and never sends a Ping.
    static let pongMilliseconds: ClosedRange<Int64> = 20_000...30_000
    /// From then on a connection was no failed attempt.
    static let settled = Duration.seconds(10)
    static let backoffMax = Duration.seconds(60)
    /// After INVALID_SESSION (Discord: "a random amount of time between 1 and 5 seconds").
    static let invalidSessionMilliseconds: ClosedRange<Int64> = 1_000...5_000
    /// Between snapshots that holes ask for, and after one that failed.
    static let snapshotPause = Duration.seconds(60)
    /// What a HELLO may ask for; anything else would be a flood or no heartbeat.
    static let heartbeatMilliseconds: ClosedRange<Int64> = 1...3_600_000
}

/// Close codes and what they mean for the session.
enum GatewayCloseCode {
    /// What this recorder closes with: not 1000 or 1001, which end a session.
    static let ours: UInt16 = 4_000

    /// The codes after which no further attempt helps, and why.
    static func fatalReason(_ code: UInt16) -> String? {
        switch code {
        case 4_010: "the shard is invalid"
        case 4_011: "sharding is required"
        case 4_012: "the API version is invalid"
        case 4_013: "the intents are invalid"
        case 4_014: "the intents are not allowed"
        default: nil
        }
    }

    /// The token was not accepted.
    static let notAuthenticated: UInt16 = 4_004

    /// Whether the session is gone: 4003 not authenticated, 4007 invalid seq, 4009 timed out.
    static func endsSession(_ code: UInt16) -> Bool {
        [4_003, 4_004, 4_007, 4_009].contains(code)
    }
}
#endif
