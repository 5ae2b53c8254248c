import Foundation
import TestSupport
import Testing

@testable import logtool

@Suite struct IngestCommandTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    @Test func aSecondRunAppendsNothing() throws {
        try folder.write(SampleCaptures.gateway(messages: 3), to: "c.ndjson")
        let first = try ingest("c.ndjson")
        #expect(first.exitCode == 0)
        #expect(first.output == #"{"appended":5,"duplicates":0,"skipped":0,"first":"1","last":"5","issues":[]}"# + "\n")
        let second = try ingest("c.ndjson")
        #expect(second.output == #"{"appended":0,"duplicates":5,"skipped":0,"issues":[]}"# + "\n")
    }

    /// A capture is read to its end before anything of it is appended, as one line that cannot be read refuses it.
    @Test func anInterruptedReadingOfAPipeSaysHowToGoOn() throws {
        let pipe = Pipe()
        let words = ["ingest", "L", "capture", "-", "--kind", "gateway"]
        let process = try ToolProcess(words, in: folder, input: pipe.fileHandleForReading)
        let lines = String(repeating: #"{"t_ms":1,"dir":"in","raw":"{\"op\":11}"}"# + "\n", count: 10_000)
        // More than a pipe holds, so the writing ends only once the program reads.
        try pipe.fileHandleForWriting.write(contentsOf: Data(lines.utf8))
        let run = process.end(SIGINT)
        #expect(run.exitCode == 130)
        let farewell = "logtool: interrupted before anything was appended; to go on, give the same input again\n"
        #expect(run.errors.hasSuffix(farewell), "\(run.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.path("L")))
    }

    @Test func whatIsDeclaredSecretStaysOutAndOtherRulesAddWhatComesOutOtherwise() throws {
        let frame = #"{\"op\":0,\"t\":\"X\",\"d\":{\"e-mail\":\"ada@x\",\"id\":7,\"note\":\"n\"}}"#
        try folder.write(#"{"t_ms":1,"dir":"in","raw":"\#(frame)"}"# + "\n", to: "c.ndjson")
        let run = { (rules: [String]) in
            try ToolRun.run(
                ["ingest", "L", "capture", "c.ndjson", "--kind", "gateway", "--as", "g", "--json"]
                    + rules.flatMap { ["--redact", $0] },
                in: folder
            )
        }
        #expect(try run(["email", "/d/id"]).output.hasPrefix(#"{"appended":1,"duplicates":0"#))
        #expect(try run(["email", "/d/id"]).output.hasPrefix(#"{"appended":0,"duplicates":1"#))
        // Keys do not depend on the rules, so another payload stands beside the first.
        #expect(try run(["email"]).output.hasPrefix(#"{"appended":1,"duplicates":0"#))
        let lines = try ToolRun.run(["events", "L", "--jsonl", "--payload"], in: folder).output.split(separator: "\n")
        #expect(lines.count == 2 && !lines.contains { $0.contains("ada@x") })
        #expect(lines[0].contains(#"\"id\":\"[redacted]\""#) && lines[1].contains(#"\"id\":7"#))
        #expect(lines[1].contains(#""key":"1/1~"#))
        #expect(try run(["/d~"]).exitCode == 2)
    }

    @Test func aCaptureThatHasGrownAddsOnlyWhatIsNew() throws {
        try folder.write(SampleCaptures.gateway(messages: 3), to: "c.ndjson")
        _ = try ingest("c.ndjson")
        try folder.write(SampleCaptures.gateway(messages: 5), to: "c.ndjson")
        #expect(try ingest("c.ndjson").output.hasPrefix(#"{"appended":2,"duplicates":5"#))
    }

    @Test func standardInputIsACaptureToo() throws {
        let run = try ToolRun.run(
            ["ingest", "L", "capture", "-", "--kind", "gateway"],
            in: folder,
            input: Data(SampleCaptures.gateway(messages: 2).utf8)
        )
        #expect(run.exitCode == 0)
        #expect(run.output.contains("appended 4 events"))
    }

    @Test(arguments: [
        ("truncated", #"{"t_ms":1,"dir":"in","raw":"{\"op"#),
        ("no capture", "hello\n"),
        ("no object", "[1,2]\n"),
        ("no time", #"{"dir":"in","raw":"x"}"# + "\n"),
    ])
    func aLineThatIsNoneIsNamedAndNothingIsAppended(name: String, line: String) throws {
        try folder.write(SampleCaptures.gateway(messages: 1) + line, to: "c.ndjson")
        let run = try ingest("c.ndjson")
        #expect(run.exitCode == 2)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains("c.ndjson:4"))
        #expect(run.errors.split(separator: "\n").count == 1)
        #expect(!FileManager.default.fileExists(atPath: folder.path("L")))
    }

    @Test func invalidUTF8IsNoCaptureLine() throws {
        var bytes = Data(SampleCaptures.gateway(messages: 1).utf8)
        bytes.append(contentsOf: Array(#"{"t_ms":1,"dir":"in","raw":""#.utf8) + [0xFF, 0xFE] + Array("\"}\n".utf8))
        try bytes.write(to: URL(filePath: folder.path("c.ndjson")))
        let run = try ingest("c.ndjson")
        #expect(run.exitCode == 2)
        #expect(run.errors.contains("c.ndjson:4"))
    }

    @Test func keepGoingTakesTheOthersAndListsTheLine() throws {
        try folder.write(SampleCaptures.gateway(messages: 1) + "hello\n", to: "c.ndjson")
        let run = try ingest("c.ndjson", "--keep-going")
        #expect(run.exitCode == 0)
        #expect(run.output.hasPrefix(#"{"appended":3,"duplicates":0,"skipped":1"#))
        #expect(run.output.contains("c.ndjson:4"))
    }

    @Test(arguments: ["missing.ndjson", "."])
    func whatIsNoReadableFileIsRefused(file: String) throws {
        let run = try ingest(file)
        #expect(run.exitCode == 2)
        #expect(run.errors.hasPrefix("logtool: "))
        #expect(!FileManager.default.fileExists(atPath: folder.path("L")))
    }

    @Test func anEmptyFileIsNoCapture() throws {
        try folder.write("", to: "c.ndjson")
        let run = try ingest("c.ndjson")
        #expect(run.exitCode == 2)
        #expect(run.errors.contains("c.ndjson"))
        #expect(!FileManager.default.fileExists(atPath: folder.path("L")))
    }

    @Test func aFolderThatIsNoLogIsNotMadeOne() throws {
        try folder.write(SampleCaptures.gateway(messages: 1), to: "c.ndjson")
        try FileManager.default.createDirectory(atPath: folder.path("L"), withIntermediateDirectories: false)
        try folder.write("precious", to: "L/notes.txt")
        let run = try ingest("c.ndjson")
        #expect(run.exitCode == 2 || run.exitCode == 10)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("L")) == ["notes.txt"])
    }

    @Test func whatIsNoRepositoryIsRefused() throws {
        let run = try ToolRun.run(["ingest", "L", "git", "."], in: folder)
        #expect(run.exitCode == 2)
        #expect(run.errors.hasPrefix("logtool: "))
        #expect(!FileManager.default.fileExists(atPath: folder.path("L")))
    }

    private func ingest(_ file: String, _ options: String...) throws -> ToolRun {
        let kind = ["--kind", "gateway", "--as", "guild", "--json"]
        return try ToolRun.run(["ingest", "L", "capture", file] + kind + options, in: folder)
    }
}
