package import EventLog

/// Gives states of one log at many points, each folded from the nearest state known before it.
///
/// A search that moves right folds on from its last state; one that moves left folds from the state where it last moved
/// right. Either begins from a kept state if that is nearer. The first state of a search is usually that of the head,
/// and replaying to it keeps states. So a log's first bisection takes little more than one replay, and later ones
/// little more than loading a few states.
package struct StateWalk: Sendable {
    package let store: EventStore
    /// Which events are folded, and how.
    package let options: ReplayOptions
    /// The state that later points are folded from; `nil` for kept states and the first event alone.
    private var base: LogState?

    package init(store: EventStore, options: ReplayOptions) {
        self.store = store
        self.options = options
    }

    /// The state at a point. It does not become the base, because a search cannot yet know on which side it goes on. A
    /// base behind the point is of no use, and is passed over.
    package func state(at point: SequenceNumber) throws -> LogState {
        let (base, options) = (base, options)
        return try store.read { session in
            try Replay.logState(of: session, through: point, from: base, options: options)
        }
    }

    /// Makes this state the one that later states are folded from.
    package mutating func begin(from state: LogState) {
        base = state
    }

    /// Calls `body` with one event and its changes. For an act or an event of another source it is not called.
    package func step(at sequence: SequenceNumber, _ body: (Envelope, [StateDifference]) throws -> Void) throws {
        let before = try state(at: SequenceNumber(sequence.rawValue - 1))
        try store.read { session in
            try Replay.steps(from: before, over: session, through: sequence, options: options) {
                try body($0, $1)
                return true
            }
        }
    }
}
