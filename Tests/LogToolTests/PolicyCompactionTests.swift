import EventLog
import Foundation
import Projections
import TestSupport
import Testing

/// Compactions by random policies, of logs of every app: each leaves what the policy retains of the state, goes on as that
/// does, and has nothing left to drop. `RetainedRows` says what a policy must retain, `CompactionModelTests` how it goes on.
///
/// `POLICY_SEEDS=1-100` tries other seeds.
@Suite struct PolicyCompactionTests {
    private static let seeds: ClosedRange<UInt64> = {
        let bounds = ProcessInfo.processInfo.environment["POLICY_SEEDS"]?.split(separator: "-").compactMap {
            UInt64($0)
        }
        guard let bounds, bounds.count == 2, bounds[0] <= bounds[1] else { return isLong ? 1...200 : 1...4 }
        return bounds[0]...bounds[1]
    }()
    private static let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil

    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    @Test(arguments: DenseTraffic.allCases, seeds)
    func denseTrafficGoesOnAsItsRetainedState(traffic: DenseTraffic, seed: UInt64) throws {
        let events = try traffic.events(count: 90, seed: seed)
        let store = try RedactionTests.log(of: Array(events.prefix(60)), in: folder)
        let order: RetainedRows.Order =
            switch traffic {
            case .gateway, .rows: .id
            case .conversations: .place
            case .branches: .creation
            }
        try check(store, seed, order) {
            _ = try store.append(events.dropFirst(60).map { DraftEvent(again: $0) })
        }
    }

    @Test(arguments: ["retrocast", "vibechannel", "punchlist", "vibestatus", "sidebar"], seeds)
    func anAppsDayGoesOnAsItsRetainedState(app: String, seed: UInt64) throws {
        var traffic = try NormalTraffic("\(app)-normal", around: [], seed: seed)
        let time = Timestamp(seconds: 1_772_366_400)
        let store = try EventStore.openOrCreate(at: folder.path("L"))
        _ = try store.append(try traffic.drafts(150, around: time, before: true))
        let order: RetainedRows.Order = app == "vibechannel" ? .creation : app == "sidebar" ? .place : .id
        try check(store, seed, order) { _ = try store.append(try traffic.drafts(60, around: time, before: false)) }
    }

    @Test(.needs(shared: "formats/genlib.py"), arguments: FormatStateTests.protocols, isLong ? 1...20 : 6...6)
    func anyAppGoesOnAsItsRetainedState(name: String, seed: Int) throws {
        let capture = try FormatCapture(of: name, seed: seed)
        let log = try FormatLog(capture.name, capture.lines, "policy", capture.lines.count / 2)
        let file = PackageRoot.url.appending(path: "Fixtures/decoders/\(capture.name).decoder.yaml")
        let text = try String(contentsOf: file, encoding: .utf8)
        let word = text.split(separator: "\n").first { $0.hasPrefix("order: ") }?.dropFirst("order: ".count)
        let order = word.flatMap { RetainedRows.Order(rawValue: String($0)) } ?? .id
        try check(log.store, UInt64(name.utf8.count + 100 * seed), order) { try log.ingest(capture.lines) }
    }

    /// An edit waits for a message that was taken back before; that it was is told again. The first telling must stay.
    @Test func aMessageTakenBackTwiceIsNotWaitedForAnew() throws {
        let file = """
            decoder: told-twice/1
            rules:
            - {when: {/m: present}, make: message, at: {channel: {text: c}, id: /m}, own: /m, with: {content: /t}, needs: []}
            - when: {/e: present}
              edit: message
              at: {channel: {text: c}, id: /e}
              own: /o
              with: {content: /t, version: {time: /v}}
              changes: [content]
            - {when: {/r: present}, retract: event, at: {id: /r}}
            samples:
            - {payload: '{"m":"1","t":"x"}', gives: '[{"message":{"channel":"c","id":"1","content":"x"}}]'}
            """
        let edit = #"{"e":"1","o":"2","t":"b","v":"2026-01-01T00:00:00Z"}"#
        let others = (10...15).map { #"{"m":"\#($0)","t":"n"}"# }
        let payloads = [#"{"m":"1","t":"a"}"#, #"{"r":"1"}"#, edit, #"{"r":"1"}"#] + others
        let lines = payloads.enumerated().map { index, payload in
            JSONValue.object(["t_ms": .int(1_767_225_600_000 + index), "dir": .string("in"), "raw": .string(payload)])
                .text
        }
        let log = try FormatLog(file: file, lines, "twice")
        // Its folder goes with it.
        defer { withExtendedLifetime(log) {} }
        var policy = RetentionPolicy(messagesPerChannel: 1)
        policy.rule.deleted = 0
        let summary = try Compaction.run(log.store, policy: policy, now: Timestamp(seconds: 1_900_000_000))
        #expect(summary.events.after == 4)
    }

    /// Compacts a log twice by one policy, and once more by another one after more events have come.
    private func check(_ store: EventStore, _ seed: UInt64, _ order: RetainedRows.Order, _ goOn: () throws -> Void)
        throws
    {
        var random = SeededGenerator(seed: seed)
        for round in 0..<2 {
            var state = try RedactionTests.state(of: store)
            let events = try store.allEvents()
            let clock = events.last { !$0.envelope.isAct }?.envelope.recordedAt ?? Timestamp(seconds: 0)
            let policy = try Self.policy(of: state.document(), at: clock, &random)
            var retained = state.retained(by: policy)
            let rows = try RetainedRows(state, by: policy, clock: clock, order: order)
            let summary = try Compaction.run(store, policy: policy, now: Timestamp(seconds: 1_900_000_000))
            // A log that needs all its events is left alone.
            if summary.events.after == summary.events.before { retained = state }
            var found = try RedactionTests.state(of: store)
            if summary.events.after < summary.events.before {
                let difference = rows.difference(from: found.document())
                #expect(difference == nil, "seed \(seed), round \(round): \(difference ?? "") by \(policy.json)")
            }
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

    /// A random policy for a state, from the document of which pins, channels and ages are taken.
    static func policy(
        of document: JSONValue,
        at clock: Timestamp,
        _ random: inout SeededGenerator
    ) throws -> RetentionPolicy {
        func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        let created = (document["messages"]?.array ?? []).map {
            $0["createdAt"]?.string.flatMap { Timestamp(rfc3339: $0) }
        }
        // A message without a time of creation would be as old as its first event, which no row tells.
        let ages = created.contains(nil) ? [] : created.compactMap { $0 }.map { max(0, clock.seconds - $0.seconds) }
        func rule() -> RetentionPolicy.Rule {
            RetentionPolicy.Rule(
                keep: pick(0...2) == 0 ? nil : pick(0...6),
                keepWithin: pick(0...2) > 0 || ages.isEmpty ? nil : .seconds(ages[pick(0...ages.count - 1)]),
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
