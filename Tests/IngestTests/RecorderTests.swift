import EventLog
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Ingest

@Suite struct RecorderTests {
    private let directory: TemporaryDirectory
    private let store: EventStore

    init() throws {
        directory = try TemporaryDirectory()
        store = try EventStore.openOrCreate(at: directory.path("log.eventlog"))
    }

    private func capture(_ lines: [String], name: String = "s") throws -> CaptureSource {
        let path = directory.path("capture.ndjson")
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: path))
        return CaptureSource(path: path, kind: .gateway, name: try SourceName(name))
    }

    private func frame(_ time: Int, _ text: String = "{}") -> String {
        #"{"t_ms":\#(time),"dir":"in","raw":"\#(text)"}"#
    }

    private func events() throws -> [RecordedEvent] {
        try store.read { session in
            var events: [RecordedEvent] = []
            guard session.head > .zero else { return [] }
            try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                events.append(event.copied())
                return true
            }
            return events
        }
    }

    @Test func recordingAgainAddsNothing() throws {
        let source = try capture([frame(1), frame(2), frame(3)])
        let first = try Recorder.record(source, into: store)
        #expect(first.appended == 3)
        #expect(first.first == SequenceNumber(1))
        #expect(first.last == SequenceNumber(3))
        let second = try Recorder.record(source, into: store)
        #expect(second.appended == 0)
        #expect(second.duplicates == 3)
        #expect(second.first == nil)
        #expect(second.last == nil)
        #expect(try events().count == 3)
    }

    /// The next batch may hold no event: the one before is durable all the same once that is taken.
    @Test func aBatchIsDurableOnceSkippedPiecesFollow() throws {
        let recorder = try Recorder(store: store, source: SourceName("s"))
        for number in 1...20 {
            let draft = DraftEvent(
                recordedAt: Timestamp(seconds: Int64(number)),
                source: try SourceName("s"),
                kind: EventKind("test.event/1" as StaticString),
                key: try EventKey("\(number)"),
                attributes: .none,
                payload: []
            )
            try recorder.append(SourceBatch([.draft(draft, bookmark: nil)]))
            try recorder.append(SourceBatch([.skipped(IngestIssue(place: "\(number)", reason: "none"))]))
            #expect(try store.read { $0.head.rawValue } == UInt64(number))
        }
        let summary = try recorder.finish()
        #expect(summary.appended == 20 && summary.skipped == 20)
    }

    @Test func aGrownCaptureAddsOnlyWhatIsNew() throws {
        _ = try Recorder.record(try capture([frame(1), frame(2)]), into: store)
        let summary = try Recorder.record(try capture([frame(1), frame(2), frame(3)]), into: store)
        #expect(summary.appended == 1)
        #expect(summary.duplicates == 2)
        #expect(summary.first == SequenceNumber(3))
    }

    @Test func aKeyOfADroppedEventIsStillKnown() throws {
        _ = try Recorder.record(try capture([frame(1), frame(2)]), into: store)
        _ = try store.rewrite(.dropping([1], decidedAt: SequenceNumber(2)))
        let history = try Recorder(store: store, source: SourceName("s")).history()
        #expect(try history.holds(EventKey("1/1")))
        #expect(try history.holds(EventKey("1/2")))
        #expect(try !history.holds(EventKey("1/3")))
    }

    @Test func anEditedCaptureIsKeptBesideWhatItWas() throws {
        _ = try Recorder.record(try capture([frame(1), frame(2, "old"), frame(3)]), into: store)
        let edited = try capture([frame(1), frame(2, "new"), frame(3)])
        #expect(try Recorder.record(edited, into: store).appended == 1)
        #expect(try Recorder.record(edited, into: store).appended == 0)
        let last = try #require(try events().last)
        let hash = Hasher256.hash(Array("new".utf8)).hex.prefix(16)
        #expect(last.envelope.key?.rawValue == "1/2~\(hash)")
        #expect(last.payload == Array("new".utf8))
    }

    @Test func anEditOfABatchThatIsWrittenWhileTheNextIsMadeIsKeptToo() throws {
        let count = Recorder.batchEventsMax * 2 + 1
        let lines = (0..<count).map { frame($0, "\($0)") }
        _ = try Recorder.record(try capture(lines), into: store)
        let edited = try capture([lines[0], frame(1, "new")] + lines[2...])
        let summary = try Recorder.record(edited, into: store)
        #expect(summary.appended == 1)
        #expect(summary.duplicates == count - 1)
        #expect(try events().last?.payload == Array("new".utf8))
    }

    @Test func aBrokenCaptureAppendsNothing() throws {
        let source = try capture([frame(1), "{", frame(3)])
        #expect(throws: IngestError.self) { try Recorder.record(source, into: store) }
        #expect(try events().isEmpty)
    }

    @Test func moreEventsThanABatchHoldsAreAppendedInOrder() throws {
        let count = Recorder.batchEventsMax * 2 + 1
        let lines = (0..<count).map { frame($0, "\($0)") }
        let reported = Mutex<[Int]>([])
        let summary = try Recorder.record(try capture(lines), into: store) { summary in
            reported.withLock { $0.append(summary.appended) }
        }
        #expect(summary.appended == count)
        // The first batch was being written while the second one was made.
        let counts = reported.withLock { $0 }
        #expect(counts.first == Recorder.batchEventsMax && counts.last == count && counts == counts.sorted())
        #expect(try events().map(\.payload) == (0..<count).map { Array(String($0).utf8) })
    }

    @Test func aSourceHasOneRecorderAtATime() throws {
        let name = try SourceName("s")
        let recorder = try Recorder(store: store, source: name)
        #expect(throws: EventLogError.self) { try Recorder(store: store, source: name) }
        _ = try recorder.finish()
        _ = try Recorder(store: store, source: name)
    }

    @Test func theReservedSourceIsRefused() throws {
        #expect(throws: IngestError.self) { try Recorder(store: store, source: .logtool) }
    }

    @Test func aBranchIsRecordedOnceThroughMovesAndLostBookmarks() throws {
        let scratch = try GitScratch()
        try scratch.write("general/a.md", "1")
        let one = try scratch.commit("one")
        try scratch.write("general/a.md", "2")
        let two = try scratch.commit("two")
        let source = try GitSource(scratch)
        #expect(try Recorder.record(source, into: store).appended == 2)
        #expect(try Recorder.record(source, into: store) == IngestSummary())
        #expect(try store.read { try $0.bookmark(of: source.name) } == Array(two.utf8))
        try scratch.git("reset", "-q", "--hard", one)
        #expect(try Recorder.record(source, into: store).appended == 1)
        try scratch.git("reset", "-q", "--hard", two)
        #expect(try Recorder.record(source, into: store).appended == 1)
        _ = try store.append([], bookmark: Bookmark(source: source.name, bytes: Array("lost".utf8)))
        #expect(try Recorder.record(source, into: store) == IngestSummary())
        #expect(
            try events().compactMap(\.envelope.key?.rawValue)
                == [one, two, "rewrite/\(two)/\(one)/1", "rewrite/\(one)/\(two)/1"]
        )
    }
}
