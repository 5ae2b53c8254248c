import EventLog
import Foundation
import TestSupport
import Testing

@testable import Projections

/// Logs are compacted three times, go on in between and are opened in other places; each time they must say what a model
/// says that was written from `docs/semantics.md` (I13, I9).
///
/// `MODEL_SEEDS=1-1000` tries other seeds.
@Suite struct CompactionModelTests {
    private static let seeds: ClosedRange<UInt64> = {
        let bounds = ProcessInfo.processInfo.environment["MODEL_SEEDS"]?.split(separator: "-").compactMap { UInt64($0) }
        let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil
        guard let bounds, bounds.count == 2, bounds[0] <= bounds[1] else { return isLong ? 1...200 : 1...40 }
        return bounds[0]...bounds[1]
    }()

    @Test(arguments: seeds) func aGatewaysChatIsWhatTheModelSays(seed: UInt64) throws {
        var model = GatewayModel(seed: seed)
        var scene = try CompactedScene(seed: seed)
        for phase in scene.phases {
            try scene.append(
                model.frames(phase.events).map { frame in
                    try scene.draft(
                        "gateway.frame/1",
                        Array(frame.text.utf8),
                        ["dir": "in", "connection": frame.connection]
                    )
                }
            )
            try scene.expect(model.chat.lines { $0.versions.count })
            guard phase.isCompacted else { continue }
            let policy = scene.policy(of: model.chat)
            // A log that needs all its events is left alone.
            if try scene.compact(policy.policy) { model.compact(policy.rule) }
            try scene.expect(model.chat.lines { $0.versions.count }, inCopies: true)
        }
    }

    @Test(arguments: seeds) func aBranchsChatIsWhatTheModelSays(seed: UInt64) throws {
        var model = BranchModel(seed: seed)
        var scene = try CompactedScene(seed: seed)
        for phase in scene.phases {
            try scene.append(
                model.events(phase.events / 3).map { event in
                    try scene.draft(event.kind.description, Array(event.payload.canonicalText.utf8), [:])
                }
            )
            try scene.expect(model.chat.lines { $0.versions.values.map(\.number).max() ?? 0 })
            guard phase.isCompacted else { continue }
            let policy = scene.policy(of: model.chat)
            // A log that needs all its events is left alone.
            if try scene.compact(policy.policy) { model.compact(policy.rule) }
            try scene.expect(model.chat.lines { $0.versions.values.map(\.number).max() ?? 0 }, inCopies: true)
        }
    }

    /// The models' logs state messages again that compactions dropped.
    @Test func theModelsHaveMessagesThatAreLiveAgain() {
        var counts = [0, 0]
        for seed in 1...20 as ClosedRange<UInt64> {
            var (gateway, branch) = (GatewayModel(seed: seed), BranchModel(seed: seed))
            for _ in 0..<3 {
                (_, _) = (gateway.frames(60), branch.events(20))
                counts[0] += gateway.chat.messages.count(where: \.isKnownInPart)
                counts[1] += branch.chat.messages.count(where: \.isKnownInPart)
                gateway.compact { _ in ChatModel.Rule(keep: 5) }
                branch.compact { _ in ChatModel.Rule(keep: 2) }
            }
        }
        #expect(counts.allSatisfy { $0 > 20 }, "\(counts)")
    }
}

/// A log that is compacted now and then, and its copies.
private struct CompactedScene {
    /// How many events come, and whether a compaction follows.
    let phases: [(events: Int, isCompacted: Bool)]
    private let log: TemporaryLog
    private let seed: UInt64
    private var clock: Int64 = 1_772_366_400
    /// When the last event came.
    private var lastClock: Int64 = 0
    private var random: SeededGenerator
    private var copies = 0
    /// The state that the last compaction promised, with the events since.
    private var promised: LogState?

    init(seed: UInt64) throws {
        log = try TemporaryLog()
        self.seed = seed
        var random = SeededGenerator(seed: seed ^ 0x5EED)
        var phases: [(Int, Bool)] = (0..<3).map { _ in (Int.random(in: 10...120, using: &random), true) }
        phases.append((Int.random(in: 10...60, using: &random), false))
        (self.phases, self.random) = (phases, random)
    }

    func draft(_ kind: String, _ payload: [UInt8], _ attributes: [String: String]) throws -> DraftEvent {
        DraftEvent(
            recordedAt: Timestamp(seconds: clock),
            source: try SourceName("chat"),
            kind: try EventKind(kind),
            key: nil,
            attributes: try Attributes(
                attributes.sorted { $0.key < $1.key }.map { Attributes.Pair(name: $0.key, value: $0.value) }
            ),
            payload: payload
        )
    }

