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

    /// Writes the lines of the format, each with its LF.
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
        func isShown(_ difference: StateDifference) -> Bool { shown?.contains(difference.entity) ?? true }
        try write(line(header(of: session)))
        try write(line(Self.step(start, StateDiff.differences(LogState(), before).filter(isShown), before)))
        var passed: [StateDifference] = []
        var gaps: [(source: SourceName, gap: Gap)] = []
        try Replay.steps(from: before, over: session, through: range.upperBound, options: options) {
            event,
            differences,
            after in
            passed += differences.filter(isShown)
            if event.sequence == range.upperBound { gaps = after.gaps }
            guard chosen?.contains(event.sequence) ?? true else { return true }
            try write(line(Self.step(event.sequence, passed, after)))
            passed = []
            progress?(event.sequence)
            return true
        }
        try write(line(["gaps": .array(gaps.map { Self.json($0.source, $0.gap) })]))
    }

    private static func json(_ source: SourceName, _ gap: Gap) -> JSONValue {
        .object([
            "source": .string(source.rawValue), "topic": gap.topic.map { .string($0) },
            "from": .string(gap.from.description), "to": gap.to.map { .string($0.description) },
            "reason": .string(gap.reason),
        ])
    }

    private func header(of session: borrowing ReadSession) throws -> JSONObject {
        [
            "format": .string(Self.format), "title": .string(title), "profile": .string(reading),
            "from": .string(range.lowerBound.description), "to": .string(range.upperBound.description),
            "size": .string(session.head.description),
            "root": .string(try session.root(size: session.head.rawValue).hex),
        ]
    }

    /// One line: the event, what changed, and the places of the live messages among it in their channels.
    private static func step(
        _ sequence: SequenceNumber,
        _ differences: [StateDifference],
        _ after: borrowing LogState
    ) -> JSONObject {
        var orders: [EntityReference: String] = [:]
        for difference in differences where difference.entity.kind == .message {
            if let order = after.order(of: difference.entity) { orders[difference.entity] = order }
        }
        return step(sequence, differences, orders: orders)
    }

    /// The same with orders that are known.
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
