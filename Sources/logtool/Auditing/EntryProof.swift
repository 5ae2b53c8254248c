import EventLog
import Projections

/// What proves an entry of a history or an audit: the proofs of its event and of the earlier events that it takes to read
/// the entry out of them, and the members that even these do not say.
struct EntryProof {
    private let own: InclusionProof
    private let basis: [InclusionProof]
    /// The names of members that the proved events contradict, as they are only some of the log's.
    private let notCovered: [String]

    /// How many events of the thing before its own an entry's proof has at most, how many of its channel and of its guild, and how
    /// many that kept what a decoder file reads in them.
    static let (basisMax, surroundingsMax, keptMax) = (8, 4, 16)

    /// Tries ever more of the events that changed the thing before, then those of its channel and guild, whose end is also
    /// the thing's, until they say what the entry shows.
    ///
    /// Cost: a fold of at most 33 events for each try, of which there are at most six; where they contradict the entry, one more
    /// for each of these events.
    ///
    /// - Parameters:
    ///   - shown: the entry, without a proof.
    ///   - earlier: the events of the thing's entries before, in their order.
    ///   - surroundings: the events of its channel and guild before.
    init(
        of shown: JSONObject,
        of thing: EntityReference,
        at sequence: SequenceNumber,
        after earlier: [SequenceNumber],
        within surroundings: Surroundings,
        in session: borrowing ReadSession
    ) throws {
        let size = session.head.rawValue
        // By what file the events are read, an act says.
        let act = try thing.parts.first.flatMap { try Decoders.act(for: $0, in: session) }
        own = try InclusionProof(of: sequence, size: size, in: session)
        var best: (reading: EntryReading, basis: [SequenceNumber])?
        for isWide in [false, true] {
            if isWide, best?.reading.differences.isEmpty == true { break }
            let bases =
                isWide
                ? [try earlier.suffix(Self.basisMax) + surroundings.events(of: thing, before: sequence, in: session)]
                : Self.counts(upTo: min(earlier.count, Self.basisMax)).map { earlier.suffix($0) }
            for base in bases {
                let kept = act == nil ? [] : try surroundings.keptEvents(readBy: base + [sequence], in: session)
                let basis = Self.distinct((act.map { [$0] } ?? []) + kept + base, but: sequence)
                let events = try (basis + [sequence]).sorted().compactMap { try session.event(at: $0) }
                let reading = EntryReading(shown, of: thing, at: sequence, in: events)
                if best.map({ reading.isBetter(than: $0.reading) }) ?? true { best = (reading, basis) }
                if reading.differences.isEmpty, reading.open.isEmpty { break }
            }
        }
        basis = try (best?.basis ?? []).map { try InclusionProof(of: $0, size: size, in: session) }
        notCovered = best?.reading.unsettled.map(\.member) ?? []
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

    private static func distinct(_ sequences: [SequenceNumber], but own: SequenceNumber) -> [SequenceNumber] {
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
        let reading = EntryReading(shown, of: thing, at: entry.sequence, in: entry.events)
        if let fault = reading.fault { return .fault(fault) }
        // What is not covered is found here. A list in the file can only be the same.
        if let claim = shown["notCovered"] {
            let open = reading.unsettled.map(\.member)
            guard let names = claim.array, names.allSatisfy({ $0.string.map(open.contains) == true }) else {
                return .fault("notCovered is \(EntryReading.text(of: claim)), and the events say these members")
            }
        }
        return .fits(notCovered: reading.open + entry.around)
    }
}
