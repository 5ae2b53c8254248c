import EventLog
import Foundation
import Projections
import TestSupport
import Testing

/// Compactions by random policies, of logs of every app: each leaves what the policy retains of the state, goes on as that
/// does, and has nothing left to drop. `CompactionModelTests` says what a policy must retain.
///
/// `POLICY_SEEDS=1-100` tries other seeds.
@Suite struct PolicyCompactionTests {
    private static let seeds: ClosedRange<UInt64> = {
        let bounds = ProcessInfo.processInfo.environment["POLICY_SEEDS"]?.split(separator: "-").compactMap {
            UInt64($0)
        }
        guard let bounds, bounds.count == 2, bounds[0] <= bounds[1] else { return 1...6 }
        return bounds[0]...bounds[1]
    }()

    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    @Test(arguments: DenseTraffic.allCases, seeds)
    func denseTrafficGoesOnAsItsRetainedState(traffic: DenseTraffic, seed: UInt64) throws {
        let events = try traffic.events(count: 90, seed: seed)
        let store = try RedactionTests.log(of: Array(events.prefix(60)), in: folder)
        try check(store, seed) {
            _ = try store.append(events.dropFirst(60).map { DraftEvent(again: $0) })
        }
    }

    @Test(.needs(shared: "formats/genlib.py"), arguments: FormatStateTests.protocols)
    func anyAppGoesOnAsItsRetainedState(name: String) throws {
        let capture = try FormatCapture(of: name, seed: 6)
        let log = try FormatLog(capture.name, capture.lines, "policy", capture.lines.count / 2)
        try check(log.store, UInt64(name.utf8.count)) { try log.ingest(capture.lines) }
    }

    /// Compacts a log twice by one policy, and once more by another one after more events have come.
    private func check(_ store: EventStore, _ seed: UInt64, _ goOn: () throws -> Void) throws {
        var random = SeededGenerator(seed: seed)
        for round in 0..<2 {
            var state = try RedactionTests.state(of: store)
            let policy = try Self.policy(of: state.document(), &random)
            var retained = state.retained(by: policy)
            let summary = try Compaction.run(store, policy: policy, now: Timestamp(seconds: 1_900_000_000))
            // A log that needs all its events is left alone.
            if summary.events.after == summary.events.before { retained = state }
            var found = try RedactionTests.state(of: store)
            let differences = StateDiff.differences(retained, found)
            #expect(differences.isEmpty, "seed \(seed), round \(round): \(differences.prefix(3)) by \(policy.json)")
            #expect(found.digest() == retained.digest(), "seed \(seed), round \(round)")
            let again = try Compaction.run(store, policy: policy, now: Timestamp(seconds: 1_900_000_001))
            #expect(again.events.before == again.events.after, "seed \(seed), round \(round): \(policy.json)")
            #expect(try store.verify().isIntact)
            guard round == 0 else { return }
            let head = try store.read { $0.head }
            try goOn()
            for event in try store.allEvents() where event.envelope.sequence > head { retained.apply(event) }
            found = try RedactionTests.state(of: store)
            #expect(found.digest() == retained.digest(), "seed \(seed): later events, by \(policy.json)")
        }
    }

    /// A random policy for a state, from the document of which pins and channels are taken.
    static func policy(of document: JSONValue, _ random: inout SeededGenerator) throws -> RetentionPolicy {
        func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        func rule() -> RetentionPolicy.Rule {
            RetentionPolicy.Rule(
                keep: pick(0...2) == 0 ? nil : pick(0...6),
                keepWithin: pick(0...2) > 0 ? nil : .seconds(pick(0...40)),
                deleted: pick(0...2) > 0 ? nil : pick(0...3)
            )
        }
        var policy = RetentionPolicy(messagesPerChannel: pick(0...6), keepsParents: pick(0...2) > 0)
        policy.rule = rule().within(policy.rule)
        let rows = ["messages", "deletedMessages"].flatMap { document[$0]?.array ?? [] }
        let names = rows.compactMap { row -> [String]? in
            let parts = ["source", "channel", "id"].compactMap { row[$0]?.string }
            return parts.count == 3 ? parts : nil
        }
        guard !names.isEmpty else { return policy }
        for _ in 0..<pick(0...3) {
            policy.pins.insert(EntityReference(kind: .message, parts: names[pick(0...names.count - 1)]))
        }
        for _ in 0..<pick(0...2) {
            let name = names[pick(0...names.count - 1)]
            let channel = pick(0...2) == 0 ? nil : name[1]
            policy[RetentionPolicy.Place(source: try SourceName(name[0]), channel: channel)] = rule()
        }
        if pick(0...5) == 0 {
            policy.pins.insert(EntityReference(kind: .channel, parts: Array(names[0].prefix(2))))
        }
        return policy
    }
}
