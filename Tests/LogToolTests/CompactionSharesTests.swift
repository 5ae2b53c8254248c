import EventLog
import Foundation
import TestSupport
import Testing

@testable import Projections

/// A compaction that folds a log share by share leaves what one fold of all channels leaves.
@Suite struct CompactionSharesTests {
    private static let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil
    private static let rounds: UInt64 = isLong ? 200 : 3

    @Test(arguments: Scenario.all)
    func aScenarioIsCompactedAlike(scenario: Scenario) throws {
        let directory = try TemporaryDirectory()
        let store = try scenario.log(in: directory)
        try expectSame(store, at: directory.path("scenario.eventlog"), in: directory, keeping: [1], messagesMax: [1])
    }

    /// Every app's events, each source by itself, with frames of several channels.
    @Test(arguments: 1...rounds)
    func aRandomStreamIsCompactedAlike(seed: UInt64) throws {
        let directory = try TemporaryDirectory()
        let lists = try EventStream.whole(of: Scenario.all, in: directory)
        let store = try EventStore.openOrCreate(at: directory.path("stream"))
        for part in 0..<4 {
            let stream = EventStream(of: lists, seed: seed * 4 + UInt64(part), mutatingBytes: part == 3)
            _ = try store.append(stream.events.map { part < 2 ? $0.renamed(source: "app").draft : $0.draft })
        }
        try expectSame(store, at: directory.path("stream"), in: directory, keeping: [1, 3], messagesMax: [1, 5])
    }

    @Test func aLogIsFoldedOnceForEachShare() throws {
        let directory = try TemporaryDirectory()
        let store = try EventStore.openOrCreate(at: directory.path("L"))
        _ = try store.append((1...600).map { try DraftEvent.message($0, in: $0 % 40) })
        #expect(try Self.shares(of: store, messagesMax: 1000) == [600])
        let shares = try Self.shares(of: store, messagesMax: 100)
        #expect(shares.reduce(0, +) == 600)
        #expect(shares.count > 5 && shares.allSatisfy { $0 <= 100 }, "\(shares)")
    }

    /// An id that is named with two channels is one message, which no share of the channels has whole.
    @Test func anIDInTwoSharesIsFoldedWithAllChannels() throws {
        let directory = try TemporaryDirectory()
        let store = try EventStore.openOrCreate(at: directory.path("L"))
        var drafts = try (1...200).map { try DraftEvent.message($0, in: $0 % 40) }
        for id in stride(from: 3, through: 190, by: 17) {
            let data = #"{"id":"\#(id)","channel_id":"\#((id + 7) % 40)"}"#
            drafts.append(
                DraftEvent(
                    recordedAt: Timestamp(seconds: 1_770_000_000),
                    source: try SourceName("app"),
                    kind: try EventKind("gateway.frame/1"),
                    attributes: ["dir": "in"],
                    payload: Array(#"{"op":0,"t":"MESSAGE_DELETE","s":\#(1000 + id),"d":\#(data)}"#.utf8)
                )
            )
        }
        var random = SeededGenerator(seed: 5)
        _ = try store.append(drafts.shuffled(using: &random))
        #expect(try Self.shares(of: store, messagesMax: 30) == [200])
        try expectSame(store, at: directory.path("L"), in: directory, keeping: [1, 3], messagesMax: [20])
    }

    @Test func aChannelIsNotDivided() throws {
        let directory = try TemporaryDirectory()
        let store = try EventStore.openOrCreate(at: directory.path("L"))
        _ = try store.append((1...600).map { try DraftEvent.message($0, in: $0 < 500 ? 1 : $0) })
        let shares = try Self.shares(of: store, messagesMax: 50)
        #expect(shares.reduce(0, +) == 600 && shares.max() ?? 0 >= 499 && shares.count < 12)
    }

    /// The messages in the state of each share.
    private static func shares(of store: EventStore, messagesMax: Int) throws -> [Int] {
        var options = ReplayOptions()
        options.chunkEvents = 16
        return try store.read { session in
            try Replay.byShares(
                of: session,
                through: session.head,
                options: options,
                messagesMax: messagesMax,
                { [Int]() },
                { state, counts in counts.append(state.sources.reduce(0) { $0 + $1.parts.messages.store.count }) }
            )
        }
    }

    /// Compacts copies of a log twice, with all messages in memory and with few.
    private func expectSame(
        _ store: EventStore,
        at path: String,
        in directory: TemporaryDirectory,
        keeping: [Int],
        messagesMax: [Int]
    ) throws {
        let head = try store.read { $0.head }
        for keep in keeping {
            let whole = try Self.copy(path, to: directory.path("whole \(keep)"))
            let parts = try messagesMax.map { ($0, try Self.copy(path, to: directory.path("parts \(keep) \($0)"))) }
            // The second compaction drops more, so that both are in the ledger.
            for left in [keep + 2, keep] {
                let expected = try Self.compact(whole, keep: left, messagesMax: .max)
                for (messagesMax, copy) in parts {
                    let found = try Self.compact(copy, keep: left, messagesMax: messagesMax)
                    #expect(found == expected, "keep \(keep), \(messagesMax) messages, through \(head)")
                }
            }
        }
    }

    private static func copy(_ path: String, to other: String) throws -> EventStore {
        try FileManager.default.copyItem(atPath: path, toPath: other)
        return try EventStore.open(at: other)
    }

    /// Everything that a compaction gives and leaves.
    private struct Outcome: Equatable {
        let digests: [Hash256]
        let counts: [CompactionCounts]
        let channels: [String]
        let facts: [String]
        let events: [String]
    }

    private static func compact(_ store: EventStore, keep: Int, messagesMax: Int) throws -> Outcome {
        var options = ReplayOptions()
        options.chunkEvents = 4
        let summary = try Compaction.run(
            store,
            policy: RetentionPolicy(messagesPerChannel: keep),
            now: Timestamp(seconds: 1_800_000_000),
            options: options,
            messagesMax: messagesMax
        )
        return Outcome(
            digests: [summary.digestBefore, summary.digest],
            counts: [summary.counts.before, summary.counts.after],
            channels: summary.channels.map { "\($0.source) \($0.id) \($0.before) \($0.after)" },
            facts: try store.read { session in
                try [Replay.factName, DropLedger.factName].map { name in
                    String(decoding: try session.fact(name) ?? [], as: UTF8.self)
                }
            },
            events: try store.allEvents().map { "\($0.envelope.sequence) \(Hasher256.hash($0.payload).hex)" }
        )
    }
}
