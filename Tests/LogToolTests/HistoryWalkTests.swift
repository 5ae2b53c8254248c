import EventLog
import Foundation
import TestSupport
import Testing

@testable import Projections

/// I33: the entries of a history, walked from the first on, give what the state shows of the thing, after every event and for
/// every kind of thing; and an entry, once made, stays as it is.
///
/// `EVENTLOG_LONG_TESTS=1` tries a hundred times as many streams.
@Suite struct HistoryWalkTests {
    private static let apps = ["vibechannel", "retrocast", "punchlist", "vibestatus", "sidebar"]
    private static let factor: UInt64 = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] == nil ? 1 : 100

    @Test(arguments: apps)
    func itGivesTheStateOfEveryApp(app: String) throws {
        let lists = try EventStream.lists(of: app)
        try #require(!lists.isEmpty)
        for seed in 1...(3 * Self.factor) {
            try check(EventStream(of: lists, seed: seed, mutatingBytes: false).events, seed: seed)
        }
    }

    @Test(arguments: Scenario.all.filter { !$0.testDescription.contains("plain-traffic") })
    func itGivesTheStateOfEveryScenario(scenario: Scenario) throws {
        let directory = try TemporaryDirectory()
        let events = try EventStream.whole(of: [scenario], in: directory)[0]
        guard events.count < 400 else { return }
        try check(events, seed: 0)
    }

    /// What decoder files read, taken back and left out included.
    @Test(.needs(shared: "formats/genlib.py"), arguments: FormatStateTests.protocols)
    func itGivesTheStateOfWhatDecoderFilesRead(name: String) throws {
        let capture = try FormatCapture(of: name, seed: 5)
        let log = try FormatLog(capture.name, capture.lines, "walked")
        let decoders = try log.store.read { try Decoders(inForce: $0) }
        try check(log.store.allEvents().filter { !$0.envelope.isAct }, seed: 5, decoders)
    }

    /// Few things and many changes, out of order, doubled and after ends.
    @Test(arguments: DenseTraffic.allCases)
    func itGivesTheStateOfDenseTraffic(traffic: DenseTraffic) throws {
        for seed in 1...(3 * Self.factor) {
            try check(try traffic.events(count: 120, seed: seed), seed: seed)
        }
    }

    /// What is before a change is what was after the last one.
    @Test(arguments: DenseTraffic.allCases)
    func anAuditIsAChain(traffic: DenseTraffic) throws {
        for seed in 1...(2 * Self.factor) {
            var state = LogState()
            for event in try traffic.events(count: 150, seed: seed) { state.apply(event) }
            var known: [EntityReference: JSONObject] = [:]
            var broken: [String] = []
            state.forEachChange(
                of: EntityReference.Kind.allCases,
                where: { _ in true },
                includes: { _ in true }
            ) { change in
                var (before, after) = (change.before, change.after ?? change.before)
                // An item that only moves makes no entry.
                if change.entity.kind == .item {
                    before?["position"] = nil
                    after?["position"] = nil
                }
                if let last = known[change.entity], let before, last != before {
                    broken.append("\(change.entity) \(change.entry.sequence): \(before) is not \(last)")
                }
                // The tip that lacks a message may have had another version of it last.
                known[change.entity] = change.entry.change == "unselected" ? nil : after
            }
            #expect(broken.isEmpty, "seed \(seed)")
        }
    }

    /// What a compaction keeps has its history, late versions included.
    @Test(arguments: DenseTraffic.allCases)
    func aCompactionKeepsIt(traffic: DenseTraffic) throws {
        for seed in 1...(2 * Self.factor) {
            let events = try traffic.events(count: 120, seed: seed)
            var whole = LogState()
            for event in events { whole.apply(event) }
            let kept = whole.retained(by: RetentionPolicy(messagesPerChannel: 3))
            let needed = kept.neededSequences
            var folded = try LogState(facts: kept.facts(keeping: needed))
            for event in events where needed.contains(event.envelope.sequence.rawValue) { folded.apply(event) }
            let left = Self.histories(of: folded)
            for (entity, entries) in Self.histories(of: kept) {
                #expect(left[entity] == entries, "seed \(seed): \(entity)")
            }
        }
    }

    // MARK: - Checking

    private func check(_ events: [RecordedEvent], seed: UInt64, _ decoders: Decoders = Decoders()) throws {
        guard Self.firstFault(in: events, decoders) != nil else { return }
        let least = shrunk(events) { Self.firstFault(in: $0, decoders) != nil }
        let fault = Self.firstFault(in: least, decoders) ?? ""
        Issue.record("seed \(seed): \(fault), \(least.count) events:\n\(EventStream.description(of: least))")
    }

    /// What is wrong after the first event after which anything is; `nil` if nothing ever is.
    private static func firstFault(in events: [RecordedEvent], _ decoders: Decoders) -> String? {
        var state = LogState()
        state.use(decoders)
        var told: [EntityReference: [HistoryEntry]] = [:]
        for (index, event) in events.enumerated() {
            state.apply(event)
            // Things that the event did not touch are looked at now and then: one that it forgot to touch is found, too.
            let touched = index % 8 == 7 || index == events.count - 1 ? nil : state.touched(by: event.envelope)
            let rows = Self.rows(of: state.document())
            for (entity, entries) in histories(of: state, only: touched) {
                if let fault = fault(of: entity, entries, rows[entity]) { return "event \(index + 1): \(fault)" }
                let before = told.updateValue(entries, forKey: entity) ?? []
                if isKept(before, in: entries, of: entity) { continue }
                return "event \(index + 1): \(entity) was \(before), and is \(entries)"
            }
        }
        return nil
    }

    /// Whether the entries only grew. Of a read state there is only the last; a message that moves takes its history along, and
    /// what a branch's tip has changes with the tip.
    private static func isKept(_ before: [HistoryEntry], in entries: [HistoryEntry], of entity: EntityReference) -> Bool
    {
        if entity.kind == .read || entries.contains(where: \.isMove) { return true }
        let lasting = before.last?.bringsVersion == false ? before.dropLast() : before[...]
        return Array(entries.prefix(lasting.count)) == Array(lasting)
    }

    private static func histories(
        of state: LogState,
        only wanted: [EntityReference]? = nil
    ) -> [EntityReference: [HistoryEntry]] {
        var found: [EntityReference: [HistoryEntry]] = [:]
        if let wanted {
            for entity in wanted { found[entity] = try? state.history(of: entity) }
        } else {
            state.forEachHistory { found[$0] = $1 }
        }
        return found.filter { ![.typing, .issue].contains($0.key.kind) }
    }

    /// The rows of a document by the things that they show, each with the name of its section.
    private static func rows(of document: JSONValue) -> [EntityReference: (section: Section, row: JSONObject)] {
        var rows: [EntityReference: (section: Section, row: JSONObject)] = [:]
        for section in Section.allCases {
            guard let kind = EntityReference.Kind(section: section) else { continue }
            for row in document[section.rawValue]?.array ?? [] {
                let parts = StateList.section(section).keyMembers.compactMap { row[$0]?.string }
                rows[EntityReference(kind: kind, parts: parts)] = (section, row.object ?? JSONObject())
            }
        }
        return rows
    }

    /// What the entries of a thing tell otherwise than its row; `nil` if nothing.
    private static func fault(
        of entity: EntityReference,
        _ entries: [HistoryEntry],
        _ shown: (section: Section, row: JSONObject)?
    ) -> String? {
        var walk = HistoryWalk(entity)
        for entry in entries { walk.take(entry) }
        let isShown = shown.map { $0.section != .deletedMessages } ?? false
        if walk.isPresent != isShown { return "\(entity) \(isShown ? "is" : "is not") in the state; \(entries)" }
        guard let (section, row) = shown else { return nil }
        for (name, value) in members(of: row, in: section) {
            let known =
                name == "cause" ? entries.last { $0.isEnd(of: entity.kind) }?.fields["cause"] : walk.known?[name]
            if known != value { return "\(entity) \(name) \(value?.text ?? "-") is \(known?.text ?? "-"); \(entries)" }
        }
        return nil
    }

    /// The members of a row that its history tells.
    private static func members(of row: JSONObject, in section: Section) -> [(String, JSONValue?)] {
        switch section {
        case .messages:
            let names = [
                "author", "authorName", "createdAt", "editedAt", "content", "tags", "files", "images", "attachments",
                "extra",
            ]
            return names.map { ($0, row[$0]) } + [("replyTo", row["replyTo"]?["id"])]
        case .deletedMessages: return ["author", "createdAt", "content", "cause"].map { ($0, row[$0]) }
        // Only another status is an entry.
        case .sessions: return [("status", row["status"])]
        default:
            // An item that only moves makes no entry.
            let others = StateList.section(section).keyMembers + (section == .items ? ["position"] : [])
            return row.members.filter { !others.contains($0.name) }.map { ($0.name, $0.value) }
        }
    }
}
