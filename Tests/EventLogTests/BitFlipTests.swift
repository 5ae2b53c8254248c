import EventLog
import Foundation
import TestSupport
import Testing

/// Flips bits of a small log, one at a time: each flip is reported, or the bit is one that nobody reads (I7, I17).
@Suite struct BitFlipTests {
    /// Everything that can be asked of a log.
    private struct Content: Equatable {
        var events: [RecordedEvent] = []
        var root = MerkleTree.emptyRoot
        var fact: [UInt8]?
        var bookmark: [UInt8]?
        var key: SequenceNumber?
    }

    /// Flags, last page and transaction of both meta pages: what decides which state is read.
    private static let metaFields = [0, 4096].flatMap { [$0 + 10..<$0 + 12, $0 + 136..<$0 + 152] }

    @Test func everyFlipOfTheLogIsReportedOrDead() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("L")
        try make(path)
        let original = try content(path)
        let report = try EventStore.verify(at: path)
        let flips = BitFlips(log: path, file: "gen-000002/data.mdb", seed: 11)
        let tally = try flips.run(sample: 300, always: Self.metaFields) { path in
            guard let found = try verified(path), found.isIntact else { return .reported }
            return try found == report && content(path) == original ? .same : .different
        }
        print("bit flips of a log, seed \(flips.seed): \(tally.summary)")
        #expect(tally.silent.isEmpty, "\(tally.silent.prefix(20).joined(separator: "\n"))")
        #expect(tally.reported > 0 && !tally.dead.isEmpty)
    }

    @Test func everyFlipOfDerivedDataIsReportedOrDead() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("L")
        try makeCached(path)
        let report = try EventStore.verify(at: path)
        #expect(report.isIntact && report.derivedDamage == nil)
        let flips = BitFlips(log: path, file: "cache-000001/data.mdb", seed: 12)
        let tally = try flips.run(sample: 150) { path in
            var found = try EventStore.verify(at: path)
            let isReported = found.derivedDamage != nil
            found.derivedDamage = nil
            guard found == report else { return .different }
            if isReported { return .reported }
            return try duplicates(of: 1...120, path) == Array(1...120) ? .same : .different
        }
        print("bit flips of derived data, seed \(flips.seed): \(tally.summary)")
        #expect(tally.silent.isEmpty, "\(tally.silent.prefix(20).joined(separator: "\n"))")
        #expect(tally.reported > 0 && !tally.dead.isEmpty)
    }

    /// Without a check before: whatever the flip, a key is held where it is held.
    @Test func aFlippedCacheGivesNoWrongAnswer() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("L")
        try makeCached(path)
        let flips = BitFlips(log: path, file: "cache-000001/data.mdb", seed: 13)
        let tally = try flips.run(sample: 50) { path in
            // Reported or not is not asked here: only whether an answer differs.
            try duplicates(of: 1...120, path) == Array(1...120) ? .reported : .different
        }
        print("appends beside a flipped cache, seed \(flips.seed): \(tally.summary)")
        #expect(tally.silent.isEmpty, "\(tally.silent.prefix(20).joined(separator: "\n"))")
    }

    /// A log with events on several pages, a gap, keys, facts, bookmarks, a tree node, and a value with pages of its own.
    private func make(_ path: String) throws {
        var options = EventStore.Options()
        options.salt = .fixed(1)
        let store = try EventStore.openOrCreate(at: path, options: options)
        let drafts = try (1...270).map { number in
            try DraftEvent.sample(
                number,
                key: "key \(number)",
                payload: number == 260 ? String(repeating: "long ", count: 1000) : nil
            )
        }
        _ = try store.append(drafts, bookmark: Bookmark(source: try SourceName("test"), bytes: [1, 2, 3]))
        _ = try store.rewrite(
            .dropping((1...200).map { $0 }, decidedAt: SequenceNumber(270), facts: ["fact": [4, 5, 6]])
        )
        _ = try store.append([.sample(300, key: "after")])
    }

    /// A log whose keys stand in runs.
    private func makeCached(_ path: String) throws {
        var options = EventStore.Options()
        options.keysInMemory = 40
        let store = try EventStore.openOrCreate(at: path, options: options)
        for start in stride(from: 1, through: 120, by: 20) { _ = try store.append(drafts(start..<start + 20)) }
        try store.drainDerivedData()
    }

    private func drafts(_ numbers: some Sequence<Int>) throws -> [DraftEvent] {
        try numbers.map { try .sample($0, key: "key \($0 &* 7919 % 10_007)") }
    }

    /// The sequences at which events are held that are appended again, in the other order; 0 where one is appended anew.
    private func duplicates(of numbers: ClosedRange<Int>, _ path: String) throws -> [Int] {
        let result = try EventStore.open(at: path).append(drafts(numbers.reversed()))
        guard result.appended == 0 else { return [] }
        return result.sequences.reversed().map { Int($0.rawValue) }
    }

    /// What a check reports; `nil` where the log does not even open.
    private func verified(_ path: String) throws -> VerifyReport? {
        do {
            return try EventStore.verify(at: path)
        } catch let error as EventLogError {
            #expect(error.code == .damaged || error.code == .io, "\(error)")
            return nil
        }
    }

    private func content(_ path: String) throws -> Content {
        let source = try SourceName("test")
        var content = Content()
        try EventStore.open(at: path).read { session in
            try session.forEachEvent(in: SequenceNumber(1)...session.head) {
                content.events.append($0.copied())
                return true
            }
            content.root = try session.root(size: session.head.rawValue)
            content.fact = try session.fact("fact")
            content.bookmark = try session.bookmark(of: source)
            content.key = try session.sequence(of: EventKey("key 7"), source: source)
        }
        return content
    }
}
