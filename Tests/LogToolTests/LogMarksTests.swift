import EventLog
import Foundation
import TestSupport
import Testing

@testable import Projections
@testable import logtool

/// The marks that a server of a page holds of a log in memory.
@Suite struct LogMarksTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try ShownPage.makeLog("L", events: 300, in: folder)
    }

    private func ingestMore(_ round: Int) throws {
        let frames = [
            SampleCaptures.message(900 + round),
            #"{"op":0,"s":5,"t":"MESSAGE_UPDATE","d":{"id":"\#(1900 + round - round % 2)","channel_id":"10","author_id":"7","content":"again","edited_at":"2026-02-01T00:00:0\#(round)Z"}}"#,
            round % 3 == 2
                ? #"{"op":0,"s":6,"t":"MESSAGE_DELETE","d":{"id":"1000","channel_id":"10"}}"# : "no frame \(round)",
        ]
        let lines = frames.enumerated().map { SampleCaptures.line(2000 + round * 3 + $0.offset, $0.element) }
        try folder.write(lines.joined(), to: "more")
        let run = try ToolRun.run(["ingest", "L", "capture", "more", "--kind", "gateway", "--as", "guild"], in: folder)
        #expect(run.exitCode == 0, "\(run.errors)")
    }

    /// Marks that go on with a log are those that are made of it anew.
    @Test func theMarksGoOn() throws {
        let store = try EventStore.open(at: folder.path("L"))
        var marks = try store.read { try LogMarks(of: $0, options: ReplayOptions()) }
        for round in 0..<8 {
            try ingestMore(round)
            try store.read { session in
                try marks.advance(over: session)
                let anew = try LogMarks(of: session, options: ReplayOptions())
                let starts = Array(1...session.head.rawValue + 1)
                #expect(marks.json(in: starts) == anew.json(in: starts) && marks.head == session.head)
                let gaps = [marks, anew].map { $0.gaps(in: 1...session.head.rawValue, countMax: 10) }
                #expect(gaps[0].shown == gaps[1].shown && gaps[0].count == gaps[1].count)
                #expect(marks.next(from: session.head.rawValue - 2, isBack: false) != nil)
            }
        }
    }
}
