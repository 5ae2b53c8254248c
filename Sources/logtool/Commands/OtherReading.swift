import ArgumentParser
import Clients
import EventLog
import Projections
import Viewer

/// What a page shows beside the events of a log.
enum OtherReading {
    /// The same events, read otherwise or without some of them.
    case reading(StateQuery, name: String)
    case log(OtherLog, name: String)
}

/// Another log, whose events are shown beside those of a first one.
struct OtherLog {
    let store: EventStore
    let profile: Profile

    /// Writes its steps under the names of the first log's. An event of both has the same source and key; behind it, a step
    /// has all that the other log has up to there, and the last step everything.
    ///
    /// Memory: the keys of the other log.
    ///
    /// - Parameters:
    ///   - session: The first log.
    ///   - range: The events of the first log that are shown.
    ///   - chosen: Those that are steps; `nil` for all.
    /// - Throws: `Failure` with exit code 1 if the logs have no event in common.
    func write(
        beside session: borrowing ReadSession,
        _ range: ClosedRange<SequenceNumber>,
        chosen: Set<SequenceNumber>?,
        name: String,
        to line: ([UInt8]) throws -> Void
    ) throws {
        try store.read { other in
            let stops = try Self.stops(session, other, range, chosen)
            let options = StateQuery(profile: profile).replayOptions
            let steps = Steps(title: name, range: range, options: options, reading: name)
            try steps.write(of: other, at: stops, to: line)
        }
    }

    private struct Identity: Hashable {
        let source: SourceName
        let key: EventKey
    }

    private static func stops(
        _ session: borrowing ReadSession,
        _ other: borrowing ReadSession,
        _ range: ClosedRange<SequenceNumber>,
        _ chosen: Set<SequenceNumber>?
    ) throws -> [Viewer.Steps.Stop] {
        var places: [Identity: SequenceNumber] = [:]
        if other.head > .zero {
            try other.forEachEvent(in: SequenceNumber(1)...other.head) { event in
                if !event.isAct, let key = event.key {
                    places[Identity(source: event.source, key: key)] = event.sequence
                }
                return true
            }
        }
        var stops: [Viewer.Steps.Stop] = []
        // A compaction has forgotten earlier states.
        var (through, isFound) = (other.decidedAt, false)
        let start = SequenceNumber(range.lowerBound.rawValue - 1)
        try session.forEachEvent(in: SequenceNumber(1)...range.upperBound) { event in
            if event.sequence > start, stops.isEmpty { stops.append(Viewer.Steps.Stop(start, through: through)) }
            if !event.isAct, let key = event.key, let place = places[Identity(source: event.source, key: key)] {
                (through, isFound) = (max(through, place), true)
            }
            if event.sequence > start, chosen?.contains(event.sequence) ?? true {
                stops.append(Viewer.Steps.Stop(event.sequence, through: through))
            }
            return true
        }
        guard isFound else {
            throw Failure("the two logs have no event in common, by source and key", exitCode: Outcome.no)
        }
        if range.upperBound == session.head, let last = stops.popLast() {
            stops.append(Viewer.Steps.Stop(last.sequence, through: other.head))
        }
        return stops
    }
}

/// What a page shows beside the log.
struct AgainstOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Beside it: another reading, '#PROFILE', or another log, LOG[#PROFILE].",
            valueName: "state"
        ),
        completion: .directory,
        transform: Self.parse
    )
    var against: LogReference?

    @Option(
        help: ArgumentHelp("Beside it: what if these events had never arrived: 17,18.", valueName: "sequences"),
        transform: SequenceListArgument.parse
    )
    var without: Set<SequenceNumber> = []

    /// Whether nothing is shown beside the log.
    var isNone: Bool { against == nil && without.isEmpty }

    /// Whether another log is.
    var isLog: Bool { against.map { !$0.path.isEmpty } ?? false }

    func validate() throws {
        if against != nil, !without.isEmpty { throw ValidationError("--against and --without exclude each other") }
    }

    /// Refuses selectors that choose rows where another log is shown: of that, all rows are.
    func refuse(_ selectors: SelectorOptions) throws {
        guard isLog else { return }
        let names: Set = ["--source", "--channel", "--entity", "--kind"]
        try selectors.refuse(names, because: "of another log everything is shown, between --from and --to")
    }

    /// A reference without a path is of the log itself.
    private static func parse(_ text: String) throws -> LogReference {
        if text.hasPrefix("#") {
            return LogReference(path: "", profile: try ProfileArgument.parse(String(text.dropFirst())))
        }
        let reference = try LogReference.parse(text)
        if reference.point != nil {
            throw ValidationError("--against takes a log without a point; --to ends what is shown of both")
        }
        return reference
    }

    /// The second reading or log that the options name; `nil` if they name none.
    ///
    /// - Parameter without: The events to leave out, in the log that is shown.
    /// - Throws: `Failure` with exit code 1 if the log lacks an event that is to be left out; `EventLogError` with code `noLog`
    ///   if the other log does not exist.
    func other(
        beside profile: Profile,
        without: Set<SequenceNumber>,
        of store: EventStore,
        isQuiet: Bool
    ) throws -> OtherReading? {
        if let against {
            let profile = against.profile ?? (isLog ? .canonical : profile)
            guard isLog else { return .reading(StateQuery(profile: profile), name: profile.rawValue) }
            let log = OtherLog(store: try LogOptions.open(against.path, isQuiet: isQuiet), profile: profile)
            return .log(log, name: "\(profile.rawValue) of \(Directory.split(against.path).name)")
        }
        guard !without.isEmpty else { return nil }
        let query = StateQuery(profile: profile, without: without)
        try store.read { try query.checkNames(in: $0) }
        let names = without.sorted().map(\.description).joined(separator: ", ")
        return .reading(query, name: "\(profile.rawValue) without \(names)")
    }
}
