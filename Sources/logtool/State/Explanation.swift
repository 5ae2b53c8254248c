import EventLog
import Projections

/// Finds the events that caused the differences between two states. Opens the logs itself, so it is for `diff
/// --explain` alone.
///
/// "Responsible" is every event that changed a row, also one whose change was undone later: which of them matters is
/// for people to say.
struct Explanation {
    let first: StateReference
    let second: StateReference
    let source: SourceName?
    let decoders: DecoderOptions
    let archives: ArchiveOptions

    /// The causing sequences for each thing that differs, ascending.
    ///
    /// For two points of one log, these are the events between them that changed the thing; for two readings of one
    /// log, those that changed it in either. Otherwise they are all events of the second state's log that changed it,
    /// or of the first's if the second is no log.
    ///
    /// Cost: folds each log once, and compares states at each event.
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

    /// The sequences in one log, each thing's ascending.
    private func responsible(for wanted: Set<EntityReference>, in place: Place) throws
        -> [EntityReference: [SequenceNumber]]
    {
        let (path, query, from) = place
        return try decoders.used(
            in: archives.opened(path, isQuiet: true, passesOthers: true, tellsOfPart: false),
            isQuiet: true
        ).read { session in
            let last = try query.point?.resolve(in: session) ?? session.head
            let start = try from?.resolve(in: session) ?? (isOneLog ? session.head : .zero)
            // Either point may be the later one. Two equal points have no events between them.
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

    /// True if both states are of one log, by its path as written.
    private var isOneLog: Bool {
        if case .log(let left, _, _) = first, case .log(let right, _, _) = second { left == right } else { false }
    }

    /// A log to search, with the point to end at and the point to begin after; `nil` is the head.
    private typealias Place = (path: String, query: StateQuery, from: Point?)

    /// The logs to search. Two points of one log need one search, two readings of one log two.
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

    /// A log's events from the first up to its point; `nil` for a document.
    private func whole(_ state: StateReference) -> Place? {
        guard case .log(let path, let point, let profile) = state else { return nil }
        return (path, StateQuery(point: point, profile: profile, source: source), .sequence(.zero))
    }
}
