import EventLog
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

    /// By the remote's clock, which runs ten seconds behind, where it says a time; a removal has only the recorder's.
    @Test func aSessionSaysHowLongEachStatusLasted() throws {
        func line(_ seconds: Int, _ state: String) -> String {
            let time = "2025-12-31T23:59:\(10 + seconds)Z"
            let raw = #"{\"state\":\"\#(state)\",\"project\":\"garden\",\"timestamp\":\"\#(time)\"}"#
            return
                #"{"t_ms":\#(SampleCaptures.start + seconds * 1000),"path":"/tmp/vibestatus-a.json","op":"write","raw":"\#(raw)"}"#
        }
        let removal = #"{"t_ms":\#(SampleCaptures.start + 90_500),"path":"/tmp/vibestatus-a.json","op":"remove"}"#
        let lines = [line(0, "idle"), line(9, "working"), line(40, "working"), line(45, "needs_input"), removal]
        try folder.write(lines.joined(separator: "\n") + "\n", to: "status.ndjson")
        _ = try ToolRun.run(
            ["ingest", "L", "capture", "status.ndjson", "--kind", "status", "--as", "vibe"],
            in: folder
        )
        let run = try history("session:vibestatus-a.json", "--json")
        let document = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
        let events = try #require(document?["events"] as? [[String: Any]])
        #expect(events.map { $0["change"] as? String } == ["started", "changed", "changed", "ended"])
        #expect(events.map { $0["dwellMilliseconds"] as? Int } == [nil, 9000, 36_000, 45_500])
        let listed = try history("session:vibestatus-a.json", "--jsonl").output.split(separator: "\n")
        #expect(listed.count == 4)
        #expect(listed.allSatisfy { $0.hasPrefix(#"{"entity":"session:vibe/vibestatus-a.json","#) })
        // A session goes by the project that people see, too.
        for name in ["session:garden", "session:vibe/garden"] {
            #expect(try history(name, "--json").output == run.output)
            let audit = try ToolRun.run(["audit", "L", "--entity", name, "--jsonl"], in: folder)
            #expect(audit.exitCode == 0 && audit.output.contains("vibestatus-a.json"), "\(audit.errors)")
            let events = try ToolRun.run(["events", "L", "--entity", name], in: folder)
            #expect(events.exitCode == 0 && !events.output.isEmpty, "\(events.errors)")
        }
        #expect(try history("session:gardens").exitCode == 1)
        let text = try history("session:vibestatus-a.json").output
        #expect(text.contains("after 9s") && text.contains("after 36s") && text.contains("after 45s"))
    }

    /// An open read session keeps LMDB from reusing pages, so a search holds none while its output waits.
    @Test(.hangGuard) func aSearchThatWaitsForItsReaderReadsNoLog() async throws {
        let folder = try TemporaryDirectory()
        try folder.makeLog(messages: 3000)
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = try ToolRun.executable
        process.arguments = ["history", "L", "--match", "message", "--jsonl"]
        process.currentDirectoryURL = folder.url
        (process.standardOutput, process.standardError) = (pipe, FileHandle.nullDevice)
        try process.run()
        // More follows than the pipe holds.
        #expect(!pipe.fileHandleForReading.availableData.isEmpty)
        let store = try EventStore.open(at: folder.path("L"))
        while try store.statistics().readers > 0 {
            try Task.checkCancellation()
            await Task.yield()
        }
        #expect(process.isRunning)
        process.terminate()
        try pipe.fileHandleForReading.close()
        process.waitUntilExit()
    }

    /// Message 1001 is edited to other texts, one a second.
    private func edit(to texts: [String]) throws {
        let lines = texts.enumerated().map { number, text in
            SampleCaptures.line(
                50 + number,
                #"{"op":0,"s":9,"t":"MESSAGE_UPDATE","d":{"id":"1001","channel_id":"10","author_id":"7","#
                    + #""author_username":"ada","content":"\#(text)","created_at":"2026-01-01T00:00:00Z","#
                    + #""edited_at":"2026-01-02T00:00:\#(10 + number)Z"}}"#
            )
        }
        try folder.write(lines.joined(), to: "edits.ndjson")
        let run = try ToolRun.run(
            ["ingest", "L", "capture", "edits.ndjson", "--kind", "gateway", "--as", "guild"],
            in: folder
        )
        #expect(run.exitCode == 0, "\(run.errors)")
    }

    @Test func anEditIsShownWordByWord() throws {
        try edit(to: ["message one is here", "message two is here"])
        #expect(try history("message:1001").output.contains(#"content: "message [-one-]{+two+} is here""#))
    }

    /// One letter in ten thousand.
    @Test func ofALongTextOnlyTheSurroundingsAreShown() throws {
        let text = (1...2_000).map { "word\($0)" }
        var other = text
        other[1_000] = "wird1001"
        let letters = String(repeating: "x", count: 9_000)
        try edit(to: [
            text.joined(separator: " "), other.joined(separator: " "), letters + "ay" + letters,
            letters + "by" + letters,
        ])
        let entries = try history("message:1001").output.split(separator: "\n").filter { $0.contains("[-") }
        #expect(entries.count == 2)
        #expect(entries.allSatisfy { $0.utf8.count < 300 }, "\(entries)")
        #expect(entries.first?.contains("word1000 [-word1001-]{+wird1001+} word1002") == true)
        #expect(entries.last?.contains("x[-a-]{+b+}yx") == true)
    }

    @Test(arguments: [
        ("fo\u{200B}o bar", "[-foo-]{+fo\\u{200b}o+} bar"), ("foo\u{A0}bar", "foo[- -]{+\\u{a0}+}bar"),
        ("foo \u{202E}bar", "foo {+\\u{202e}+}bar"), ("foo bar ", "foo bar{+\\u{20}+}"),
        ("foo\u{2060} bar", "foo{+\\u{2060}+} bar"), ("foo\u{200D} bar", "[-foo-]{+foo\\u{200d}+} bar"),
    ])
    func whatNobodySeesIsWrittenOutWhereItChanged(text: String, shown: String) throws {
        try edit(to: ["foo bar", text])
        let output = try history("message:1001").output
        #expect(output.contains("content: \"\(shown)\"\n"), "\(output)")
    }

    @Test func aTextFindsWhatHoldsOrHeldIt() throws {
        try edit(to: ["a needle in hay", "only hay"])
        let run = try history("--match", "needle")
        #expect(run.exitCode == 0)
        #expect(run.output == "message:guild/10/1001  held it: event 5 edited\n  content: \"a needle in hay\"\n")
        #expect(
            try history("--match", "hay").output.hasPrefix("message:guild/10/1001  holds it: event 5 edited, event 6")
        )
        #expect(try history("message:1002", "--match", "message").output.hasPrefix("message:guild/10/1002  holds it"))
        let text = try history("--match", "NEEDLE", "-i", "--json").output
        let found = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]]
        #expect(found?.count == 1)
        #expect(found?.first?["entity"] as? String == "message:guild/10/1001")
        #expect(found?.first?["holds"] as? Bool == false)
        #expect((found?.first?["events"] as? [[String: Any]])?.map { $0["sequence"] as? String } == ["5"])
    }

    /// By name the message that was edited later would come first.
    @Test(arguments: [[], ["--jsonl"], ["--json"]])
    func whatIsFoundComesInTheOrderOfTime(form: [String]) throws {
        try edit(to: ["message 2 again"])
        let run = try ToolRun.run(["history", "L", "--match", "message 2"] + form, in: folder)
        let places = ["guild/10/1002", "guild/10/1001"].map { run.output.range(of: $0)?.lowerBound }
        let (first, second) = (try #require(places[0]), try #require(places[1]))
        #expect(first < second)
    }

    @Test func theLastEventsOfAThingAreTheLastOfAllItsEvents() throws {
        try edit(to: ["one", "two", "three"])
        let all = try events("--entity", "message:1001").split(separator: "\n")
        #expect(all.count == 4)
        for count in 0...5 {
            let last = try events("--entity", "message:1001", "-n", "\(count)").split(separator: "\n")
            #expect(last == all.suffix(count))
        }
        #expect(try events("--entity", "message:1001", "-n", "1", "--match", "two").split(separator: "\n") == [all[2]])
    }

    private func events(_ arguments: String...) throws -> String {
        try ToolRun.run(["events", "L", "--jsonl"] + arguments, in: folder).output
    }

    /// The command waits for its reader while the log grows.
    @Test func proofsOfASearchAreUnderOneRoot() throws {
        let folder = try TemporaryDirectory()
        try folder.makeLog(messages: 100, isLarge: true)
        let process = Process()
        let pipe = Pipe()
        process.executableURL = try ToolRun.executable
        process.arguments = ["history", "L", "--match", "message", "--prove", "--jsonl"]
        process.currentDirectoryURL = folder.url
        (process.standardOutput, process.standardError) = (pipe, FileHandle.nullDevice)
        try process.run()
        var lines = pipe.fileHandleForReading.availableData
        try folder.write(SampleCaptures.gateway(messages: 1), to: "other.ndjson")
        let ingest = ["ingest", "L", "capture", "other.ndjson", "--kind", "gateway", "--as", "other"]
        #expect(try ToolRun.run(ingest, in: folder).exitCode == 0)
        #expect(process.isRunning)
        lines += try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(lines.count { $0 == UInt8(ascii: "\n") } == 100)
        let check = try ToolRun.run(["prove", "--check", "-"], in: folder, input: lines)
        #expect(check.exitCode == 0, "\(check.output)\(check.errors)")
    }

    @Test(arguments: [["--match", "nowhere"], ["--match", "MESSAGE"], ["message:1002", "--match", "message 1"]])
    func aTextThatNothingHoldsEndsWith1(arguments: [String]) throws {
        let run = try ToolRun.run(["history", "L"] + arguments, in: folder)
        #expect(run.exitCode == 1)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains("holds or held it"))
    }

    @Test(arguments: [[], ["--match", ""], ["message:1001", "-i"]])
    func withoutEntityOrTextItEndsWith2(arguments: [String]) throws {
        #expect(try ToolRun.run(["history", "L"] + arguments, in: folder).exitCode == 2)
    }

    @Test func eachTimeSaysWhoseClockItIs() throws {
        try edit(to: ["changed"])
        let lines = try history("message:1001").output.split(separator: "\n").map(String.init)
        #expect(lines[1] == "event   remote time (UTC)        recorded (UTC)           what")
        #expect(lines[2].hasPrefix("3       2026-01-01 00:00:00.000  2026-01-01 00:00:02.000  created  by 7"))
    }

    @Test func whoDidItIsSaidToBeUntold() throws {
        let delete = #"{"op":0,"s":9,"t":"MESSAGE_DELETE","d":{"id":"1001","channel_id":"10"}}"#
        try folder.write(SampleCaptures.line(60, delete), to: "delete.ndjson")
        _ = try ToolRun.run(
            ["ingest", "L", "capture", "delete.ndjson", "--kind", "gateway", "--as", "guild"],
            in: folder
        )
        let last = try history("message:1001").output.split(separator: "\n").first { $0.contains("deleted") }
        #expect(last == "5       not told                 2026-01-01 00:01:00.000  deleted  by whom is not told")
    }

    @Test func aDeletedChannelKeepsItsHistory() throws {
        let end = #"{"op":0,"s":9,"t":"CHANNEL_DELETE","d":{"id":"10"}}"#
        try folder.write(SampleCaptures.line(60, end), to: "end.ndjson")
        _ = try ToolRun.run(
            ["ingest", "L", "capture", "end.ndjson", "--kind", "gateway", "--as", "guild"],
            in: folder
        )
        let run = try history("channel:10")
        #expect(run.exitCode == 0)
        #expect(run.output.contains("deleted"))
    }

    private func history(_ arguments: String...) throws -> ToolRun {
        try ToolRun.run(["history", "L"] + arguments, in: folder)
    }
}
