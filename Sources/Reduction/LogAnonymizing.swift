public import EventLog
import Projections

/// Makes a log of the same shape in which nothing says whose log it was.
///
/// The events are held in memory as a whole. Acts are left out, and so is what compactions dropped.
///
/// ```swift
/// let result = try LogAnonymizing(of: log).run()
/// try result.write(to: "shown.eventlog")
/// ```
public struct LogAnonymizing {
    private let events: [CandidateEvent]
    private let decoders: Decoders

    /// Reads the events of a log.
    ///
    /// - Throws: `EventLogError` with code `damaged` for an event that is not as it was appended; `EngineError` with code `no`
    ///   for a log of which a registered decoder reads a source, or a file that this program cannot read.
    public init(of store: EventStore) throws {
        let (whole, decoders) = try store.read { (try Candidate.whole(of: $0), try Decoders(inForce: $0)) }
        events = whole.events
        self.decoders = decoders
        try Anonymizer.refuse(decoders, of: events, "anonymize")
    }

    /// Replaces texts until the shape is the same: order and kinds of the events, the times between them, rows of each
    /// source, threads, gaps, and how much each client reads otherwise.
    ///
    /// Cost: folds of the whole log, one for each profile, for the log and for each attempt.
    ///
    /// - Throws: `EngineError` with code `no` if no attempt keeps the shape.
    public func run() throws -> AnonymizedLog { try run { _ in } }

    /// Replaces as `run`.
    ///
    /// - Parameter report: Called before each step, with what it does.
    package func run(_ report: @escaping (String) -> Void) throws -> AnonymizedLog {
        report("reading the shape")
        let shape = LogShape(of: events, decoders: decoders)
        var differences: [String] = []
        let demand = Anonymizer.Demand(decoders: decoders) { replaced, substitutes in
            report("comparing the shapes")
            let renamed = substitutes.renamed(decoders)
            let found = LogShape(of: replaced, decoders: renamed).differences(from: shape)
            if differences.isEmpty { differences = found }
            return found.isEmpty
        }
        guard let result = try Anonymizer.run(events, demand) else {
            let reason =
                differences.isEmpty ? "replaced words would stay" : "\(differences.joined(separator: ", ")) change"
            throw EngineError("anonymize: whatever is replaced, \(reason); nothing was written", code: .no)
        }
        return AnonymizedLog(result: result, shape: shape, decoders: result.substitutes.renamed(decoders))
    }
}

/// Events whose texts were replaced, with the shape that they share with those of the log.
public struct AnonymizedLog: Sendable {
    package let result: Anonymizer.Result
    let shape: LogShape
    /// The decoder files of the renamed sources.
    let decoders: Decoders

    /// The events, in the order of the log.
    public var events: [DraftEvent] { result.events.map(\.draft) }

    /// How many events, sources, channels with messages, gaps and profiles were found alike, by those names, and rows of each
    /// part of the state.
    package var counts: [(name: String, count: Int)] {
        var rows: [(String, Int)] = []
        for section in Section.allCases {
            let count = shape.rows.filter { $0.key.hasSuffix(" \(section.rawValue)") }.values.reduce(0, +)
            if count > 0 { rows.append((section.rawValue, count)) }
        }
        return [("events", events.count), ("sources", shape.sourceCount)] + rows
            + [
                ("threads", shape.channelCount), ("gaps", shape.gaps.values.reduce(0, +)),
                ("profiles", Set(shape.profiles.keys.compactMap { $0.split(separator: " ").first }).count),
            ]
    }

    /// Makes a log of the events, with new sequences.
    ///
    /// - Throws: as `ShrinkResult.write`.
    public func write(to path: String) throws { try NewLog.write(events, decoders, to: path) }
}
