public import EventLog
import JSON
public import Projections

/// Part of a log as steps: a state, and for each event behind it what the event changed. The format `eventlog.steps/1` of
/// `docs/steps.md`, which the page of a report reads.
public struct Steps {
    /// The name and version of the format.
    public static let format = "eventlog.steps/1"

    /// The first and the last event that is a step.
    public let range: ClosedRange<SequenceNumber>
    /// What the page calls the log.
    public let title: String
    private let options: ReplayOptions
    private let reading: String

    /// - Parameters:
    ///   - title: What the page calls the log.
    ///   - range: The first and the last event that is a step. The state before them is the first line.
    ///   - reading: The name of the profile that `options` read by.
    public init(
        title: String,
        range: ClosedRange<SequenceNumber>,
        options: ReplayOptions = ReplayOptions(),
        reading: String = "canonical"
    ) {
        (self.title, self.range, self.options, self.reading) = (title, range, options, reading)
    }

    /// A step that has the name of an event of another log, beside which a page shows this one.
    package struct Stop: Sendable {
        /// The name of the step.
        package let sequence: SequenceNumber
        /// The last event of this log that is in the state behind the step.
        package let through: SequenceNumber

        package init(_ sequence: SequenceNumber, through: SequenceNumber) {
            (self.sequence, self.through) = (sequence, through)
        }
    }

    /// Writes the lines of the format, each with its LF. An event that the options leave out is a step that changes nothing.
    ///
    /// Cost: as `Replay.steps`, twice if only the rows of some events are shown. Memory: two states, and one line.
    ///
    /// - Parameters:
    ///   - chosen: The events that are steps; `nil` for all. A step has what changed since the step before.
    ///   - isNarrow: Whether only the rows are shown that the chosen events change.
    ///   - progress: Called now and then with the last event folded.
    /// - Throws: as `Replay.logState`, for the point before the range; what `write` throws.
    public func write(
        of session: borrowing ReadSession,
        chosen: Set<SequenceNumber>? = nil,
        isNarrow: Bool = false,
        progress: ((SequenceNumber) -> Void)? = nil,
        to write: ([UInt8]) throws -> Void
    ) throws {
        let start = SequenceNumber(max(range.lowerBound.rawValue, 1) - 1)
        let before = try Replay.logState(of: session, through: start, options: options, progress: progress)
        var shown: Set<EntityReference>?
        if isNarrow, let chosen {
            var entities: Set<EntityReference> = []
            try Replay.steps(from: before, over: session, through: range.upperBound, options: options) {
                if chosen.contains($0.sequence) { entities.formUnion($1.map(\.entity)) }
                return true
            }
            shown = entities
        }
        let left = options.without.filter { range.contains($0) && chosen?.contains($0) ?? true }
        var walk = StepWriter(shown: shown, stops: left.sorted().map { Stop($0, through: $0) })
        try write(line(header(of: session)))
        try walk.begin(start, before, to: write)
        var last = range.upperBound
        while options.without.contains(last), last > start { last = SequenceNumber(last.rawValue - 1) }
        var gaps = before.gaps
        try Replay.steps(from: before, over: session, through: last, options: options) { event, differences, after in
            try walk.take(event.sequence, differences, after, to: write)
            if event.sequence == last { gaps = after.gaps }
            guard chosen?.contains(event.sequence) ?? true else { return true }
            try walk.end(event.sequence, to: write)
            progress?(event.sequence)
            return true
        }
        try walk.endAll(to: write)
        try write(line(ending(of: session, gaps: gaps)))
    }

    /// The members of the last line: gaps, and the connections that the events up to the last step name.
    func ending(
        of session: borrowing ReadSession,
        gaps: [(source: SourceName, gap: Gap)]
    ) throws -> JSONObject {
        var links = ConnectionLinks()
        try session.forEachEvent(in: SequenceNumber(1)...range.upperBound) { event in
            links.take(event)
            return true
        }
        return ["gaps": .array(gaps.map { Self.json($0.source, $0.gap) }), "connections": links.json]
    }

