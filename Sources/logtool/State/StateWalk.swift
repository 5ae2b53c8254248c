import EventLog
import Projections

/// Gives states of one log at many points, each folded from the nearest state known before it.
///
/// A search that moves right folds on from its last state; one that moves left folds from the state where it last moved
/// right. Either begins from a kept state if that is nearer. The first state of a search is usually that of the head,
/// and replaying to it keeps states. So a log's first bisection takes little more than one replay, and later ones
/// little more than loading a few states.
struct StateWalk: Sendable {
    let store: EventStore
    let query: StateQuery
    /// The state that later points are folded from; `nil` for kept states and the first event alone.
    private var base: LogState?

    init(store: EventStore, query: StateQuery) {
        self.store = store
        self.query = query
    }

    /// The state at a point. It does not become the base, because a search cannot yet know on which side it goes on. A
    /// base behind the point is of no use, and is passed over.
    func state(at point: SequenceNumber) throws -> LogState {
        let (base, options) = (base, query.replayOptions)
        return try store.read { session in
            try Replay.logState(of: session, through: point, from: base, options: options)
        }
    }

    /// Makes this state the one that later states are folded from.
    mutating func begin(from state: LogState) {
        base = state
    }

    /// Calls `body` with one event and its changes. For an act or an event of another source it is not called.
    func step(at sequence: SequenceNumber, _ body: (Envelope, [StateDifference]) throws -> Void) throws {
        let before = try state(at: SequenceNumber(sequence.rawValue - 1))
        try store.read { session in
            try Replay.steps(from: before, over: session, through: sequence, options: query.replayOptions) {
                try body($0, $1)
                return true
            }
        }
    }
}
