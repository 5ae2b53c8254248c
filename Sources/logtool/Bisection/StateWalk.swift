import EventLog
import Projections

/// States of one log at many points, each from the nearest one that is known before it.
///
/// A search that moves to the right folds each event once; one that moves to the left folds from the last state that it
/// moved right from. So all states of a bisection together take about one replay of the log.
struct StateWalk {
    let store: EventStore
    let query: StateQuery
    private var base: Workspace?

    init(store: EventStore, query: StateQuery) {
        self.store = store
        self.query = query
    }

    /// The state at a point.
    mutating func state(at point: SequenceNumber) throws -> Workspace {
        let (base, options) = (base, query.replayOptions)
        return try store.read { session in
            guard let base, base.sequence <= point else {
                return try Replay.workspace(of: session, through: point, options: options)
            }
            return try Replay.advance(base, over: session, through: point, options: options)
        }
    }

    /// Begins later states from this one.
    mutating func begin(from state: Workspace) {
        base = state
    }
}
