import EventLog
import Projections

/// A command's query for a state: up to which point, in whose reading, which part.
struct StateQuery: Sendable {
    var point: Point?
    var profile = Profile.canonical
    /// The rules to read by, instead of the profile's.
    var rules: [ReadingRule]?
    var asOf: Timestamp?
    var sections: Set<Section>?
    var source: SourceName?
    var without: Set<SequenceNumber> = []
    /// Whether a point before the last compaction is answered from the events that are left.
    var retained = false
    /// Whether to use and keep states beside the log.
    var usesSnapshots = true
    /// Whether each event is checked before it is folded.
    var checks = false

    /// Which events are folded.
    var replayOptions: ReplayOptions {
        var options = ReplayOptions()
        options.profile = profile
        if let rules { options.rules = ReadingRules(rules) }
        options.sources = source.map { [$0] }
        options.without = without
        options.retained = retained
        options.checks = checks
        options.snapshots = usesSnapshots ? SnapshotOptions(build: ProgramIdentity.build) : nil
        return options
    }

    /// - Throws: `Failure` with exit code 1 if the log has no such source, or lacks an event of `without`.
    func checkNames(in session: borrowing ReadSession) throws {
        if let source { try KnownNames(session).check(source: source) }
        for sequence in without.sorted() {
            let isThere = sequence <= session.head && sequence > .zero
            if isThere, try session.holding(at: sequence) != .dropped { continue }
            let reason =
                isThere ? "was dropped by a compaction" : "is not there: the log has sequences 1 to \(session.head)"
            throw Failure("replay: --without \(sequence): the event \(reason)", exitCode: Outcome.no)
        }
    }

    /// The options of the state document.
    var documentOptions: DocumentOptions {
        var options = DocumentOptions()
        options.asOf = asOf
        options.sections = sections
        options.profile = profile
        options.reading = rules.map { $0.map { "\($0)" }.joined(separator: ",") }
        return options
    }
}
