import Foundation
import TestSupport
import Testing

@testable import logtool

@Suite struct HistoryCommandTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 2)
    }

    @Test(arguments: ["message:guild/10/1001", "message:10/1001", "message:1001", "message:guild/1001"])
    func partsMayBeLeftOut(entity: String) throws {
        let run = try history(entity, "--json")
        #expect(run.exitCode == 0)
        let document = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
        #expect(document?["entity"] as? String == "message:guild/10/1001")
        let events = document?["events"] as? [[String: Any]]
        #expect(events?.count == 1)
        #expect(events?.first?["change"] as? String == "created")
        #expect(events?.first?["sequence"] as? String == "3")
        #expect(events?.first?["recordedAt"] as? String == "2026-01-01T00:00:02.000000Z")
    }

    @Test func whatIsNotThereEndsWith1() throws {
        let run = try history("message:9999")
        #expect(run.exitCode == 1)
        #expect(run.output.isEmpty)
    }

    @Test func whereSeveralFitTheyAreNamed() throws {
        try folder.write(SampleCaptures.gateway(messages: 1), to: "other.ndjson")
        _ = try ToolRun.run(
            ["ingest", "L", "capture", "other.ndjson", "--kind", "gateway", "--as", "other"],
            in: folder
        )
        let run = try history("message:1001")
        #expect(run.exitCode == 2)
        #expect(run.errors.contains("message:guild/10/1001"))
        #expect(run.errors.contains("message:other/10/1001"))
    }

    @Test(arguments: ["1001", "thing:1001", "message:", ""])
    func whatNamesNothingEndsWith2(entity: String) throws {
        #expect(try history(entity).exitCode == 2)
    }

    /// By the remote's clock, which runs ten seconds behind, where it says a time; a removal has only the recorder's.
    @Test func aSessionSaysHowLongEachStatusLasted() throws {
        func line(_ seconds: Int, _ state: String) -> String {
            let time = "2025-12-31T23:59:\(10 + seconds)Z"
            let raw = #"{\"state\":\"\#(state)\",\"project\":\"garden\",\"timestamp\":\"\#(time)\"}"#
            return
                #"{"t_ms":\#(SampleCaptures.start + seconds * 1000),"path":"/tmp/vibestatus-a.json","op":"write","raw":"\#(raw)"}"#
        }
        let removal = #"{"t_ms":\#(SampleCaptures.start + 90_500),"path":"/tmp/vibestatus-a.json","op":"remove"}"#
        let lines = [line(0, "idle"), line(9, "working"), line(40, "working"), line(45, "needs_input"), removal]
        try folder.write(lines.joined(separator: "\n") + "\n", to: "status.ndjson")
        _ = try ToolRun.run(
            ["ingest", "L", "capture", "status.ndjson", "--kind", "status", "--as", "vibe"],
            in: folder
        )
        let run = try history("session:vibestatus-a.json", "--json")
        let document = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
        let events = try #require(document?["events"] as? [[String: Any]])
        #expect(events.map { $0["change"] as? String } == ["started", "changed", "changed", "ended"])
        #expect(events.map { $0["dwellMilliseconds"] as? Int } == [nil, 9000, 36_000, 45_500])
        let listed = try history("session:vibestatus-a.json", "--jsonl").output.split(separator: "\n")
        #expect(listed.count == 4)
        #expect(listed.allSatisfy { $0.hasPrefix(#"{"entity":"session:vibe/vibestatus-a.json","#) })
        let text = try history("session:vibestatus-a.json").output
        #expect(text.contains("after 9s") && text.contains("after 36s") && text.contains("after 45s"))
    }

    private func history(_ arguments: String...) throws -> ToolRun {
        try ToolRun.run(["history", "L"] + arguments, in: folder)
    }
}
