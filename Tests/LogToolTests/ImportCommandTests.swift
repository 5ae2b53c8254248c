import Foundation
import TestSupport
import Testing

@testable import logtool

@Suite struct ImportCommandTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 40, isLarge: true)
    }

    @Test(arguments: [false, true])
    func theSameLogComesBack(isCompacted: Bool) throws {
        if isCompacted { #expect(try tool("compact", "L", "--keep", "5").exitCode == 0) }
        #expect(try tool("export", "L", "-o", "L.ndjson").exitCode == 0)
        let run = try tool("import", "M", "L.ndjson", "--json")
        #expect(run.exitCode == 0, "\(run.errors)")
        let size = isCompacted ? 43 : 42
        #expect(
            run.output == #"{"appended":\#(size),"duplicates":0,"skipped":0,"first":"1","last":"\#(size)","issues":[]}"#
                + "\n"
        )
        for command in [["root"], ["replay", "--digest"], ["verify"], ["events", "--jsonl", "--payload"], ["export"]] {
            let arguments = command.dropFirst()
            let original = try ToolRun.run([command[0], "L"] + arguments, in: folder)
            let copy = try ToolRun.run([command[0], "M"] + arguments, in: folder)
            #expect(original.exitCode == 0)
            #expect(original.output == copy.output)
        }
        let again = ["ingest", "M", "capture", "c.ndjson", "--kind", "gateway", "--as", "guild", "--json"]
        #expect(try ToolRun.run(again, in: folder).output.hasPrefix(#"{"appended":0,"duplicates":42"#))
    }

    /// The root does not cover the header's identity, so an import says which one it takes.
    @Test func anIdentityIsNamedAsUnproved() throws {
        let export = try tool("export", "L").output
        let place = try #require(export.firstRange(of: #""identity":""#))
        let identity = String(export[place.upperBound...].prefix { $0 != "\"" })
        let other = String(repeating: "ab", count: 16)
        let bytes = Data(repeating: 0xAB, count: 16).base64EncodedString()
        try folder.write(export.replacing(identity, with: bytes), to: "x.ndjson")
        let run = try tool("import", "M", "x.ndjson")
        #expect(run.exitCode == 0)
        #expect(run.errors.contains("the identity \(other) of the file's header, which nothing proves"))
        // Into the log itself it is another log's.
        #expect(try tool("import", "L", "x.ndjson").exitCode == 2)
    }

    @Test func theLinesAreTheDocumentedOnes() throws {
        let lines = try tool("export", "L").output.split(separator: "\n").map { line in
            try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
        }
        #expect(lines.count == 43)
        #expect(lines[0]["format"] as? String == "eventlog.export/1")
        #expect(lines[0]["what"] as? String == "log")
        #expect(lines[0]["size"] as? String == "42")
        #expect(
            Set(lines[17].keys)
                == ["sequence", "recordedAt", "source", "kind", "key", "attributes", "salt", "payload"]
        )
        #expect(lines[17]["sequence"] as? String == "17")
    }

    @Test func aLogThatGrewIsBroughtUp() throws {
        let first = try tool("export", "L").output
        #expect(try ToolRun.run(["import", "M", "-"], in: folder, input: Data(first.utf8)).exitCode == 0)
        try folder.makeLog(messages: 45, isLarge: true)
        let second = try tool("export", "L").output
        let run = try ToolRun.run(["import", "M", "-"], in: folder, input: Data(second.utf8))
        #expect(run.output == "appended 5 events (43 to 47), 42 were there already\n")
        #expect(try tool("export", "M").output == second)
    }

    @Test func aForkEndsWith2() throws {
        let first = try tool("export", "L").output
        #expect(try ToolRun.run(["import", "M", "-"], in: folder, input: Data(first.utf8)).exitCode == 0)
        try folder.makeLog(messages: 45, isLarge: true)
        try folder.write(SampleCaptures.line(99, "{}"), to: "d.ndjson")
        #expect(try tool("ingest", "M", "capture", "d.ndjson", "--kind", "gateway").exitCode == 0)
        let run = try ToolRun.run(["import", "M", "-"], in: folder, input: Data(try tool("export", "L").output.utf8))
        #expect(run.exitCode == 2)
        #expect(run.errors.contains("fork at sequence 43"))
    }

    @Test(arguments: ["message 7", #""root":"#, #""sequence":"17""#, #""format":"#, #""what":"log""#])
    func anAlteredFileMakesNothing(text: String) throws {
        let whole = try tool("export", "L").output
        let altered = whole.replacingOccurrences(of: text, with: text.replacingOccurrences(of: "o", with: "0") + "1")
        try folder.write(altered, to: "x.ndjson")
        let run = try tool("import", "M", "x.ndjson")
        #expect(run.exitCode == 2)
        #expect(run.errors.split(separator: "\n").count == 1)
        #expect(try tool("root", "M").exitCode == 10)
    }

    @Test func aFileThatIsCutOffMakesNothing() throws {
        let lines = try tool("export", "L").output.split(separator: "\n").dropLast().joined(separator: "\n")
        try folder.write(lines, to: "x.ndjson")
        #expect(try tool("import", "M", "x.ndjson").exitCode == 2)
        #expect(try tool("root", "M").exitCode == 10)
    }

    @Test func aFileIsOverwrittenOnlyWhereThatIsSaid() throws {
        #expect(try tool("export", "L", "-o", "c.ndjson").exitCode == 4)
        #expect(try tool("export", "L", "-o", "c.ndjson", "--yes").exitCode == 0)
        #expect(try tool("import", "M", "c.ndjson").exitCode == 0)
        #expect(try tool("import", "M", "nowhere").exitCode == 2)
        #expect(try tool("export", "nowhere").exitCode == 10)
    }

    private func tool(_ arguments: String...) throws -> ToolRun {
        try ToolRun.run(arguments, in: folder)
    }
}
