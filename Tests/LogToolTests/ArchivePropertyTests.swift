import EventLog
import Foundation
import Projections
import TestSupport
import Testing

@testable import logtool

/// Logs of every app, compacted several times by random policies: with their archives they are the logs that were never compacted,
/// at every point.
@Suite struct ArchivePropertyTests {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    @Test(arguments: DenseTraffic.allCases, 1...4 as ClosedRange<UInt64>)
    func denseTraffic(traffic: DenseTraffic, seed: UInt64) throws {
        let drafts = try traffic.events(count: 120, seed: seed + 40).map { DraftEvent(again: $0) }
        try check(drafts, seed)
    }

    @Test(.needs(shared: "formats/genlib.py"), arguments: FormatStateTests.protocols)
    func anyApp(name: String) throws {
        let capture = try FormatCapture(of: name, seed: 8)
        let log = try FormatLog(capture.name, capture.lines, "archive", capture.lines.count)
        // The acts that say by which decoder file a source is read belong to the log, so it is compacted as it is.
        let before = try RedactionTests.state(of: log.store).digestOfCopy
        var policy = RetentionPolicy(messagesPerChannel: 2)
        policy.rule.deleted = 1
        let summary = try Compaction.run(log.store, policy: policy, now: Timestamp(seconds: 1_900_000_000))
        guard let archive = summary.archive else { return }
        _ = try Compaction.restore(
            [Archive(at: archive.path, for: "test")],
            into: log.store,
            now: Timestamp(seconds: 1)
        )
        #expect(try RedactionTests.state(of: log.store).digestOfCopy == before)
        #expect(try log.store.verify().isIntact)
    }

    private func check(_ drafts: [DraftEvent], _ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (whole, store) = (
            try EventStore.openOrCreate(at: folder.path("whole")), try EventStore.openOrCreate(at: folder.path("L"))
        )
        for start in stride(from: 0, to: drafts.count, by: 40) {
            let some = drafts[start..<min(start + 40, drafts.count)]
            for log in [whole, store] { _ = try log.append(Array(some)) }
            guard start < 80 else { continue }
            let document = try RedactionTests.document(of: store)
            let clock = some.last?.recordedAt ?? Timestamp(seconds: 0)
            let policy = try PolicyCompactionTests.policy(of: document, at: clock, &random)
            let summary = try Compaction.run(
                store,
                policy: policy,
                now: Timestamp(seconds: 1_900_000_000),
                sealing: seed.isMultiple(of: 2) ? .all : nil
            )
            // The whole log has an act at the same place.
            if summary.events.after < summary.events.before {
                _ = try whole.rewrite(.dropping([], decidedAt: whole.read { $0.head }))
                #expect(summary.archive?.events == summary.events.before - summary.events.after)
            }
        }
        let paths = ArchiveFile.paths(beside: store.path)
        guard !paths.isEmpty else { return }
        let last = try store.read { $0.head }
        let copyFolder = folder.path("copy")
        try FileManager.default.createDirectory(atPath: copyFolder, withIntermediateDirectories: false)
        let copy = try Compaction.restoredCopy(of: store, with: archives(paths), in: copyFolder)
        try compare(copy, whole, through: last)
        for path in paths { _ = try Compaction.restore(archives([path]), into: store, now: Timestamp(seconds: 1)) }
        try compare(store, whole, through: last)
        #expect(try store.verify().isIntact)
    }

    private func archives(_ paths: [String]) throws -> [Archive] {
        try paths.map { try Archive(at: $0, for: "test") }
    }

    /// Compares events and states, one event after another.
    private func compare(_ log: EventStore, _ whole: EventStore, through last: SequenceNumber) throws {
        let (events, expected) = (try log.allEvents(), try whole.allEvents())
        var (state, other) = (LogState(), LogState())
        for (event, same) in zip(events, expected) where event.envelope.sequence <= last {
            #expect(event.envelope.sequence == same.envelope.sequence)
            #expect(event.envelope.isAct == same.envelope.isAct)
            if !event.envelope.isAct { #expect(event.payload == same.payload) }
            state.apply(event)
            other.apply(same)
            #expect(state.digest() == other.digest(), "after \(event.envelope.sequence)")
        }
        for point in [last.rawValue / 3, last.rawValue / 2, last.rawValue] where point > 0 {
            var (found, meant) = (
                try log.read { try Replay.logState(of: $0, through: SequenceNumber(point)) },
                try whole.read { try Replay.logState(of: $0, through: SequenceNumber(point)) }
            )
            #expect(found.digest() == meant.digest(), "at \(point)")
        }
    }
}

extension LogState {
    fileprivate var digestOfCopy: Hash256 {
        var copy = self
        return copy.digest()
    }
}
