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

    private func history(_ arguments: String...) throws -> ToolRun {
        try ToolRun.run(["history", "L"] + arguments, in: folder)
    }
}
