#if Recorders
/// The options of the gateway protocol.
struct GatewayOptions: Equatable, Sendable {
    /// The `intents` of IDENTIFY, which Discord's gateway requires; `nil` leaves them out.
    var intents: UInt64?
    /// True if a REST snapshot can be taken.
    var takesSnapshots = true
}

/// The instants at which a gateway machine with a connection must be called; `nil` for never.
struct GatewayTimers: Equatable {
    /// When the current step of the handshake has taken too long.
    var patience: Duration?
    /// When the next heartbeat goes out, and the answer to the last one is overdue.
    var heartbeat: Duration?
    /// When the next Pong without a Ping goes out.
    var pong: Duration?
    /// When the connection counts as one that works.
    var settled: Duration?

    /// The earliest of the instants.
    var earliest: Duration? { [patience, heartbeat, pong, settled].compactMap { $0 }.min() }
}

/// The durations of the protocol and of this recorder.
enum GatewayTiming {
    /// The longest wait for HELLO, and for READY or the answer to RESUME.
    static let patience = Duration.seconds(30)
    /// The longest wait for the socket to close.
    static let closing = Duration.seconds(5)
    /// Between two Pongs: the server drops a connection that sent none for 60 s, and never sends a Ping.
    static let pongMilliseconds: ClosedRange<Int64> = 20_000...30_000
    /// The attempts in a row that come to no handshake before an address, or a session, is given up.
    static let attemptsMax = 3
    /// A connection that lasts this long was no failed attempt.
    static let settled = Duration.seconds(10)
    /// The longest wait between two attempts, but for the random part and what the server demands.
    static let backoffMax = Duration.seconds(60)
    /// After INVALID_SESSION (Discord: "a random amount of time between 1 and 5 seconds").
    static let invalidSessionMilliseconds: ClosedRange<Int64> = 1_000...5_000
    /// The pause between two snapshots that lost frames cause, and after a snapshot that failed.
    static let snapshotPause = Duration.seconds(60)
    /// The heartbeat intervals that are obeyed; a shorter one would be a flood, a longer one no heartbeat.
    static let heartbeatMilliseconds: ClosedRange<Int64> = 1...3_600_000
}

/// Close codes and what they mean for the session.
enum GatewayCloseCode {
    /// The code with which this recorder closes; 1000 and 1001 would end the session.
    static let ours: UInt16 = 4_000

    /// Why no further attempt helps after a code; `nil` if one may.
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

    /// True if the code ends the session: 4003 (not authenticated), 4004 (token not accepted), 4007 (invalid seq), 4009
    /// (timed out).
    static func endsSession(_ code: UInt16) -> Bool {
        [4_003, 4_004, 4_007, 4_009].contains(code)
    }
}
#endif
