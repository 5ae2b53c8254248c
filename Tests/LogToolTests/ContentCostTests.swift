import Clients
import EventLog
import TestSupport
import Testing

@testable import Projections
@testable import logtool

/// What a log costs grows with its bytes, whatever they say (I34): the steps of everything that reads a log are counted for n events
/// and for four times as many. Steps are entries looked at, members made, bytes of JSON read and written.
@Suite struct ContentCostTests {
    /// How much faster the steps may grow than the bytes: the logarithm of n.
    private static let excessMax = 1.6
    private static let count = 5
    /// So few steps say nothing.
    private static let stepsMin = 500

    @Test(arguments: CostShape.all)
    func everyCommandTakesLinearTime(shape: CostShape) throws {
        let (few, many) = (try Self.costs(of: shape, Self.count), try Self.costs(of: shape, 4 * Self.count))
        for (question, steps) in many.sorted(by: { $0.key < $1.key }) {
            guard let before = few[question], !shape.excepted.contains(question) else { continue }
            let growth = Double(steps.count) / Double(max(before.count, Self.stepsMin))
            #expect(growth < Self.excessMax * steps.bytes / before.bytes, "\(question): \(before), then \(steps)")
        }
    }

    private struct Cost: CustomStringConvertible {
        let count: Int
        let bytes: Double
        var description: String { "\(count) steps for \(Int(bytes)) bytes" }
    }

    /// The steps of each question about a log of n events.
    private static func costs(of shape: CostShape, _ count: Int) throws -> [String: Cost] {
        let drafts = try shape.drafts(count)
        let bytes = Double(drafts.reduce(0) { $0 + $1.payload.count + 100 })
        let log = try TemporaryLog(drafts)
        var costs: [String: Cost] = [:]
        func measure(_ question: String, _ body: () throws -> Void) rethrows {
            let counter = Steps.Counter()
            try Steps.$counter.withValue(counter) { try body() }
            costs[question] = Cost(count: counter.count, bytes: bytes)
        }
        var options = ReplayOptions()
        options.decodesAhead = false
        try log.store.read { session in
            var first = LogState()
            var state = LogState()
            try measure("replay") { state = try Replay.logState(of: session, options: options) }
            try measure("replay --at 1") {
                first = try Replay.logState(of: session, through: SequenceNumber(1), options: options)
            }
            let entities = EntityReference.Kind.allCases.filter { $0 != .issue }
            measure("history --match") {
                state.forEachHistory { for entry in $1 { _ = JSONValue.object(entry.fields).text } }
            }
            measure("history") {
                let printer = DifferenceTexts()
                state.forEachHistory { printer.take($1) }
            }
            measure("audit") {
                state.forEachChange(of: entities, where: { _ in true }, includes: { _ in true }) { entry in
                    for side in [entry.before, entry.after] { _ = side.map { JSONValue.object($0).text } }
                }
            }
            try measure("replay --step") {
                let all = SequenceNumber(1)...session.head
                try Replay.steps(of: session, in: all, options: options) { _, differences in
                    for difference in differences { _ = StateDiff.row(of: difference).text }
                    return true
                }
            }
            measure("diff") {
                for difference in StateDiff.differences(first, state) { _ = StateDiff.row(of: difference).text }
            }
            measure("gaps") { Steps.count(state.gaps.reduce(0) { $0 + $1.gap.numbers.count + 1 }) }
            measure("rebuild") {
                for list in StateList.all {
                    state.forEachRow(of: list, asOf: state.clock ?? Timestamp(seconds: 0)) { _ = $0.text }
                }
            }
            measure("compact") {
                let retained = state.retained(by: RetentionPolicy())
                _ = retained.facts(keeping: retained.neededSequences)
                _ = retained.normalFormHash
            }
            for profile in [Profile.sidebarWeb, .retrocastWeb, .punchlistIOS, .vibechannelVSCode] {
                var options = options
                options.rules = profile.rules
                try measure("replay --profile \(profile.rawValue)") {
                    _ = try Replay.logState(of: session, options: options)
                }
            }
        }
        return costs
    }

    /// Counts the steps of the texts in which a history shows its changes.
    private final class DifferenceTexts {
        private var known = JSONObject()

        func take(_ history: [HistoryEntry]) {
            known = JSONObject()
            for entry in history {
                let before = entry.before ?? known
                for field in entry.fields.members {
                    let (old, new) = (before[field.name]?.text ?? "", field.value.text)
                    if old != new { _ = WordDiff.pieces(from: old, to: new) }
                }
                if !entry.fields.members.isEmpty { known = entry.fields }
            }
        }
    }
}
