import EventLog
import Projections

/// Finds the events that are responsible for what differs between two states.
struct Explanation {
    let first: StateReference
    let second: StateReference
    let source: SourceName?

    /// The sequences for each thing that differs, ascending.
    ///
    /// Of two points of one log, those between them that changed the thing; of two readings of one log, those that did in
    /// either; else every event of the second state's log (of the first's, where the second is no log) that did.
    func responsible(for differences: [StateDifference]) throws -> [EntityReference: [SequenceNumber]] {
        let wanted = Set(differences.map(\.entity))
        var found: [EntityReference: Set<SequenceNumber>] = [:]
        for place in places {
            for (entity, sequences) in try responsible(for: wanted, in: place) {
                found[entity, default: []].formUnion(sequences)
            }
        }
        return found.mapValues { $0.sorted() }
    }

    private func responsible(for wanted: Set<EntityReference>, in place: Place) throws
        -> [EntityReference: [SequenceNumber]]
    {
        let (path, query, from) = place
        return try EventStore.open(at: path).read { session in
            let last = try query.point?.resolve(in: session) ?? session.head
            let start = try from?.resolve(in: session) ?? (isOneLog ? session.head : .zero)
            let (low, high) = (min(start, last), max(start, last))
            guard low < high else { return [:] }
            var found: [EntityReference: [SequenceNumber]] = [:]
            try Replay.steps(of: session, in: low.next...high, options: query.replayOptions) { event, changes in
                for change in changes where wanted.contains(change.entity) {
                    found[change.entity, default: []].append(event.sequence)
                }
                return true
            }
            return found
        }
    }

    private var isOneLog: Bool {
        if case .log(let left, _, _) = first, case .log(let right, _, _) = second { left == right } else { false }
    }

    /// A log to look through, up to where, and from where.
    private typealias Place = (path: String, query: StateQuery, from: Point?)

    private var places: [Place] {
        switch (first, second) {
        case (.log(_, _, let one), .log(_, _, let other)) where isOneLog && one != other:
            return [first, second].compactMap { whole($0) }
        case (.log(_, let from, _), .log(let path, let point, let profile)):
            let query = StateQuery(point: point, profile: profile, source: source)
            return [(path, query, isOneLog ? from : .sequence(.zero))]
        default:
            return [whole(second) ?? whole(first)].compactMap { $0 }
        }
    }

    /// A log from its beginning.
    private func whole(_ state: StateReference) -> Place? {
        guard case .log(let path, let point, let profile) = state else { return nil }
        return (path, StateQuery(point: point, profile: profile, source: source), .sequence(.zero))
    }
}
