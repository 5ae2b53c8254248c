import EventLog
import Projections

/// The test of a search for what a client showed wrongly: some observation still differs in the same way.
package struct ObservedQuestion: Sendable {
    /// The difference that must stay; the values may be others.
    let difference: ObservedDifference
    /// How long a client may take to show what it received.
    let lag: Duration

    package init(_ difference: ObservedDifference, lag: Duration) {
        (self.difference, self.lag) = (difference, lag)
    }

    /// The test with the row and its member put through `body`.
    func naming(_ body: (String, TextPlace) -> String) -> ObservedQuestion {
        let entity = difference.entity
        // The table of a row stands before its id.
        let table = entity.kind == .row ? entity.parts.count - 2 : -1
        let parts = entity.parts.enumerated().map { body($1, $0 == table ? .topic : .text) }
        var what = difference.what
        if case .member(let name, let shown, let state) = what {
            what = .member(body(name, .name), shown: shown, state: state)
        }
        let row = EntityReference(kind: entity.kind, parts: parts)
        return ObservedQuestion(ObservedDifference(entity: row, what: what), lag: lag)
    }

    /// The answer for a log of just these events.
    ///
    /// A row that was shown twice must also be named by two events: with one alone the repeat that the client showed would be lost.
    func holds(for candidate: Candidate, from start: LogState) throws -> Bool {
        var events = CandidateEvents(candidate, from: start)
        var comparer = SightingComparer()
        for sighting in try Sightings(of: events, lag: lag.microseconds).all {
            guard case .differs(let finding) = try comparer.compare(sighting, in: &events),
                finding.differences.contains(where: difference.isAlike)
            else { continue }
            guard difference.name == "repeated" else { return true }
            return events.mentions(of: difference.entity, through: finding.point) > 1
        }
        return false
    }
}

/// The events of a candidate, with the sequences that its log would give them.
private struct CandidateEvents: ObservedEvents {
    private let candidate: Candidate
    /// The greatest time up to each event, inclusive.
    private let clocks: [Timestamp]
    private let start: LogState
    private var base: LogState

    init(_ candidate: Candidate, from start: LogState) {
        (self.candidate, self.start, base) = (candidate, start, start)
        var clock = Timestamp(microseconds: .min)
        clocks = candidate.events.map { event in
            clock = max(clock, event.draft.recordedAt)
            return clock
        }
    }

    var last: SequenceNumber { SequenceNumber(UInt64(candidate.events.count)) }

    var decoders: Decoders { start.decoders }

    private func envelope(_ index: Int) -> Envelope {
        let draft = candidate.events[index].draft
        return Envelope(
            sequence: SequenceNumber(UInt64(index) + 1),
            recordedAt: draft.recordedAt,
            source: draft.source,
            kind: draft.kind,
            key: draft.key,
            attributes: draft.attributes
        )
    }

    func forEachEvent(_ body: (_ event: Envelope, _ payload: () -> [UInt8]) throws -> Void) throws {
        for index in candidate.events.indices { try body(envelope(index)) { candidate.events[index].draft.payload } }
    }

    func lastSequence(clockAtMost time: Timestamp) -> SequenceNumber {
        // The clock never falls, so the prefix is found by halving.
        var (low, high) = (0, clocks.count)
        while low < high {
            let middle = low + (high - low) / 2
            if clocks[middle] <= time { low = middle + 1 } else { high = middle }
        }
        return SequenceNumber(UInt64(low))
    }

    func state(at point: SequenceNumber) -> LogState {
        var state = base.sequence <= point ? base : start
        let range = Int(state.sequence.rawValue)..<Int(point.rawValue)
        state.apply(candidate.events[range].lazy.map(\.draft))
        return state
    }

    mutating func begin(from state: LogState) { base = state }

    /// How many events up to a point name a row.
    func mentions(of entity: EntityReference, through point: SequenceNumber) -> Int {
        var mentions = EntityMentions(of: entity)
        var decoder = ChangeDecoder(readingAs: start)
        for index in 0..<Int(point.rawValue) {
            let envelope = envelope(index)
            let event = candidate.events[index].draft.payload.withUnsafeBytes { decoder.decode(envelope, payload: $0) }
            _ = mentions.note(event)
        }
        return mentions.count
    }
}
