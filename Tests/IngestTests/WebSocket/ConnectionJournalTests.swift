#if Recorders
import EventLog
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
