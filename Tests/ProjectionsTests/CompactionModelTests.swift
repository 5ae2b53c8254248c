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
        guard let bounds, bounds.count == 2, bounds[0] <= bounds[1] else { return 1...80 }
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
            guard let keep = phase.keep else { continue }
            // A log that needs all its events is left alone.
            if try scene.compact(keep: keep) { model.compact(keep: keep) }
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
            guard let keep = phase.keep else { continue }
            // A log that needs all its events is left alone.
            if try scene.compact(keep: keep) { model.compact(keep: keep) }
            try scene.expect(model.chat.lines { $0.versions.values.map(\.number).max() ?? 0 }, inCopies: true)
        }
    }
}

/// A log that is compacted now and then, and its copies.
private struct CompactedScene {
    /// How many events come, and how many messages a compaction then keeps.
    let phases: [(events: Int, keep: Int?)]
    private let log: TemporaryLog
    private let seed: UInt64
    private var clock: Int64 = 1_772_366_400
    private var copies = 0

    init(seed: UInt64) throws {
        log = try TemporaryLog()
        self.seed = seed
        var random = SeededGenerator(seed: seed ^ 0x5EED)
        // Facts grow and shrink: few messages are kept of many, then many of few.
        var phases: [(Int, Int?)] = (0..<3).map { _ in
            (Int.random(in: 10...120, using: &random), Int.random(in: 0...20, using: &random))
        }
        phases.append((Int.random(in: 10...60, using: &random), nil))
        self.phases = phases
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
        clock += 2 * 86_400
        _ = try log.store.append(drafts)
    }

    /// Returns whether anything was dropped.
    mutating func compact(keep: Int) throws -> Bool {
        let policy = RetentionPolicy(messagesPerChannel: keep)
        let first = try Compaction.run(log.store, policy: policy, now: Timestamp(seconds: clock))
        let again = try Compaction.run(log.store, policy: policy, now: Timestamp(seconds: clock))
        #expect(again.events.before == again.events.after, "seed \(seed): a second compaction drops nothing")
        return first.events.after < first.events.before
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
            return "\(row["channel"]?.string ?? "")/\(row["id"]?.string ?? "") live "
                + "\(text(row, "author", "content", "editedAt"))|\(row["revisions"]?.canonicalText ?? "")|\(reply)"
        }
        let deleted = (document["deletedMessages"]?.array ?? []).map { row in
            "\(row["channel"]?.string ?? "")/\(row["id"]?.string ?? "") \(text(row, "cause")) \(text(row, "author", "content"))"
        }
        return (live + deleted).sorted()
    }
}