    /// Writes the steps of this log under the names of another one's, without gaps. The range of the steps counts for the header
    /// alone.
    ///
    /// - Parameter stops: The state before the first step, then the steps, with `through` ascending.
    /// - Throws: as `write(of:)`.
    package func write(
        of session: borrowing ReadSession,
        at stops: [Stop],
        to write: ([UInt8]) throws -> Void
    ) throws {
        guard let first = stops.first, let last = stops.last else { return }
        let before = try Replay.logState(of: session, through: first.through, options: options)
        var walk = StepWriter(shown: nil, stops: Array(stops.dropFirst()))
        try write(line(header(of: session)))
        try walk.begin(first.sequence, before, to: write)
        try Replay.steps(from: before, over: session, through: last.through, options: options) {
            event,
            differences,
            after in
            try walk.take(event.sequence, differences, after, to: write)
            return true
        }
        try walk.endAll(to: write)
    }

    private static func json(_ source: SourceName, _ gap: Gap) -> JSONValue {
        .object([
            "source": .string(source.rawValue), "topic": gap.topic.map { .string($0) },
            "from": .string(gap.from.description), "to": gap.to.map { .string($0.description) },
            "reason": .string(gap.reason),
        ])
    }

    func header(of session: borrowing ReadSession) throws -> JSONObject {
        [
            "format": .string(Self.format), "title": .string(title), "profile": .string(reading),
            "from": .string(range.lowerBound.description), "to": .string(range.upperBound.description),
            "size": .string(session.head.description),
            "root": .string(try session.root(size: session.head.rawValue).hex),
        ]
    }

    /// One line: the event, what changed, and the places of the live messages among it in their channels.
    static func step(
        _ sequence: SequenceNumber,
        _ differences: [StateDifference],
        orders known: [EntityReference: String]
    ) -> JSONObject {
        var orders = JSONObject()
        for difference in differences {
            if let order = known[difference.entity] { orders[difference.entity.description] = .string(order) }
        }
        var members: JSONObject = [
            "sequence": .string(sequence.description),
            "changes": .array(differences.map { StateDiff.row(of: $0) }),
        ]
        if !orders.members.isEmpty { members["orders"] = .object(orders) }
        return members
    }

    private func line(_ members: JSONObject) -> [UInt8] { Self.line(members) }

    /// A line with its LF.
    package static func line(_ members: JSONObject) -> [UInt8] { Array(JSONValue.object(members).text.utf8) + [0x0A] }
}

/// Collects what events change until a step ends, and writes the step.
private struct StepWriter {
    /// The things whose rows are shown; `nil` for all.
    let shown: Set<EntityReference>?
    /// Steps that end with the last event that is not behind them, ascending.
    var stops: ArraySlice<Steps.Stop>
    private var passed: [StateDifference] = []
    private var orders: [EntityReference: String] = [:]

    init(shown: Set<EntityReference>?, stops: [Steps.Stop]) { (self.shown, self.stops) = (shown, stops[...]) }

    /// Writes the state before the first step.
    mutating func begin(
        _ sequence: SequenceNumber,
        _ state: borrowing LogState,
        to write: ([UInt8]) throws -> Void
    ) throws {
        add(StateDiff.differences(LogState(), state), state)
        try end(sequence, to: write)
    }

    /// Takes what an event changed, behind the steps that end before it.
    mutating func take(
        _ sequence: SequenceNumber,
        _ differences: [StateDifference],
        _ after: borrowing LogState,
        to write: ([UInt8]) throws -> Void
    ) throws {
        while let stop = stops.first, stop.through < sequence {
            stops.removeFirst()
            try end(stop.sequence, to: write)
        }
        add(differences, after)
    }

    /// Writes a step with all that was taken since the last one.
    mutating func end(_ sequence: SequenceNumber, to write: ([UInt8]) throws -> Void) throws {
        try write(Steps.line(Steps.step(sequence, passed, orders: orders)))
        (passed, orders) = ([], [:])
    }

    /// Writes the steps behind the last event.
    mutating func endAll(to write: ([UInt8]) throws -> Void) throws {
        for stop in stops { try end(stop.sequence, to: write) }
        stops = []
    }

    /// A message has the place that it has behind its last change.
    private mutating func add(_ differences: [StateDifference], _ state: borrowing LogState) {
        for difference in differences where shown?.contains(difference.entity) ?? true {
            passed.append(difference)
            if difference.entity.kind == .message {
                orders[difference.entity] = state.order(of: difference.entity)
            }
        }
    }
}
