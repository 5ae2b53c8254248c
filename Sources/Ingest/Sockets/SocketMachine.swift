#if Recorders
/// The protocol logic of a recorder on a WebSocket, without a clock and without a socket.
///
/// `now` is a span since any fixed instant and never runs backwards. After each `receive` the driver carries out the
/// actions in order, and calls again with `tick` at `deadline`.
protocol SocketMachine: SendableMetatype {
    /// Work that the driver does beside the connection, such as reading the state by REST.
    associatedtype Work: Hashable, Sendable

    typealias Input = SocketInput<Work>
    typealias Action = SocketAction<Work>
    typealias Gap = SocketGap

    /// When to call again with `tick` if nothing happens before; `nil` for never.
    var deadline: Duration? { get }
    /// The gaps that are not closed, in the order in which they were opened.
    var gaps: [SocketGap] { get }
    /// The state that the next run needs, in UTF-8 and without the token; `nil` for none.
    var sessionBytes: [UInt8]? { get }

    /// The means that would close a gap that opens now.
    func closer(of reason: GapReason) -> GapCloser

    /// Takes one input and returns the actions for it, in order.
    mutating func receive(_ input: Input, at now: Duration) -> [Action]
}

/// Something that happens to a recorder.
enum SocketInput<Work: Hashable & Sendable>: Sendable {
    /// A WebSocket was opened; `token` belongs to this handshake.
    case opened(token: String)
    /// No WebSocket could be opened, or no token could be had; `retryAfter` is the wait that the server demands, `nil`
    /// if it demands none.
    case refused(retryAfter: Duration?)
    /// A whole message came in.
    case message(ArraySlice<UInt8>)
    /// A message came in that is too large to keep.
    case oversize
    /// The WebSocket is closed; nothing more comes from it. The code is that of `WebSocketClosure`.
    case closed(code: UInt16)
    /// A piece of work ended; `isComplete` if all of it could be done.
    case workDone(Work, isComplete: Bool)
    /// The current token.
    case token(String)
    /// The deadline came.
    case tick
}

/// Something that a recorder must do.
enum SocketAction<Work: Hashable & Sendable>: Equatable, Sendable {
    /// Take a fresh token and open a WebSocket, to `url` if there is one, else to the configured URL.
    case connect(url: String?)
    /// Send a message; it may hold the token.
    case send([UInt8])
    /// Send a Pong that answers no Ping.
    case sendPong
    /// Close the WebSocket with a code.
    case close(UInt16)
    /// Open a gap: changes may be missed since the last frame, or from now on if there was none.
    case openGap(SocketGap)
    /// End a gap: changes come in again, but the missed ones are still missing.
    case endGap(SocketGap)
    /// Close a gap: the missed changes are known now.
    case closeGap(SocketGap, by: GapCloser)
    /// Begin a piece of work; its end comes back as `workDone`.
    case work(Work)
    /// Read the current token; it comes back as `token`.
    case freshToken
    /// Stop: nothing more is wanted.
    case finish
    /// Stop, because going on would not help.
    case stop(reason: String)
}

/// An interval in which changes may have been missed; numbered from 1 in each run.
struct SocketGap: Hashable, Sendable {
    let number: Int
    let reason: GapReason
    /// The part of the source that the gap concerns; `nil` for the whole source.
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
    /// One of the server's consecutive numbers never came.
    case hole
    /// A frame was too large to keep.
    case oversize
    /// The server ended one subscription.
    case unsubscribed
    /// The server restarted a subscription, perhaps later than where the old one ended.
    case resubscribed

    /// Whether nothing of the source came in, so that a replay can make up for it.
    var isOutage: Bool { self == .disconnected || self == .stopped }
}

/// What closes a gap.
enum GapCloser: String, Sendable {
    case snapshot, replay, nothing
}

/// A generator of random numbers in `0..<1` that tests can replace.
struct UnitRandom: Sendable {
    let next: @Sendable () -> Double

    /// A random duration within a range, in whole milliseconds. The upper bound comes only if it is the lower one too.
    func duration(milliseconds range: ClosedRange<Int64>) -> Duration {
        .milliseconds(range.lowerBound + Int64(Double(range.upperBound - range.lowerBound) * next()))
    }
}

extension Optional where Wrapped == Duration {
    /// True if the instant has come; false for `nil`.
    func isDue(_ now: Duration) -> Bool {
        map { $0 <= now } ?? false
    }
}
#endif
