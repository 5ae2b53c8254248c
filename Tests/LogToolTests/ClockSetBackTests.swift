import Foundation
import TestSupport
import Testing

@testable import logtool

/// The clock of a recorder was set back: nothing lasts less than no time.
@Suite struct ClockSetBackTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    @Test func aStatusThatEndedBeforeItBeganHasNoDuration() throws {
        func write(_ seconds: Int, _ state: String) -> String {
            let raw = #"{\"state\":\"\#(state)\"}"#
            let time = SampleCaptures.start + seconds * 1000
            return #"{"t_ms":\#(time),"path":"/tmp/vibestatus-a.json","op":"write","raw":"\#(raw)"}"#
        }
        let lines = [write(100, "idle"), write(40, "working"), write(50, "idle")]
        try ingest(lines.joined(separator: "\n"), "status")
        let events = try objects("history", "L", "session:vibestatus-a.json", "--jsonl")
        #expect(events.map { $0["dwellMilliseconds"] as? Int } == [nil, nil, 10_000])
        let text = try ToolRun.run(["history", "L", "session:vibestatus-a.json"], in: folder).output
        #expect(text.contains("after 10s") && !text.contains("after -"), "\(text)")
    }

    @Test func aGapEndsNoEarlierThanItBegins() throws {
        let frame = { (seconds: Int, s: Int) in SampleCaptures.line(seconds, #"{"op":0,"s":\#(s),"t":"X","d":{}}"#) }
        try ingest(SampleCaptures.line(0, #"{"op":10,"d":{}}"#) + frame(100, 1) + frame(40, 5), "gateway")
        let gap = try #require(try objects("gaps", "L", "--jsonl").first)
        #expect(gap["from"] as? String == "2026-01-01T00:01:40.000000Z")
        #expect(gap["to"] as? String == "2026-01-01T00:01:40.000000Z")
    }

    private func ingest(_ capture: String, _ kind: String) throws {
        try folder.write(capture, to: "c.ndjson")
        let run = try ToolRun.run(["ingest", "L", "capture", "c.ndjson", "--kind", kind, "--as", "app"], in: folder)
        #expect(run.exitCode == 0, "\(run.errors)")
    }

    private func objects(_ arguments: String...) throws -> [[String: Any]] {
        let run = try ToolRun.run(arguments, in: folder)
        return try run.output.split(separator: "\n").map {
            try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }
}
