import Foundation
import TestSupport
import Testing

@testable import logtool

@Suite struct DiffCommandTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 3)
    }

    @Test(arguments: [["L", "L"], ["L@head", "L#canonical"], ["L@5", "L@2026-01-01T00:00:04Z"]])
    func equalStatesEndWith0(references: [String]) throws {
        let run = try diff(references)
        #expect(run.exitCode == 0)
        #expect(run.output == "the states are the same\n")
    }

    @Test func whatLaterEventsChangedIsNamed() throws {
        let run = try diff(["L@head~1", "L", "--json", "--explain"])
        #expect(run.exitCode == 1)
        #expect(run.errors.isEmpty)
        let document = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
        #expect(document?["same"] as? Bool == false)
        let differences = document?["differences"] as? [[String: Any]] ?? []
        let messages = differences.filter { ($0["entity"] as? String)?.hasPrefix("message:") == true }
        #expect(messages.count == 1)
        #expect(messages.first?["entity"] as? String == "message:guild/10/1003")
        #expect(messages.first?["change"] as? String == "added")
        #expect(messages.first?["sequences"] as? [String] == ["5"])
    }

    @Test func documentsAndStandardInputAreStatesToo() throws {
        let document = try ToolRun.run(["replay", "L", "--json"], in: folder)
        try folder.write(document.output, to: "state.json")
        #expect(try diff(["state.json", "L"]).exitCode == 0)
        #expect(try diff(["L@3", "state.json"]).exitCode == 1)
        let piped = try ToolRun.run(["diff", "-", "L"], in: folder, input: Data(document.output.utf8))
        #expect(piped.exitCode == 0)
    }

    @Test(arguments: [
        ["missing.json", "L"], ["broken.json", "L"], ["other.json", "L"], ["L", "L#nobody"], ["L", "L@x"], ["-", "-"],
        ["L"],
    ])
    func whatIsNoStateEndsWith2(references: [String]) throws {
        try folder.write("{", to: "broken.json")
        try folder.write(#"{"format":"other"}"#, to: "other.json")
        let run = try diff(references)
        #expect(run.exitCode == 2)
        #expect(run.output.isEmpty)
        #expect(run.errors.split(separator: "\n").count == 1)
    }

    @Test func aLogThatIsNotThereEndsWith10() throws {
        #expect(try diff(["L", "nowhere@3"]).exitCode == 10)
    }

    /// Events 6 and 7 delete message 1002, which was there before, and 1004, which comes and goes in between.
    private func recordDeletes() throws {
        let delete = { (id: Int) in
            #"{"op":0,"s":9,"t":"MESSAGE_DELETE","d":{"id":"\#(id)","channel_id":"10"}}"#
        }
        let lines = [
            SampleCaptures.line(10, delete(1002)), SampleCaptures.line(11, SampleCaptures.message(4)),
            SampleCaptures.line(12, delete(1004)), SampleCaptures.line(13, delete(1009)),
        ]
        try folder.write(lines.joined(), to: "more.ndjson")
        let run = try ToolRun.run(
            ["ingest", "L", "capture", "more.ndjson", "--kind", "gateway", "--as", "guild"],
            in: folder
        )
        #expect(run.exitCode == 0, "\(run.errors)")
    }

    @Test func aDeleteIsAChangeOfItsOwnWithTheLastText() throws {
        try recordDeletes()
        let text = try diff(["L@5", "L"]).output
        #expect(
            text.contains(
                "× message:guild/10/1002  (deleted, when and by whom is not told)\n  content: - \"message 2\"\n"
            )
        )
        #expect(text.contains("× message:guild/10/1004  (deleted"))
        #expect(!text.contains("cause") && !text.contains("- message:") && !text.contains("+ message:"))
        #expect(text.hasSuffix("1 deleted, 2 new among the deleted\n"))
        let back = try diff(["L", "L@5"]).output
        #expect(back.contains("+ message:guild/10/1002") && back.contains("1 restored"))
    }

    @Test func scriptsReadDeletedAndRestored() throws {
        try recordDeletes()
        func difference(_ entity: String, _ references: [String]) throws -> [String: Any] {
            let run = try diff(references + ["--json"])
            let document = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
            let all = document?["differences"] as? [[String: Any]] ?? []
            let found = all.filter { $0["entity"] as? String == entity }
            #expect(found.count == 1, "\(run.output)")
            return found.first ?? [:]
        }
        let deleted = try difference("message:guild/10/1002", ["L@5", "L"])
        #expect(deleted["change"] as? String == "deleted")
        let fields = try #require(deleted["fields"] as? [String: [String: String]])
        #expect(fields["content"] == ["a": "message 2", "b": "message 2"])
        #expect(fields["cause"] == ["b": "deleted"])
        #expect(Set(fields.keys) == ["content", "cause"])
        #expect(try difference("message:guild/10/1002", ["L", "L@5"])["change"] as? String == "restored")
        #expect(try difference("message:guild/10/1004", ["L@5", "L"])["change"] as? String == "added")
    }

    @Test func aStepShowsADeleteAsOne() throws {
        try recordDeletes()
        let text = try ToolRun.run(["replay", "L", "--step", "--from", "6"], in: folder).output
        #expect(
            text.contains(
                "× message:guild/10/1002  (deleted, when and by whom is not told)\n  content: - \"message 2\""
            )
        )
        #expect(text.contains("× message:guild/10/1009  (deleted, when and by whom is not told)\n"))
        #expect(!text.contains("cause"))
    }

    private func diff(_ arguments: [String]) throws -> ToolRun {
        try ToolRun.run(["diff"] + arguments, in: folder)
    }
}
