#if Recorders
import EventLog
import Synchronization
import TestSupport
import Testing

@testable import Ingest

@Suite struct ConnectionJournalTests {
    /// What a killed process leaves is a prefix of what it took: wherever it ends, the next run uses no key again and
    /// knows every gap that is open.
    @Test func afterEveryPrefixTheNextRunGoesOn() throws {
        let source = try SourceName("chat")
        var journal = try ConnectionJournal(source: source, kind: .gatewayFrame, history: .empty)
        var items: [SourceItem] = []
        let time = Timestamp(seconds: 100)
        for round in 0..<3 {
            if round == 0 { try journal.beginRun(topics: [nil], asksForPast: true, closes: "snapshot", at: time) }
            try journal.open(at: time)
            try journal.frame(.in, [0x7B, 0x7D], at: time)
            try journal.frame(.out, [0x7B, 0x7D], at: time)
            journal.endGaps(at: time) { _ in true }
            try journal.closeGaps(by: "snapshot", at: time) { _ in true }
            try journal.frame(.in, [0x7B, 0x7D], at: time)
            try journal.close(.lost, at: time)
            try journal.openGap("disconnected", from: time, closes: "snapshot", at: time)
            items += journal.take().items
        }
        for count in items.indices {
            let log = try TemporaryLog()
            let recorder = try Recorder(store: log.store, source: source)
            for item in items[...count] { try recorder.accept(item) }
            _ = try recorder.finish()
            try check(log, source, "\(count)")
        }
    }

    /// The clock goes forward by two hours for a while. Every outage is as long as it was, and begins and ends near the time
    /// that the clock showed then.
    @Test func outagesKeepTheirLengthWhereTheClockIsSet() throws {
        let wall = Mutex((offset: Int64(0), now: Int64(1_000)))
        var clock = LiveClock(
            now: { Timestamp(seconds: wall.withLock { $0.now + $0.offset }) },
            elapsed: { .zero },
            sleep: { _ in }
        )
        clock.steady = { .seconds(wall.withLock { $0.now }) }
        let noticing = clock.noticingSteps { _ in }
        let source = try SourceName("chat")
        var journal = try ConnectionJournal(source: source, kind: .gatewayFrame, history: .empty, clock: noticing)
        /// Lets time pass and sets the clock; then it is that late.
        func pass(_ seconds: Int64, offset: Int64) -> Timestamp {
            wall.withLock { $0 = (offset, $0.now + seconds) }
            return noticing.now()
        }
        // Each outage: 3 s after the last frame it is noticed, and it ends 5 s later. The offsets are those when the frame
        // came, when the outage was noticed and when it ended.
        let far: Int64 = 7_200
        for offsets in [[0, 0, 0], [0, 0, far], [far, far, far], [far, far, 0], [far, 0, 0], [0, far, 0]] {
            try journal.open(at: pass(60, offset: offsets[0]))
            try journal.frame(.in, [0x7B, 0x7D], at: noticing.now())
            let noticed = pass(3, offset: offsets[1])
            try journal.close(.lost, at: noticed)
            let from = try #require(journal.lastInbound)
            try journal.openGap("disconnected", from: from, closes: "snapshot", at: noticed)
            #expect(noticed.seconds - from.seconds == 3, "\(offsets)")
            journal.endGaps(at: pass(5, offset: offsets[2])) { _ in true }
            let gap = try #require(journal.openGaps.first)
            #expect((gap.to?.seconds ?? 0) - gap.from.seconds == 8, "\(offsets)")
            try journal.closeGaps(by: "snapshot", at: noticing.now()) { _ in true }
        }
    }

    /// What an earlier run heard may lie ahead of a clock that was set back since.
    @Test func aRunBeginsNoGapInTheFuture() throws {
        let bookmark = JournalBookmark(number: 1, gaps: [], lastInbound: Timestamp(seconds: 9_000), session: nil)
        let history = RecordedHistory(bookmark: bookmark.bytes, holdsKey: { _ in false }, latestKey: { nil })
        var journal = try ConnectionJournal(source: SourceName("chat"), kind: .gatewayFrame, history: history)
        let now = Timestamp(seconds: 1_000)
        try journal.beginRun(topics: [nil], asksForPast: false, closes: "snapshot", at: now)
        #expect(journal.openGaps.map(\.from) == [now])
    }

    private func check(_ log: TemporaryLog, _ source: SourceName, _ note: Comment) throws {
        let before = try log.events()
        let recorder = try Recorder(store: log.store, source: source)
        var journal = try ConnectionJournal(source: source, kind: .gatewayFrame, history: try recorder.history())
        let open = before.filter { gap in
            gap.attribute("gap") == "open" && !before.contains { $0.key == "\(gap.key)/closed" }
        }
        #expect(Set(journal.openGaps.map(\.key)).isSuperset(of: open.map(\.key)), note)
        try journal.open(at: Timestamp(seconds: 200))
        try journal.frame(.in, [0x7B], at: Timestamp(seconds: 200))
        try journal.openGap("hole", from: Timestamp(seconds: 200), closes: "snapshot", at: Timestamp(seconds: 200))
        for item in journal.take().items { try recorder.accept(item) }
        #expect(try recorder.finish().appended == 3, note)
        #expect(try !log.events().contains { $0.key.contains("~") }, note)
    }
}
#endif
