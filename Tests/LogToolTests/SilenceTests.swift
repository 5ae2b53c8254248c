import Foundation
import TestSupport
import Testing

@testable import logtool

/// Whoever asks for something that does not exist is told so, with what exists.
@Suite struct SilenceTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 3)
    }

    @Test(arguments: [
        (["events", "L", "--source", "nope"], "there is guild"),
        (["events", "L", "--source", "gild"], "did you mean \"guild\"?"),
        (["events", "L", "--kind", "nope"], "there is gateway.frame/1"),
        (["events", "L", "--from", "4", "--to", "2"], "no event lies between --from and --to"),
        (["events", "L", "--channel", "nope"], "there is general (guild/10)"),
        (["gaps", "L", "--source", "nope"], "there is guild"),
        (["replay", "L", "--source", "nope"], "there is guild"),
        (["replay", "L", "--source", "nope", "--at", "2"], "there is guild"),
        (["replay", "L", "--source", "nope", "--digest", "--each"], "there is guild"),
        (["replay", "L", "--source", "nope", "--channel", "10"], "there is guild"),
        (["replay", "L", "--step", "--source", "nope"], "there is guild"),
        (["replay", "L", "--step", "--kind", "nope"], "there is gateway.frame/1"),
        (["replay", "L", "--step", "--from", "4", "--to", "2"], "no event lies between --from and --to"),
        (["replay", "L", "--without", "99"], "sequences 1 to 5"),
        (["replay", "L", "--without", "2,99"], "--without 99"),
        (["diff", "L@2", "L", "--source", "nope"], "there is guild"),
        (["diff", "L@2", "L", "--channel", "nope"], "neither state has such a thing"),
        (["diff", "L", "L", "--entity", "message:nope"], "neither state has such a thing"),
    ])
    func whatDoesNotExistIsNamedWithWhatDoes(arguments: [String], expected: String) throws {
        let run = try ToolRun.run(arguments, in: folder)
        #expect(run.exitCode == 1)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains(expected))
        #expect(run.errors.split(separator: "\n").count == 1)
    }

    @Test func aListForProgramsIsWholeAlsoWhenItIsEmpty() throws {
        let run = try ToolRun.run(["events", "L", "--json", "--source", "nope"], in: folder)
        #expect(run.exitCode == 1)
        #expect(run.output == "[]\n")
    }

    @Test func anEventThatWasDroppedCannotBeLeftOut() throws {
        let large = try TemporaryDirectory()
        try large.makeLog(messages: 40, isLarge: true)
        #expect(try ToolRun.run(["compact", "L", "--keep", "1"], in: large).exitCode == 0)
        let run = try ToolRun.run(["replay", "L", "--without", "3"], in: large)
        #expect(run.exitCode == 1)
        #expect(run.errors.contains("dropped by a compaction"))
    }

    @Test func framesThatTheKindCannotReadAreCountedWhenTheyAreRecorded() throws {
        let frames =
            SampleCaptures.gateway(messages: 3) + SampleCaptures.line(9, "not JSON")
            + SampleCaptures.line(10, #"{"topic":"realtime:x","event":"phx_reply","payload":{}}"#)
        try folder.write(frames, to: "mixed.ndjson")
        let arguments = ["ingest", "M", "capture", "mixed.ndjson", "--kind", "gateway"]
        let run = try ToolRun.run(arguments, in: folder)
        #expect(run.exitCode == 0)
        #expect(run.output.hasPrefix("appended 7 events"))
        #expect(run.errors.contains("--kind gateway cannot read 2 of 7 frames, the first on line 6"))
        #expect(run.errors.contains("1 look like --kind realtime"))
        #expect(try ToolRun.run(arguments + ["--quiet"], in: folder).errors.isEmpty)
    }

    @Test(arguments: ["gateway", "realtime", "items", "status", "sse"])
    func aCaptureOfItsOwnKindRaisesNoDoubt(kind: String) throws {
        let folders = [
            "gateway": "retrocast-typing-twice", "realtime": "sidebar-two-notes-at-once",
            "items": "punchlist-bare-arrays", "status": "vibestatus-two-terminals",
            "sse": "punchlist-stream-ends-within-a-list",
        ]
        let capture = PackageRoot.scenarios.appending(path: "\(folders[kind] ?? "")/capture.ndjson").path
        let run = try ToolRun.run(["ingest", "M", "capture", capture, "--kind", kind], in: folder)
        #expect(run.exitCode == 0)
        #expect(run.errors.isEmpty)
    }

    @Test func gapsSaysThatThereAreNone() throws {
        #expect(
            try ToolRun.run(["gaps", "L"], in: folder).output.hasPrefix("no gaps: nothing is known to be missing; ")
        )
        #expect(try ToolRun.run(["gaps", "L", "--json"], in: folder).output == "[]\n")
        #expect(try ToolRun.run(["gaps", "L", "--jsonl"], in: folder).output.isEmpty)
    }

    @Test func aHoleNamesTheNumbersThatNeverCame() throws {
        var frames = SampleCaptures.gateway(messages: 2)
        frames += SampleCaptures.line(8, SampleCaptures.message(5)) + SampleCaptures.line(9, SampleCaptures.message(7))
        try folder.write(frames, to: "holes.ndjson")
        _ = try ToolRun.run(["ingest", "H", "capture", "holes.ndjson", "--as", "guild"], in: folder)
        let lines = try ToolRun.run(["gaps", "H"], in: folder).output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.first?.hasSuffix("hole: numbers 4 to 5 never came") == true)
        #expect(lines.last?.hasSuffix("hole: number 7 never came") == true)
        let last = try ToolRun.run(["gaps", "H", "--jsonl", "-n", "1"], in: folder).output
        #expect(last.contains(#""missing":[{"from":"7","to":"7"}]"#))
        let late = try ToolRun.run(["gaps", "H", "--from", "2026-01-01T00:00:08.5Z"], in: folder).output
        #expect(late.split(separator: "\n").count == 1)
        let none = try ToolRun.run(["gaps", "H", "--to", "2"], in: folder).output
        #expect(none == "no gap fits; without options there are 2\n")
    }
}
