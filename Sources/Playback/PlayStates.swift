#if Recorders
import EventLog
import Projections
import Synchronization

/// The state at the point that a playback has reached, folded only when a request needs it.
///
/// The mutex guards the walk, so requests fold one after another.
final class PlayStates: Sendable {
    private let walk: Mutex<StateWalk>
    private let source: SourceName

    init(store: EventStore, source: SourceName, options: ReplayOptions) {
        self.source = source
        walk = Mutex(StateWalk(store: store, options: options))
    }

    /// Calls `body` with the state at a point. The next call folds on from there, so rising points cost only the events
    /// between them. A lower point begins from a kept state or from the first event.
    func with<Value: Sendable>(at point: SequenceNumber, _ body: (inout LogState) throws -> Value) throws -> Value {
        try walk.withLock { walk in
            var state = try walk.state(at: point)
            walk.begin(from: state)
            return try body(&state)
        }
    }

    /// The rows of one section from the played source. Passing time (typing, sessions) is judged at the log's clock.
    func rows(_ section: Section, at point: SequenceNumber) throws -> [JSONValue] {
        try with(at: point) { state in
            let time = state.clock ?? Timestamp(seconds: 0)
            return state.rows(in: section, asOf: time).filter { $0["source"]?.string == source.rawValue }
        }
    }

    /// The messages of one channel, in the remote's order.
    func messages(of channel: String, at point: SequenceNumber) throws -> [JSONValue] {
        let reference = EntityReference(kind: .channel, parts: [source.rawValue, channel])
        return try with(at: point) { $0.document(ofChannel: reference)["messages"]?.array ?? [] }
    }
}
#endif
