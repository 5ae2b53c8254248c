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

    private func diff(_ arguments: [String]) throws -> ToolRun {
        try ToolRun.run(["diff"] + arguments, in: folder)
    }
}