    /// Appends what a connection brought; the next one comes two days later.
    mutating func append(_ drafts: [DraftEvent]) throws {
        var drafts = drafts
        for index in drafts.indices {
            clock += 1
            drafts[index].recordedAt = Timestamp(seconds: clock)
        }
        lastClock = clock
        clock += 2 * 86_400
        _ = try log.store.append(drafts)
        guard var state = promised else { return }
        try log.store.read { session in
            try session.forEachEvent(in: state.sequence.next...session.head) { event in
                state.apply(event.copied())
                return true
            }
            let found = try Replay.logState(of: session)
            #expect(
                found.normalFormHash == state.normalFormHash,
                "seed \(seed): \(firstDifference(found.normalFormLines, state.normalFormLines) ?? "")"
            )
        }
        promised = state
    }

    private mutating func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    /// A random policy, and what it says of a channel. Facts grow and shrink: few messages are kept of many, then many of few.
    mutating func policy(of chat: ChatModel) -> (policy: RetentionPolicy, rule: (String) -> ChatModel.Rule) {
        let instants = chat.messages.map(\.seconds).filter { $0 > 0 && $0 < lastClock }
        let oldest = instants.isEmpty ? lastClock : instants[pick(0...instants.count - 1)]
        let age = Duration.seconds(lastClock - oldest)
        func rule(_ generator: inout SeededGenerator) -> RetentionPolicy.Rule {
            func isSaid() -> Bool { Int.random(in: 0...2, using: &generator) == 0 }
            return RetentionPolicy.Rule(
                keep: isSaid() ? Int.random(in: 0...20, using: &generator) : nil,
                keepWithin: isSaid() ? (isSaid() ? .zero : age) : nil,
                deleted: isSaid() ? Int.random(in: 0...6, using: &generator) : nil
            )
        }
        var policy = RetentionPolicy(messagesPerChannel: pick(0...20), keepsParents: pick(0...3) > 0)
        let said = rule(&random)
        (policy.rule.keepWithin, policy.rule.deleted) = (said.keepWithin, said.deleted)
        guard let source = try? SourceName("chat") else { return (policy, { _ in ChatModel.Rule(keep: 0) }) }
        let channels = Set(chat.messages.map(\.channel)).sorted()
        let wide = rule(&random)
        policy[RetentionPolicy.Place(source: source)] = wide
        var narrow: [String: RetentionPolicy.Rule] = [:]
        for channel in channels where pick(0...2) == 0 {
            narrow[channel] = rule(&random)
            policy[RetentionPolicy.Place(source: source, channel: channel)] = narrow[channel] ?? .init()
        }
        var pinned: [String: Set<String>] = [:]
        for _ in 0..<pick(0...3) where !chat.messages.isEmpty {
            let message = chat.messages[pick(0...chat.messages.count - 1)]
            pinned[message.channel, default: []].insert(message.id)
            policy.pins.insert(EntityReference(kind: .message, parts: ["chat", message.channel, message.id]))
        }
        let pinnedChannel = pick(0...7) == 0 ? channels.first : nil
        if let pinnedChannel { policy.pins.insert(EntityReference(kind: .channel, parts: ["chat", pinnedChannel])) }
        let (log, keepsParents) = (policy.rule, policy.keepsParents)
        return (
            policy,
            { channel in
                let rules = [narrow[channel], wide, log].compactMap { $0 }
                var rule = ChatModel.Rule(keep: rules.compactMap(\.keep).first ?? 500)
                if let within = rules.compactMap(\.keepWithin).first, within > .zero { rule.oldest = oldest }
                rule.deleted = rules.compactMap(\.deleted).first ?? rule.keep
                rule.isPinned = channel == pinnedChannel
                rule.pins = pinned[channel] ?? []
                rule.keepsParents = keepsParents
                return rule
            }
        )
    }

    /// Returns whether anything was dropped.
    mutating func compact(_ policy: RetentionPolicy) throws -> Bool {
        let before = try log.store.read { try Replay.logState(of: $0) }
        let first = try Compaction.run(log.store, policy: policy, now: Timestamp(seconds: clock))
        let again = try Compaction.run(log.store, policy: policy, now: Timestamp(seconds: clock))
        #expect(again.events.before == again.events.after, "seed \(seed): a second compaction drops nothing")
        guard first.events.after < first.events.before else { return false }
        promised = before.retained(by: policy)
        return true
    }

    /// Compares the state with the model's lines, that of a log that was just compacted also where a copy of it is opened.
    mutating func expect(_ lines: [String], inCopies: Bool = false) throws {
        let found = try Self.lines(of: log.store)
        let parted = zip(found, lines).first { $0 != $1 }
        #expect(
            found == lines,
            "seed \(seed): \(parted.map { "\($0.0), not \($0.1)" } ?? "\(found.count), not \(lines.count)")"
        )
        guard inCopies else { return }
        copies += 1
        let plain = log.directory.path("plain-\(copies)")
        try FileManager.default.copyItem(atPath: log.path, toPath: plain)
        #expect(try EventStore.verify(at: plain).damage == nil, "seed \(seed)")
        #expect(try Self.lines(of: EventStore.open(at: plain)) == lines, "seed \(seed), of a plain copy")
        let backup = log.directory.path("backup-\(copies)")
        #expect(try log.store.backup(to: backup).isIntact, "seed \(seed)")
        try FileManager.default.removeItem(atPath: plain)
        try FileManager.default.removeItem(atPath: backup)
    }

    private static func lines(of store: EventStore) throws -> [String] {
        let document = try store.read { session in
            var state = try Replay.logState(of: session)
            return state.document()
        }
        func text(_ row: JSONValue, _ names: String...) -> String {
            names.map { row[$0]?.string ?? "-" }.joined(separator: "|")
        }
        let live = (document["messages"]?.array ?? []).map { row in
            let reply = row["replyTo"].map { "\($0["id"]?.string ?? "") \($0["state"]?.string ?? "")" } ?? "-"
            let mark = row["compacted"]?.bool == true ? " known in part" : ""
            return "\(row["channel"]?.string ?? "")/\(row["id"]?.string ?? "") live "
                + "\(text(row, "author", "content", "editedAt"))|\(row["revisions"]?.canonicalText ?? "")|\(reply)\(mark)"
        }
        let deleted = (document["deletedMessages"]?.array ?? []).map { row in
            let mark = row["compacted"]?.bool == true ? " known in part" : ""
            return "\(row["channel"]?.string ?? "")/\(row["id"]?.string ?? "") \(text(row, "cause")) "
                + "\(text(row, "author", "content"))\(mark)"
        }
        return (live + deleted).sorted()
    }
}
