#if Recorders
/// What a recorder does on a WebSocket, decided without a clock and without a socket.
///
/// Time is what `now` says: a span since any fixed instant that never runs backwards. After each `receive` the driver
/// carries out the actions in order, and calls again with `tick` when `deadline` has come.
protocol SocketMachine: SendableMetatype {
    /// What the driver does beside the connection, such as reading the state by REST.
    associatedtype Work: Hashable, Sendable

    typealias Input = SocketInput<Work>
    typealias Action = SocketAction<Work>
    typealias Gap = SocketGap

    /// When to call again with `tick` if nothing happens before.
    var deadline: Duration? { get }
    /// What is missing, in order.
    var gaps: [SocketGap] { get }
    /// What the next run should know.
    var sessionBytes: [UInt8]? { get }

    /// What would close a gap that opens now.
    func closer(of reason: GapReason) -> GapCloser

    /// Takes what happened and says what to do.
    mutating func receive(_ input: Input, at now: Duration) -> [Action]
}

/// What happens to a recorder.
enum SocketInput<Work: Hashable & Sendable>: Sendable {
    /// A WebSocket is open; the token is that of this handshake.
    case opened(token: String)
    /// No WebSocket could be opened, or there was no token; the wait that the server asks for.
    case refused(retryAfter: Duration?)
    /// A whole message came in.
    case message(ArraySlice<UInt8>)
    /// A message came in that was too large to keep.
    case oversize
    /// The WebSocket is closed; nothing more comes from it.
    case closed(code: UInt16)
    /// A piece of work is done; whether all of it could be.
    case workDone(Work, isComplete: Bool)
    /// The token as it is now.
    case token(String)
    /// The deadline came.
    case tick
}

/// What a recorder is to do.
enum SocketAction<Work: Hashable & Sendable>: Equatable, Sendable {
    /// Take a fresh token and open a WebSocket: to another URL, if one is given.
    case connect(url: String?)
    /// Send a message; it may hold the token.
    case send([UInt8])
    /// Send a Pong that answers no Ping.
    case sendPong
    /// Close the WebSocket with a code.
    case close(UInt16)
    /// From the last frame on, or from now on if there was none, changes may be missed.
    case openGap(SocketGap)
    /// Changes come in again; what was missed is still missing.
    case endGap(SocketGap)
    /// What was missed is known now.
    case closeGap(SocketGap, by: GapCloser)
    /// Begin a piece of work and say when it is done.
    case work(Work)
    /// Say what the token is now.
    case freshToken
    /// Stop: going on would not help.
    case stop(reason: String)
}

/// An interval in which changes may have been missed; numbered from 1 in each run.
struct SocketGap: Hashable, Sendable {
    let number: Int
    let reason: GapReason
    /// The part of the source that it is about; `nil` for all of it.
    var topic: String?
}

/// Why changes may have been missed.
enum GapReason: String, Sendable {
    /// Nothing was recorded before.
    case start
    /// The recorder did not run.
    case stopped
    case disconnected
    /// There was no connection yet.
    case unreachable
    /// A number that the server counts with never came.
    case hole
    /// A frame was too large to keep.
    case oversize
    /// The server ended one subscription.
    case unsubscribed
    /// The server began a subscription anew, perhaps later than where the old one ended.
    case resubscribed
}

/// What closes a gap.
enum GapCloser: String, Sendable {
    case snapshot, replay, nothing
}

/// Random numbers from 0 up to, not including, 1, so that tests can fix them.
struct UnitRandom: Sendable {
    let next: @Sendable () -> Double

    /// A duration within a range, to the millisecond.
    func duration(milliseconds range: ClosedRange<Int64>) -> Duration {
        .milliseconds(range.lowerBound + Int64(Double(range.upperBound - range.lowerBound) * next()))
    }
}

extension Optional where Wrapped == Duration {
    /// Whether an instant has come; never where there is none.
    func isDue(_ now: Duration) -> Bool {
        map { $0 <= now } ?? false
    }
}
#endif
