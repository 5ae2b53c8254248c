import EventLog
import Projections

/// Looks for the event that a client took wrongly: the last one that names the row in which its screen differs.
struct ObservedCause {
    private let finding: ObservedFinding
    private let entity: EntityReference
    /// The point of the last observation that agreed.
    private let start: SequenceNumber

    init(_ finding: ObservedFinding, since start: SequenceNumber) {
        (self.finding, self.start) = (finding, start)
        entity = finding.differences[0].entity
    }

    /// The event; `nil` if none up to the point names the row.
    ///
    /// Cost: decodes the events up to the point, and folds those since the last observation that agreed twice.
    func event(in store: EventStore, _ options: ReplayOptions) throws -> SequenceNumber? {
        try store.read { session in
            if let event = try event(of: session, from: start, options) { return event }
            return start > .zero ? try event(of: session, from: .zero, options) : nil
        }
    }

    private func event(
        of session: borrowing ReadSession,
        from start: SequenceNumber,
        _ options: ReplayOptions
    ) throws -> SequenceNumber? {
        guard start < finding.point else { return nil }
        var found: SequenceNumber?
        let range = start.next...finding.point
        try Replay.steps(of: session, in: range, options: options) { event, differences in
            if differences.contains(where: { $0.entity.kind == entity.kind && $0.entity.fits(entity.parts) }) {
                found = event.sequence
            }
            return true
        }
        // What a frame repeats changes nothing, and a client may show it twice.
        var mentions = EntityMentions(of: entity)
        var decoder = try ChangeDecoder(for: session)
        guard finding.point > .zero else { return found }
        try session.forEachEvent(in: SequenceNumber(1)...finding.point) { event in
            let envelope = event.envelope
            event.withPayload { payload in
                if envelope.sequence <= start { return decoder.pass(envelope, payload: payload) }
                if mentions.note(decoder.decode(envelope, payload: payload)) {
                    found = max(found ?? .zero, envelope.sequence)
                }
            }
            return true
        }
        return found
    }
}

/// Counts the events that name a row.
struct EntityMentions {
    private let entity: EntityReference
    private(set) var count = 0

    init(of entity: EntityReference) {
        self.entity = entity
    }

    /// Takes an event into account.
    ///
    /// - Returns: Whether it names the row.
    mutating func note(_ event: DecodedEvent) -> Bool {
        let names = entity.kind.sections.first.map { section in
            [section.observedScope, section.observedID].compactMap { $0 }
        }
        guard let names, entity.parts.count >= names.count else { return false }
        let ids = entity.parts.suffix(names.count)
        let wanted = Dictionary(zip(names, ids)) { first, _ in first }
        guard entity.parts.count == names.count || event.envelope.source.rawValue == entity.parts[0] else {
            return false
        }
        let isNamed = event.changes.contains { Self.names(wanted, in: $0.json, outer: [:]) }
        if isNamed { count += 1 }
        return isNamed
    }

    /// Whether a value, or one within it, has all the wanted members; a value within another has the outer ones, too.
    private static func names(_ wanted: [String: String], in value: JSONValue, outer: [String: String]) -> Bool {
        if let elements = value.array { return elements.contains { names(wanted, in: $0, outer: outer) } }
        guard let object = value.object else { return false }
        var known = outer
        for name in wanted.keys { known[name] = object[name]?.string ?? known[name] }
        return known == wanted || object.members.contains { names(wanted, in: $0.value, outer: known) }
    }
}
