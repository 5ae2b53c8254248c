import Foundation
import TestSupport
import Testing

@testable import logtool

/// A byte altered inside a payload is told by whatever prints it or copies it out of the log.
@Suite struct CheckedReadTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 40)
        // Sequence 19 is message 17.
        try folder.alter("message 17")
    }

    @Test(
        arguments: [
            "history L message:1017", "events L --payload", "events L --payload --json",
            "events L --from 19 --to 19 --payload --jsonl", "export L", "prove L 19", "prove L 19 --json",
            "replay L --checked", "replay L --checked --digest", "replay L --checked --digest --each",
            "replay L --checked --step", "replay L --checked --channel 10 --json", "replay L --step",
            "replay L --step --from 19 --to 19 --json", "bisect L --when count(messages)>16",
            "bisect L --when count(messages)>16 --json", "freeze L -o F", "shrink L --when count(messages)>0 -o S",
        ]
    )
    func whatPrintsTheEventEndsWith3(arguments: String) throws {
        let run = try tool(arguments)
        #expect(run.exitCode == 3, "\(run.errors)")
        #expect(run.errors.contains("sequence 19"))
        #expect(run.errors.contains("logtool verify"))
        #expect(run.errors.split(separator: "\n").count == 1)
    }

    @Test(
        arguments: [
            "events L", "history L message:1018", "events L --to 18 --payload", "prove L 18", "replay L",
            "replay L --step --from 20", "bisect L --when count(messages)>15", "freeze L -o F --at 18",
        ]
    )
    func whatDoesNotPrintTheEventGoesOn(arguments: String) throws {
        let run = try tool(arguments)
        #expect(run.exitCode == 0, "\(run.errors)")
    }

    @Test func aCheckedReplayOfASoundLogSaysSo() throws {
        let folder = try TemporaryDirectory()
        try folder.makeLog(messages: 300)
        let root = try ToolRun.run(["root", "L"], in: folder).output
        let plain = try ToolRun.run(["replay", "L", "--json"], in: folder)
        let checked = try ToolRun.run(["replay", "L", "--json", "--checked"], in: folder)
        #expect(checked.exitCode == 0)
        #expect(checked.output == plain.output)
        let summary = checked.errors.trimmingCharacters(in: .newlines)
        #expect(summary.hasPrefix("logtool: checked: every event that was folded, up to sequence 302, root "))
        #expect(root.contains(String(summary.suffix(64))))
        #expect(try ToolRun.run(["replay", "L", "--digest", "--checked", "--quiet"], in: folder).errors.isEmpty)
    }

    /// A leaf hash that was altered with its event fits it, and not the tree.
    @Test func aCheckedReplayHoldsTheLeafHashesAgainstTheTree() throws {
        let folder = try TemporaryDirectory()
        try folder.makeLog(messages: 300)
        let before = try ToolRun.run(["replay", "L", "--checked"], in: folder)
        #expect(before.exitCode == 0)
        let path = folder.path("L/gen-000001/data.mdb")
        var data = try Data(contentsOf: URL(filePath: path))
        let leaf = try ToolRun.run(["prove", "L", "19", "--json"], in: folder).output
        let proof = try JSONSerialization.jsonObject(with: Data(leaf.utf8)) as? [String: Any]
        let hash = try #require((proof?["leafHash"] as? String).flatMap { Data(base64Encoded: $0) })
        try #require(data.range(of: hash) != nil)
        while let place = data.range(of: hash) { data[place.lowerBound] ^= 1 }
        try data.write(to: URL(filePath: path))
        let run = try ToolRun.run(["replay", "L", "--checked"], in: folder)
        #expect(run.exitCode == 3)
        #expect(run.errors.contains("do not fit the tree"))
    }

    /// A deletion shows the text of an event before it.
    @Test(
        arguments: [
            "history L message:1 -n 1", "history L --match text --from 2", "audit L --deletes", "audit L -n 1 --json",
        ]
    )
    func theTextBeforeADeletionIsCheckedToo(arguments: String) throws {
        let folder = try TemporaryDirectory()
        let data = #""id":"1","channel_id":"7""#
        let author = #""author_id":"7","created_at":"2026-01-01T00:00:00Z""#
        let frames = [
            #"{"op":0,"s":1,"t":"MESSAGE_CREATE","d":{\#(data),"content":"a text",\#(author)}}"#,
            #"{"op":0,"s":2,"t":"MESSAGE_DELETE","d":{\#(data)}}"#,
        ]
        let lines = frames.enumerated().map { SampleCaptures.line($0, $1) }
        try folder.write(lines.joined(), to: "c.ndjson")
        let ingest = ["ingest", "L", "capture", "c.ndjson", "--kind", "gateway", "--as", "guild"]
        #expect(try ToolRun.run(ingest, in: folder).exitCode == 0)
        let words = arguments.split(separator: " ").map { String($0) }
        let sound = try ToolRun.run(words, in: folder)
        #expect(sound.exitCode == 0 && sound.output.contains("text"), "\(sound.errors)")
        try folder.alter("a text")
        let run = try ToolRun.run(words, in: folder)
        #expect(run.exitCode == 3 && run.output.isEmpty, "\(run.output)")
        #expect(run.errors.contains("sequence 1 "), "\(run.errors)")
    }

    #if Recorders
    @Test func aPlaybackGivesNoAlteredEvent() throws {
        let folder = try TemporaryDirectory()
        let lines = ["idle", "working"].enumerated().map { place, state in
            let raw = #"{\"state\":\"\#(state)\"}"#
            return #"{"t_ms":\#(1000 * place),"path":"/tmp/vibestatus-a.json","op":"write","raw":"\#(raw)"}"#
        }
        try folder.write(lines.joined(separator: "\n"), to: "c.ndjson")
        let ingest = ["ingest", "L", "capture", "c.ndjson", "--kind", "status"]
        #expect(try ToolRun.run(ingest, in: folder).exitCode == 0)
        try folder.alter("working")
        let play = ["play", "L", "--as", "files", "--speed", "max", "--to"]
        let run = try ToolRun.run(play + ["all"], in: folder)
        #expect(run.exitCode == 3, "\(run.errors)")
        #expect(run.errors.contains("sequence 2 "), "\(run.errors)")
        #expect(try ToolRun.run(play + ["first", "--until", "1"], in: folder).exitCode == 0)
    }
    #endif

    private func tool(_ arguments: String) throws -> ToolRun {
        try ToolRun.run(arguments.split(separator: " ").map { String($0) }, in: folder)
    }
}
