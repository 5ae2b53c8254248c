import EventLog
import Projections

/// What proves an entry of a history or an audit: the proofs of its event and of the earlier events that it takes to read
/// the entry out of them, and the members that even these do not say.
struct EntryProof {
    private let own: InclusionProof
    private let basis: [InclusionProof]
    /// The names of members that the proved events contradict, as they are only some of the log's.
    private let notCovered: [String]

    /// How many events before its own an entry's proof has at most.
    static let basisMax = 8

    /// Tries ever more of the events that changed the thing before, until they say what the entry shows.
    ///
    /// Cost: a fold of at most nine events for each try, of which there are at most five.
    ///
    /// - Parameters:
    ///   - shown: the entry, without a proof.
    ///   - earlier: the events of the thing's entries before, in their order.
    init(
        of shown: JSONObject,
        of thing: EntityReference,
        at sequence: SequenceNumber,
        after earlier: [SequenceNumber],
        in session: borrowing ReadSession
    ) throws {
        let size = session.head.rawValue
        own = try InclusionProof(of: sequence, size: size, in: session)
        var best: (reading: EntryReading, basis: [SequenceNumber])?
        for count in Self.counts(upTo: min(earlier.count, Self.basisMax)) {
            let basis = Self.distinct(earlier.suffix(count), but: sequence)
            let events = try (basis + [sequence]).sorted().compactMap { try session.event(at: $0) }
            let reading = EntryReading(shown, of: thing, at: sequence, in: events)
            if best.map({ reading.isBetter(than: $0.reading) }) ?? true { best = (reading, basis) }
            if reading.differences.isEmpty, reading.uncovered.isEmpty { break }
        }
        basis = try (best?.basis ?? []).map { try InclusionProof(of: $0, size: size, in: session) }
        notCovered = best?.reading.differences.map(\.member) ?? []
    }

    /// The members that the entry gets.
    func members() throws -> JSONObject {
        [
            "proof": try own.value(),
            "basis": basis.isEmpty ? nil : .array(try basis.map { try $0.value() }),
            "notCovered": notCovered.isEmpty ? nil : .array(notCovered.map { .string($0) }),
        ]
    }

    /// How many earlier events are tried: one if there is one, then ever twice as many.
    private static func counts(upTo count: Int) -> [Int] {
        count == 0 ? [0] : [1, 2, 4].filter { $0 < count } + [count]
    }

    private static func distinct(_ sequences: ArraySlice<SequenceNumber>, but own: SequenceNumber) -> [SequenceNumber] {
        var seen: Set = [own]
        return sequences.filter { seen.insert($0).inserted }
    }
}

extension EntryProof {
    /// Compares an entry with its proved events, for a check without the log.
    static func check(_ entry: ProvedEntries.Entry) -> ProvedEntries.Finding {
        guard let shown = try? JSONValue.parse(entry.json).object else { return .fault("it is no object") }
        let name = shown["entity"]?.string ?? entry.thing
        guard let name, let thing = EntityReference(name) else { return .fault("it names no thing") }
        if let outer = entry.thing, outer != name { return .fault("it names another thing than its document") }
        var reading = EntryReading(shown, of: thing, at: entry.sequence, in: entry.events)
        reading.concede(shown["notCovered"]?.array?.compactMap(\.string) ?? [])
        return reading.fault.map { .fault($0) } ?? .fits(notCovered: reading.uncovered + entry.around)
    }
}
