import Foundation
import TestSupport
import Testing

@testable import logtool

@Suite struct SelectorTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.write(SampleCaptures.channels(3), to: "c.ndjson")
        _ = try ToolRun.run(["ingest", "L", "capture", "c.ndjson", "--as", "guild"], in: folder)
    }

    /// Sequences: 1 hello; 2, 3 channel 100; 4, 5 channel 101; 6, 7 channel 102.
    @Test(arguments: [
        (["--channel", "101"], ["4", "5"]), (["--channel", "guild/101"], ["4", "5"]),
        (["--channel", "101", "-n", "1"], ["5"]),
        (["-n", "2"], ["6", "7"]), (["-n", "0"], []), (["-n", "99"], ["1", "2", "3", "4", "5", "6", "7"]),
        (["--max-count", "2", "--to", "3"], ["2", "3"]), (["--kind", "gateway.frame", "--from", "head"], ["7"]),
        (["--entity", "message:1001"], ["5"]), (["--source", "guild", "-n", "1"], ["7"]),
    ])
    func eventsAndStepsAreChosenAlike(arguments: [String], sequences: [String]) throws {
        for command in [["events", "L"], ["replay", "L", "--step"]] {
            let run = try ToolRun.run(command + ["--jsonl"] + arguments, in: folder)
            #expect(run.exitCode == 0)
            #expect(try Self.members("sequence", of: run.output) == sequences)
        }
    }

    @Test func stepsThatChangedNothingMayBeLeftOut() throws {
        let all = try ToolRun.run(["replay", "L", "--step"], in: folder).output
        #expect(all.contains("changed nothing"))
        let changed = try ToolRun.run(["replay", "L", "--step", "--changed"], in: folder).output
        #expect(!changed.contains("changed nothing"))
        #expect(changed.contains("MESSAGE_CREATE"))
        let lines = try ToolRun.run(["replay", "L", "--step", "--changed", "--jsonl"], in: folder).output
        #expect(try Self.members("sequence", of: lines) == ["2", "3", "4", "5", "6", "7"])
    }

    @Test(arguments: [
        (["--channel", "101"], ["channel:guild/101", "message:guild/101/1001"]),
        (["--entity", "message:1002"], ["message:guild/102/1002"]), (["-n", "1"], ["guild:guild/1"]),
        (["--source", "guild", "--channel", "guild/100"], ["channel:guild/100", "message:guild/100/1000"]),
    ])
    func differencesAreChosenToo(arguments: [String], entities: [String]) throws {
        let run = try ToolRun.run(["diff", "L@1", "L", "--jsonl"] + arguments, in: folder)
        #expect(run.exitCode == 1)
        #expect(try Self.members("entity", of: run.output) == entities)
    }

    @Test(arguments: [
        (["channel:100"], 1, 0), (["channel:100", "--to", "1"], 0, 1), (["channel:100", "--from", "2"], 1, 0),
        (["channel:100", "-n", "0"], 0, 0), (["channel:100", "--kind", "gateway.frame"], 1, 0),
        (["channel:100", "--kind", "sse.event"], 0, 1), (["channel:100", "--source", "guild"], 1, 0),
        (["channel:100", "--source", "other"], 0, 1), (["channel:100", "--channel", "101"], 0, 1),
        (["--match", "room"], 3, 0), (["--match", "room", "--channel", "101"], 1, 0),
        (["--match", "room", "--from", "5"], 1, 0), (["--match", "room", "--to", "1"], 0, 1),
    ])
    func historiesAreChosenToo(arguments: [String], count: Int, exitCode: Int32) throws {
        let run = try ToolRun.run(["history", "L", "--jsonl"] + arguments, in: folder)
        #expect(run.exitCode == exitCode, "\(run.errors)")
        #expect(run.output.split(separator: "\n").count == count, "\(run.output)")
    }

    @Test func aTextIsLookedForBeforeTheLastOnesAreTaken() throws {
        let run = try ToolRun.run(["events", "L", "--jsonl", "--match", "101", "-n", "1"], in: folder)
        #expect(try Self.members("sequence", of: run.output) == ["5"])
    }

    @Test func theStatusOfOneRecorder() throws {
        let run = try ToolRun.run(["status", "L", "--source", "guild", "--jsonl"], in: folder)
        #expect(try Self.members("source", of: run.output) == ["guild"])
        #expect(try ToolRun.run(["status", "L", "--source", "other"], in: folder).exitCode == 1)
    }

    @Test func aSourceThatTwoDocumentsLackIsSaid() throws {
        try folder.write(try ToolRun.run(["replay", "L", "--json"], in: folder).output, to: "a.json")
        let run = try ToolRun.run(["diff", "a.json", "a.json", "--source", "nope"], in: folder)
        #expect(run.exitCode == 1)
        #expect(run.errors.contains("neither state has anything of it"))
        #expect(try ToolRun.run(["diff", "a.json", "a.json", "--source", "guild"], in: folder).exitCode == 0)
    }

    @Test(arguments: [
        ["diff", "L@1", "L", "--from", "2"], ["diff", "L@1", "L", "--kind", "gateway.frame"],
        ["gaps", "L", "--kind", "x"], ["history", "L", "message:1000", "--entity", "message:1000"],
        ["gaps", "L", "--entity", "message:1"], ["replay", "L", "-n", "1"], ["replay", "L", "--changed"],
        ["events", "L", "-n", "-1"], ["events", "L", "--channel", "100", "--entity", "message:1000"],
        ["events", "L", "--follow", "--channel", "100"], ["events", "L", "-C", "elsewhere"],
    ])
    func aSelectorWithoutMeaningIsRefused(arguments: [String]) throws {
        let run = try ToolRun.run(arguments, in: folder)
        #expect(run.exitCode == 2)
        #expect(run.output.isEmpty)
    }

    @Test func aLogIsFoundFromAnotherDirectory() throws {
        let name = folder.url.lastPathComponent
        let elsewhere = folder.url.deletingLastPathComponent().path
        let arguments = ["-C", elsewhere, "-C", name, "events", "L", "-n", "1", "--jsonl"]
        let run = try ToolRun.run(arguments, in: TemporaryDirectory())
        #expect(try Self.members("sequence", of: run.output) == ["7"])
        #expect(try ToolRun.run(["-C", "nowhere", "events", "L"], in: folder).exitCode == 2)
        #expect(try ToolRun.run(["-C"], in: folder).errors.contains("-C needs a directory"))
    }

    private static func members(_ name: String, of lines: String) throws -> [String?] {
        try lines.split(separator: "\n").map { line in
            (try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])?[name] as? String
        }
    }
}
