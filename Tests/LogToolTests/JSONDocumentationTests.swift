import Foundation
import TestSupport
import Testing

@testable import logtool

@Suite struct JSONDocumentationTests {
    private static let page =
        (try? String(contentsOf: PackageRoot.url.appending(path: "docs/cli-json.md"), encoding: .utf8)) ?? ""

    /// The commands whose help has `--json`.
    private static let commands = Help.commandNames.filter { name in
        (try? Help.requested(by: ["help", name])).map { $0?.contains("  --json ") == true } ?? false
    }

    @Test(arguments: commands)
    func everyDocumentHasItsSection(command: String) {
        #expect(Self.section(command) != nil)
    }

    @Test func thereAreSuchCommands() {
        #expect(Set(["events", "status", "history", "compact", "rebuild"]).isSubset(of: Self.commands))
    }

    /// What the commands print has no member that the page does not name.
    @Test(arguments: [
        ["events", "L", "--jsonl", "--payload"], ["status", "L", "--jsonl"],
        ["history", "L", "message:1002", "--jsonl", "--prove"], ["audit", "L", "--jsonl", "--prove"],
        ["stats", "L", "--json"], ["gaps", "L", "--jsonl"], ["diff", "L@3", "L", "--explain", "--jsonl"],
        ["compact", "L", "--dry-run", "--json"], ["verify", "L", "--json"], ["root", "L", "--json"],
        ["backup", "L", "B", "--json"], ["rebuild", "L", "--to", "c.sqlite", "--json"],
        ["salvage", "L", "-o", "S", "--json"], ["import", "I", "listed.ndjson", "--json"],
        ["ingest", "L", "capture", "c.ndjson", "--as", "guild", "--kind", "gateway", "--json"],
        ["prove", "L", "3", "--json"], ["shrink", "L", "--when", "exists(messages)", "-o", "Small", "--json"],
        ["anonymize", "L", "-o", "Shown", "--json"],
    ])
    func everyMemberIsNamed(arguments: [String]) throws {
        let folder = try TemporaryDirectory()
        var frames = SampleCaptures.gateway(messages: 2)
        frames += SampleCaptures.line(8, SampleCaptures.message(5))
        frames += SampleCaptures.line(9, #"{"op":0,"s":9,"t":"MESSAGE_DELETE","d":{"id":"1001","channel_id":"10"}}"#)
        try folder.write(frames, to: "c.ndjson")
        _ = try ToolRun.run(["ingest", "L", "capture", "c.ndjson", "--as", "guild", "--kind", "gateway"], in: folder)
        try folder.write(ToolRun.run(["events", "L", "--jsonl", "--payload"], in: folder).output, to: "listed.ndjson")
        let output = try ToolRun.run(arguments, in: folder).output
        let isLines = arguments.contains("--jsonl")
        let text = isLines ? output.prefix { $0 != "\n" } : output[...]
        let members = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]).keys
        let section = try #require(Self.section(arguments[0]))
        for member in members { #expect(section.contains(member), "\(member)") }
    }

    private static func section(_ command: String) -> String? {
        let sections = page.components(separatedBy: "\n## ")
        let found = sections.filter { $0.hasPrefix("`\(command) ") && $0.prefix { $0 != "\n" }.contains("--json") }
        return found.isEmpty ? nil : found.joined(separator: "\n")
    }
}
