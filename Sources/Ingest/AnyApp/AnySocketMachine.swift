#if Recorders
/// The protocol logic of a recorder on a WebSocket of any app: connects, says what the user gave, and connects again.
///
/// Nothing is known of what the server repeats, so what an interruption missed is missing for good: its gap is closed by
/// nothing.
struct AnySocketMachine: SocketMachine {
    /// No work is done beside the connection: nothing makes one.
    struct Work: Hashable, Sendable {
        private init() {}
    }

    enum Phase: Equatable {
        /// No connection; `reconnect` is when to try again.
        case waiting(reconnect: Duration)
        /// An attempt is on its way; the driver answers with `opened` or `refused`.
        case connecting
        /// Connected. `beat` is when to show the server and all between that somebody is there; `settled` when the
        /// connection counts as one that works.
        case open(beat: Duration, settled: Duration?)
        /// The run is over.
        case ended
    }

    /// What is sent on each connection; the text `{token}` in it stands for the token.
    private let greetings: [String]
    /// False for a run that ends with the first connection.
    private let follows: Bool
    private(set) var phase = Phase.waiting(reconnect: .zero)
    private var backoff: Backoff
    private var book: GapBook

    /// The interval of Pongs, shorter than the silence after which proxies give up a connection.
    static let beat = Duration.seconds(25)
    /// A connection that lasts this long was no failed attempt.
    static let settled = Duration.seconds(10)
    /// The longest wait between two attempts, but for the random part and what the server demands.
    static let backoffMax = Duration.seconds(60)

    /// - Parameters:
    ///   - gaps: the open gaps of earlier runs, numbered from 1.
    ///   - endedGaps: those of `gaps` that have an end.
    init(
        greetings: [String],
        follows: Bool,
        gaps: [SocketGap] = [],
        endedGaps: Set<SocketGap> = [],
        random: UnitRandom
    ) {
        (self.greetings, self.follows) = (greetings, follows)
        backoff = Backoff(max: Self.backoffMax, random: random.next)
        book = GapBook(gaps, ended: endedGaps)
    }

    var gaps: [Gap] { book.open }

    /// Nothing: a new connection is all that the next run needs.
    var sessionBytes: [UInt8]? { nil }

    func closer(of reason: GapReason) -> GapCloser { .nothing }

    var deadline: Duration? {
        switch phase {
        case .waiting(let reconnect): reconnect
        case .connecting, .ended: nil
        case .open(let beat, let settled): min(beat, settled ?? beat)
        }
    }

    mutating func receive(_ input: Input, at now: Duration) -> [Action] {
        switch (input, phase) {
        case (.opened(let token), .connecting): return opened(token, at: now)
        case (.opened, _): return [.close(1_000)]
        case (.refused(let wait), .connecting): return refused(retryAfter: wait, at: now)
        case (.oversize, .open):
            let gap = book.open(.oversize)
            return [.openGap(gap)] + closeGaps()
        case (.closed, .open): return closed(at: now)
        case (.tick, _): return tick(at: now)
        default: return []
        }
    }

    private mutating func opened(_ token: String, at now: Duration) -> [Action] {
        phase = .open(beat: now + Self.beat, settled: now + Self.settled)
        return closeGaps() + greetings.map { .send(Array($0.replacing("{token}", with: token).utf8)) }
    }

    private mutating func refused(retryAfter: Duration?, at now: Duration) -> [Action] {
        guard follows else {
            phase = .ended
            return [.stop(reason: "no WebSocket could be opened")]
        }
        phase = .waiting(reconnect: now + max(backoff.next(), retryAfter ?? .zero))
        return openGap(.unreachable)
    }

    private mutating func closed(at now: Duration) -> [Action] {
        guard follows else {
            phase = .ended
            return [.finish]
        }
        phase = .waiting(reconnect: now + backoff.next())
        return openGap(.disconnected)
    }

    private mutating func tick(at now: Duration) -> [Action] {
        switch phase {
        case .waiting(let reconnect) where reconnect <= now:
            phase = .connecting
            return [.connect(url: nil)]
        case .open(let beat, let settled):
            if settled.isDue(now) { backoff.reset() }
            phase = .open(beat: beat <= now ? now + Self.beat : beat, settled: settled.isDue(now) ? nil : settled)
            return beat <= now ? [.sendPong] : []
        default: return []
        }
    }

    /// Opens a gap, unless one goes on: one covers all attempts until the next connection.
    private mutating func openGap(_ reason: GapReason) -> [Action] {
        book.hasNone(goingOn: nil) ? [.openGap(book.open(reason))] : []
    }

    /// Ends and closes all gaps: what was missed in them does not come again.
    private mutating func closeGaps() -> [Action] {
        book.end(topic: nil).map { .endGap($0) } + book.close { _ in true }.map { .closeGap($0, by: .nothing) }
    }
}
#endif
