import Clients
import EventLog
import TestSupport
import Testing

@testable import Projections
@testable import Reduction
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
    func everyWayToReadALogTakesLinearTime(shape: CostShape) throws {
        try check(shape, costs: Self.readingCosts)
    }

    @Test(arguments: CostShape.all)
    func everyWayToKeepALogTakesLinearTime(shape: CostShape) throws {
        try check(shape, costs: Self.keepingCosts)
    }

    private func check(_ shape: CostShape, costs: (TemporaryLog, inout Measuring) throws -> Void) throws {
        func measured(_ count: Int) throws -> Measuring {
            let drafts = try shape.drafts(count)
            var measuring = Measuring(bytes: Double(drafts.reduce(0) { $0 + $1.payload.count + 100 }))
            try costs(try TemporaryLog(drafts), &measuring)
            return measuring
        }
        let (few, many) = (try measured(Self.count), try measured(4 * Self.count))
        #expect(!many.steps.isEmpty)
        for (question, steps) in many.steps.sorted(by: { $0.key < $1.key }) {
            guard let before = few.steps[question], !shape.excepted.contains(question) else { continue }
            let growth = Double(steps) / Double(max(before, Self.stepsMin))
            #expect(
                growth < Self.excessMax * many.bytes / few.bytes,
                "\(question): \(before) steps for \(Int(few.bytes)) bytes, then \(steps) for \(Int(many.bytes))"
            )
        }
    }

    /// The steps of each question about a log of so many bytes.
    private struct Measuring {
        let bytes: Double
        private(set) var steps: [String: Int] = [:]

        init(bytes: Double) { self.bytes = bytes }

        mutating func measure(_ question: String, _ body: () throws -> Void) rethrows {
            let counter = Steps.Counter()
            try Steps.$counter.withValue(counter) { try body() }
            steps[question] = counter.count
        }

        mutating func note(_ question: String, steps count: Int) { steps[question] = count }
    }

    /// What is asked of a log's content.
    private static func readingCosts(of log: TemporaryLog, _ costs: inout Measuring) throws {
        func measure(_ question: String, _ body: () throws -> Void) rethrows { try costs.measure(question, body) }
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
            var kinds: Set<EventKind> = []
            try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                kinds.insert(event.envelope.kind)
                return true
            }
            let document = state.document()
            // All others read these events canonically.
            for profile in Profile.allCases where !profile.isVariant && !profile.rules.concerning(kinds).isEmpty {
                var options = options
                options.rules = profile.rules
                var own = LogState()
                try measure("replay --profile \(profile.rawValue)") {
                    own = try Replay.logState(of: session, options: options)
                }
                measure("profiles, \(profile.rawValue)") {
                    Steps.count(StateDiff.differences(document, own.document()).count)
                }
            }
            try measure("stats") {
                let progress = Progress("counting", isQuiet: true)
                _ = try LogStatistics(session: session, store: log.store.statistics(), progress: progress)
            }
            try measure("events") {
                try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                    let title = event.withPayload { FrameTitle.title(of: event.envelope.kind, payload: $0) }
                    Steps.count(1 + (title?.utf8.count ?? 0))
                    return true
                }
            }
            try measure("prove") {
                for sequence in [1, session.head.rawValue / 2 + 1, session.head.rawValue] {
                    let place = SequenceNumber(sequence)
                    let proof = try InclusionProof(of: place, size: session.head.rawValue, in: session)
                    Steps.count(proof.json.count / 64)
                }
            }
            let surroundings = Surroundings(in: state)
            var lines: [AuditLine] = []
            try measure("audit --prove") {
                let (basis, kinds) = (EntryProof.basisMax, entities)
                try state.forEachChange(
                    of: kinds,
                    where: { _ in true },
                    last: 6,
                    earlier: basis,
                    includes: { _ in true }
                ) { lines.append(try AuditLine($0, provedWithin: surroundings, in: session)) }
            }
        }
    }

    /// What is done with a log as a whole. None of it reads what the payloads say but `bisect`, `shrink` and `verify --deep`.
    private static func keepingCosts(of log: TemporaryLog, _ costs: inout Measuring) throws {
        func measure(_ question: String, _ body: () throws -> Void) rethrows { try costs.measure(question, body) }
        let (store, directory) = (log.store, log.directory)
        let head = try store.read { $0.head }
        var lines: [[UInt8]] = []
        try measure("export") {
            try store.read { session in try session.forEachLine { line, _ in lines.append(line) } }
        }
        try measure("import") {
            var reader = ExportReader()
            let header = try reader.header(lines[0])
            _ = try EventStore.importLog(at: directory.path("imported.eventlog"), header: header) { log in
                for line in lines.dropFirst() { try log.add(reader.piece(line)) }
            }
        }
        try measure("verify") { _ = try EventStore.verify(at: log.path) }
        try measure("verify --deep") {
            _ = try DerivedCheck.run(on: store, build: "test", client: RuleClient.self) { _, _ in }
        }
        try measure("backup") { _ = try store.backup(to: directory.path("backup.eventlog")) }
        try measure("salvage") {
            _ = try EventStore.salvage(log.path, to: directory.path("salvaged.eventlog"), now: Timestamp(seconds: 0))
        }
        try measure("bisect") {
            var search = try LogBisection(of: store)
            _ = try search.run { $0.sequence.rawValue * 3 > head.rawValue ? .bad : .good }
        }
        let clock = try store.read { try Replay.logState(of: $0).clock }
        let result = try LogShrinking(of: store, by: InterestTest { $0.clock == clock }).run()
        #expect(result.isMinimal)
        // Each test folds no more than all events.
        costs.note("shrink", steps: result.testCount * Int(head.rawValue))
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
