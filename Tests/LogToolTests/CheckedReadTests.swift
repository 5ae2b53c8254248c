import Foundation
import TestSupport
import Testing

@testable import logtool

/// A byte altered inside a payload is told by whatever prints it.
@Suite struct CheckedReadTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 40)
        // Sequence 19 is message 17.
        let path = folder.path("L/gen-000001/data.mdb")
        var data = try Data(contentsOf: URL(filePath: path))
        let text = Data("message 17".utf8)
        var count = 0
        while let place = data.range(of: text) {
            data[place.lowerBound + 1] = UInt8(ascii: "a")
            count += 1
        }
        try #require(count > 0)
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.write(contentsOf: data)
        try file.close()
    }

    @Test(
        arguments: [
            "history L message:1017", "events L --payload", "events L --payload --json",
            "events L --from 19 --to 19 --payload --jsonl", "export L", "prove L 19", "prove L 19 --json",
            "replay L --checked", "replay L --checked --digest", "replay L --checked --digest --each",
            "replay L --checked --step", "replay L --checked --channel 10 --json",
        ]
    )
    func whatPrintsTheEventEndsWith3(arguments: String) throws {
        let run = try tool(arguments)
        #expect(run.exitCode == 3, "\(run.errors)")
        #expect(run.errors.contains("sequence 19"))
        #expect(run.errors.contains("logtool verify"))
        #expect(run.errors.split(separator: "\n").count == 1)
    }

    @Test(arguments: ["events L", "history L message:1018", "events L --to 18 --payload", "prove L 18", "replay L"])
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

    private func tool(_ arguments: String) throws -> ToolRun {
        try ToolRun.run(arguments.split(separator: " ").map { String($0) }, in: folder)
    }
}
