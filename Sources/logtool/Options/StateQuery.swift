import Clients
import EventLog
import Projections

/// A command's query for a state: up to which point, in whose reading, which part. It opens nothing and resolves
/// nothing; names are checked against a session by `checkNames`.
///
/// Equal queries of one log at one head give equal states, whether or not states beside the log are used (I19).
struct StateQuery: Sendable {
    /// The last event of the state; `nil` for the head.
    var point: Point?
    var profile = Profile.canonical
    /// The rules to read by, instead of the profile's.
    var rules: [ReadingRule]?
    /// When things that pass with time are judged; `nil` for the log's clock.
    var asOf: Timestamp?
    /// The sections of the document; `nil` for all. The fold is always whole.
    var sections: Set<Section>?
    /// The source whose events are folded; `nil` for all.
    var source: SourceName?
    /// Events that are left out, as if they had never arrived.
    var without: Set<SequenceNumber> = []
    /// True answers a point before the last compaction from the events that are left; false refuses it.
    var retained = false
    /// False neither uses nor keeps states beside the log.
    var usesKeptStates = true
    /// True checks each event against its leaf hash before it is folded.
    var checks = false

    /// Which events are folded, and how.
    var replayOptions: ReplayOptions {
        var options = ReplayOptions()
        options.profile = profile
        if let rules { options.rules = ReadingRules(rules) }
        options.sources = source.map { [$0] }
        options.without = without
        options.retained = retained
        options.checks = checks
        // The build names the states: another build cannot read them.
        options.keeping = usesKeptStates ? KeptStateOptions(build: ProgramIdentity.build) : nil
        return options
    }

    /// A dropped event cannot be left out, because its effect may be in what the compaction kept.
    ///
    /// - Throws: `Failure` with exit code 1 if the log has no such source, or lacks an event of `without`.
    func checkNames(in session: borrowing ReadSession) throws {
        if let source { try KnownNames(session).check(source: source) }
        for sequence in without.sorted() {
            let isThere = sequence <= session.head && sequence > .zero
            if isThere, try session.holding(at: sequence) != .dropped { continue }
            let reason =
                isThere ? "was dropped by a compaction" : "is not there: the log has sequences 1 to \(session.head)"
            throw Failure("--without \(sequence): the event \(reason)", exitCode: Outcome.no)
        }
    }

    /// The options of the state document. With rules of the user's own, the document's `profile` names them.
    var documentOptions: DocumentOptions {
        var options = DocumentOptions()
        options.asOf = asOf
        options.sections = sections
        options.profile = profile
        if let rules { options.reading = rules.map { "\($0)" }.joined(separator: ",") }
        return options
    }
}
