import Foundation
import TestSupport
import Testing

@testable import logtool

@Suite struct HARCommandTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    /// A HAR with the frames of a capture on one WebSocket.
    private func har(ofCapture capture: String, more: String = "") throws -> String {
        let lines = try capture.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        let messages = try lines.map { line -> [String: Any] in
            let time = try #require(line["t_ms"] as? Int)
            return [
                "type": line["dir"] as? String == "out" ? "send" : "receive", "time": Double(time) / 1000, "opcode": 1,
                "data": try #require(line["raw"] as? String),
            ]
        }
        let list = String(decoding: try JSONSerialization.data(withJSONObject: messages), as: UTF8.self)
        return #"{"log":{"entries":[{"startedDateTime":"2026-01-01T00:00:00.000Z","time":1,"#
            + #""request":{"method":"GET","url":"wss://chat.example.org/gateway"},"#
            + #""_webSocketMessages":\#(list)}\#(more)]}}"#
    }

    private func ingest(_ file: String, log: String = "H", _ options: String...) throws -> ToolRun {
        try ToolRun.run(["ingest", log, "har", file, "--as", "guild", "--json"] + options, in: folder)
    }

    @Test func framesOutOfAHARGiveTheStateOfTheSameCapture() throws {
        let capture = SampleCaptures.gateway(messages: 5) + SampleCaptures.line(9, #"{"op":1,"d":5}"#, direction: "out")
        try folder.write(capture, to: "c.ndjson")
        try folder.write(try har(ofCapture: capture), to: "c.har")
        let options = ["--kind", "gateway", "--as", "guild"]
        #expect(try ToolRun.run(["ingest", "C", "capture", "c.ndjson"] + options, in: folder).exitCode == 0)
        let run = try ingest("c.har")
        #expect(run.output == #"{"appended":9,"duplicates":0,"skipped":0,"first":"1","last":"9","issues":[]}"# + "\n")
        let digests = try ["C", "H"].map { try ToolRun.run(["replay", $0, "--digest"], in: folder).output }
        #expect(digests[0] == digests[1])
        #expect(digests[0].utf8.count >= 64)
        let again = try ingest("c.har")
        #expect(again.output == #"{"appended":0,"duplicates":9,"skipped":0,"issues":[]}"# + "\n")
    }

    @Test func entriesOfOtherSitesAreCountedInOneLine() throws {
        let other = #",{"startedDateTime":"x","request":{"url":"https://cdn.example.net/a.js"}}"#
        let capture = SampleCaptures.gateway(messages: 1)
        try folder.write(try har(ofCapture: capture, more: other + other), to: "c.har")
        let run = try ingest("c.har")
        #expect(run.output.contains(#""skipped":2,"#))
        let reason = "2 entries are of other sites or routes (cdn.example.net)"
        #expect(run.output.contains(#""issues":[{"place":"c.har","reason":"\#(reason)"}]"#))
        let text = try ToolRun.run(["ingest", "T", "har", "c.har"], in: folder)
        #expect(text.output == "appended 4 events (1 to 4), 2 passed over\n")
        #expect(text.errors == "logtool: passed over c.har: \(reason)\n")
    }

    @Test func severalKindsEndWith2AndListThem() throws {
        let stream =
            #",{"startedDateTime":"2026-01-01T00:00:00Z","request":{"url":"https://k/subscribe/x"},"#
            + #""response":{"status":200,"content":{"mimeType":"text/event-stream","text":"data: {}\n\n"}}}"#
        try folder.write(try har(ofCapture: SampleCaptures.gateway(messages: 1), more: stream), to: "c.har")
        let run = try ingest("c.har")
        #expect(run.exitCode == 2)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains("its entries fit several kinds: gateway, sse; say which with --kind "))
        #expect(!FileManager.default.fileExists(atPath: folder.path("H")))
        #expect(try ingest("c.har", "--kind", "sse").output.contains(#""appended":2"#))
    }

    @Test func anEntryThatCannotBeReadEndsWith2AndNothingIsAppended() throws {
        try folder.write(try har(ofCapture: SampleCaptures.gateway(messages: 1), more: ",{}"), to: "c.har")
        let run = try ingest("c.har")
        #expect(run.exitCode == 2)
        #expect(
            run.errors.hasPrefix(
                "logtool: ingest har \"c.har: entry 2\": \"request\" is missing; nothing was appended;"
            )
        )
        #expect(run.errors.split(separator: "\n").count == 1)
        #expect(!FileManager.default.fileExists(atPath: folder.path("H")))
        #expect(try ingest("c.har", "--keep-going").output.contains(#""skipped":1,"first":"1""#))
    }

    @Test func standardInputIsAHARToo() throws {
        let text = try har(ofCapture: SampleCaptures.gateway(messages: 1))
        let run = try ToolRun.run(["ingest", "H", "har", "-"], in: folder, input: Data(text.utf8))
        #expect(run.exitCode == 0)
        #expect(try ToolRun.run(["stats", "H", "--json"], in: folder).output.contains("har-stdin"))
    }

    @Test(arguments: [
        ["--kind", "status"], ["--kind", "frob"], ["--follow"], ["--token-env", "X"], ["--branch", "b"],
    ])
    func optionsThatMeanNothingAreRefused(options: [String]) throws {
        try folder.write("{}", to: "c.har")
        let run = try ToolRun.run(["ingest", "H", "har", "c.har"] + options, in: folder)
        #expect(run.exitCode == 2)
        #expect(run.errors.contains("see: logtool help"))
    }
}
