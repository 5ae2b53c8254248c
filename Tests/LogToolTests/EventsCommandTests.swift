import Foundation
import TestSupport
import Testing

@testable import logtool

@Suite struct EventsCommandTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    @Test(arguments: [
        ([], 8), (["--from", "head~1"], 2), (["--to", "3"], 3), (["--from", "2", "--to", "3"], 2),
        (["--from", "2026-01-01T00:00:02Z"], 6),
        (["--to", "2026-01-01T00:00:02.5Z"], 3),
        (["--source", "guild"], 8), (["--kind", "gateway.frame"], 8), (["--kind", "gateway.frame/1"], 8),
        (["--match", "message 3"], 1), (["--match", "MESSAGE 3", "-i"], 1), (["--match", "heartbeat"], 1),
        (["--entity", "message:1002"], 1), (["--entity", "message:guild/10/1003"], 1),
    ])
    func rangesAndFiltersChoose(arguments: [String], count: Int) throws {
        try folder.makeLog(messages: 6)
        let run = try ToolRun.run(["events", "L", "--jsonl"] + arguments, in: folder)
        #expect(run.exitCode == 0)
        #expect(run.output.split(separator: "\n").count == count)
    }

    /// The bytes have `\u00e9` and `\"`, as JSON writes them.
    @Test func aTextIsFoundBehindTheEscapesOfJSON() throws {
        let raw = #"{"op":1,"d":"caf\u00e9 \"x\" \ud83d\ude42 \q"}"#
        try folder.write(SampleCaptures.line(0, raw), to: "c.ndjson")
        _ = try ToolRun.run(["ingest", "L", "capture", "c.ndjson", "--kind", "gateway"], in: folder)
        for text in ["café \"x\"", "🙂", "CAFÉ", #"\u00e9"#] {
            let run = try ToolRun.run(["events", "L", "--jsonl", "--match", text, "-i"], in: folder)
            #expect(run.output.split(separator: "\n").count == 1, "\(text): \(run.errors)")
        }
    }

    @Test func theColumnsSayWhoseClockTheyShow() throws {
        try folder.makeLog(messages: 1)
        let lines = try ToolRun.run(["events", "L"], in: folder).output.split(separator: "\n")
        #expect(lines.count == 4)
        #expect(lines[0] == "event   recorded (UTC)           source      kind                size       details")
        #expect(lines[1].hasPrefix("1       2026-01-01 00:00:00.000  guild       gateway.frame/1"))
    }

    @Test func jsonIsOneDocument() throws {
        try folder.makeLog(messages: 2)
        let run = try ToolRun.run(["events", "L", "--json", "--payload"], in: folder)
        let events = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [[String: Any]]
        #expect(events?.count == 4)
        #expect(events?.first?["sequence"] as? String == "1")
        #expect(events?.first?["recordedAt"] as? String == "2026-01-01T00:00:00.000000Z")
        #expect(events?.first?["payload"] as? String == #"{"op":10,"d":{"heartbeat_interval":45000}}"#)
    }

    @Test func controlCharactersAreWrittenOut() throws {
        let frame = SampleCaptures.line(0, "\u{9B}31m").replacingOccurrences(of: "\u{9B}", with: "\\u001b[")
        try folder.write(frame, to: "c.ndjson")
        _ = try ToolRun.run(["ingest", "L", "capture", "c.ndjson", "--kind", "gateway"], in: folder)
        let run = try ToolRun.run(["events", "L", "--payload", "--color", "always"], in: folder)
        #expect(run.output.contains("\\u{1b}[31m"))
    }

    @Test(arguments: [["events", "L"], ["events", "nowhere/L"]])
    func whereThereIsNoLogTheCodeIs10(arguments: [String]) throws {
        let run = try ToolRun.run(arguments, in: folder)
        #expect(run.exitCode == 10)
        #expect(run.output.isEmpty)
        #expect(run.errors.hasPrefix("logtool: "))
        #expect(run.errors.split(separator: "\n").count == 1)
    }

    @Test func aPointBeyondTheHeadIsNotFound() throws {
        try folder.makeLog(messages: 2)
        let run = try ToolRun.run(["events", "L", "--to", "99"], in: folder)
        #expect(run.exitCode == 1)
        #expect(run.errors.contains("head is 4"))
    }
}
