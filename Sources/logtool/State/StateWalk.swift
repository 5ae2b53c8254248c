import EventLog
import Projections

/// States of one log at many points, each from the nearest one that is known before it.
///
/// A search that moves to the right folds from the state before, one that moves to the left from the last state that it moved
/// right from; either begins from a state kept beside the log where that is nearer. The first state of a search is usually that of
/// the head, and the replay to it keeps states. So the first bisection of a log takes little more than one replay of it, later
/// ones little more than loading a few states.
struct StateWalk: Sendable {
    let store: EventStore
    let query: StateQuery
    private var base: Workspace?

    init(store: EventStore, query: StateQuery) {
        self.store = store
        self.query = query
    }

    /// The state at a point.
    func state(at point: SequenceNumber) throws -> Workspace {
        let (base, options) = (base, query.replayOptions)
        return try store.read { session in
            try Replay.workspace(of: session, through: point, from: base, options: options)
        }
    }

    /// Begins later states from this one.
    mutating func begin(from state: Workspace) {
        base = state
    }

    /// Gives one event with what it changed; acts and events of sources that are left out change nothing and are not given.
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
