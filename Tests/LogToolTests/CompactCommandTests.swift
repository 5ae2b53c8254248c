import Foundation
import TestSupport
import Testing

@testable import logtool

@Suite struct CompactCommandTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 40)
    }

    @Test func theStateAfterIsTheOneThatWasPromised() throws {
        let summary = try summary("--keep", "10")
        let counts = try #require(summary["channels"] as? [[String: Any]])
        #expect(counts.first?["before"] as? Int == 40)
        #expect(counts.first?["after"] as? Int == 10)
        let replayed = try tool("replay", "L", "--digest").output
        #expect(summary["digest"] as? String == replayed.trimmingCharacters(in: .newlines))
        #expect(try tool("verify", "L").exitCode == 0)
        #expect(try tool("replay", "L").output.contains("compacted message"))
    }

    @Test func aDryRunHasTheSameFiguresAndChangesNothing() throws {
        let before = try tool("events", "L", "--jsonl").output
        let planned = try summary("--keep", "10", "--dry-run")
        #expect(try tool("events", "L", "--jsonl").output == before)
        let done = try summary("--keep", "10")
        #expect(NSDictionary(dictionary: planned) == NSDictionary(dictionary: done))
    }

    @Test func aSecondRunDropsNothingAndAppendsNothing() throws {
        _ = try summary("--keep", "10")
        let root = try tool("root", "L").output
        let second = try summary("--keep", "10")
        let events = try #require(second["events"] as? [String: Int])
        #expect(events["before"] == events["after"])
        #expect(try tool("root", "L").output == root)
    }

    @Test func pointsBeforeTheCompactionAreRefused() throws {
        _ = try summary("--keep", "10")
        #expect(try tool("replay", "L", "--at", "20").exitCode == 1)
        #expect(try tool("replay", "L", "--at", "20", "--retained").exitCode == 0)
        #expect(try tool("replay", "L", "--at", "42").exitCode == 0)
    }

    @Test func ingestingAgainAddsNothing() throws {
        _ = try summary("--keep", "10")
        let run = try tool("ingest", "L", "capture", "c.ndjson", "--kind", "gateway", "--as", "guild", "--json")
        #expect(run.output.hasPrefix(#"{"appended":0,"duplicates":42"#))
    }

    @Test(arguments: [["--keep", "-1"], ["--keep", "many"]])
    func aCountThatIsNoneEndsWith2(options: [String]) throws {
        #expect(try ToolRun.run(["compact", "L"] + options, in: folder).exitCode == 2)
    }

    @Test func whereThereIsNoLogTheCodeIs10() throws {
        #expect(try tool("compact", "nowhere").exitCode == 10)
    }

    private func summary(_ options: String...) throws -> [String: Any] {
        let run = try ToolRun.run(["compact", "L", "--json"] + options, in: folder)
        #expect(run.exitCode == 0, "\(run.errors)")
        return try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any] ?? [:]
    }

    private func tool(_ arguments: String...) throws -> ToolRun {
        try ToolRun.run(arguments, in: folder)
    }
}
