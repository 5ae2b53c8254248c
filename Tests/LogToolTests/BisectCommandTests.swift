import Foundation
import TestSupport
import Testing

@testable import logtool

@Suite struct BisectCommandTests {
    let folder: TemporaryDirectory

    /// Event 3 is message 1001, event 4 message 1002 and so on.
    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 30)
    }

    private func bisect(_ arguments: String...) throws -> ToolRun {
        try ToolRun.run(["bisect", "L"] + arguments, in: folder)
    }

    private func document(_ run: ToolRun) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
    }

    @Test func anExpressionFindsTheEvent() throws {
        let run = try bisect("--when", "count(messages) > 20", "--json")
        #expect(run.exitCode == 0)
        let document = try document(run)
        #expect(document["first"] as? String == "23")
        #expect((document["tested"] as? Int).map { $0 <= 7 } == true)
        let event = try #require(document["event"] as? [String: Any])
        #expect(event["kind"] as? String == "gateway.frame/1")
        #expect((event["payload"] as? String)?.contains("1021") == true)
        #expect((event["changes"] as? [[String: Any]])?.first?["entity"] as? String == "message:guild/10/1021")
    }

    @Test(arguments: [[], ["--only", "messages"], ["--channel", "10"]])
    func aCommandFindsTheSameEvent(part: [String]) throws {
        let run = try ToolRun.run(
            ["bisect", "L", "--json", "--run", "! grep -q '\"id\":\"1021\"'"] + part,
            in: folder
        )
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(try document(run)["first"] as? String == "23")
    }

    @Test func aCommandMayGetOneThingAlone() throws {
        let test = "test $(wc -c | tr -d ' ') -lt 600 && exit 0 || exit 200"
        let run = try bisect("--entity", "message:guild/10/1021", "--run", test, "--json")
        // Always small, whatever the log holds: both ends are good.
        #expect(run.exitCode == 1)
        #expect(run.output.contains("both ends are good"))
        let found = try bisect("--entity", "message:guild/10/1021", "--run", "! grep -q 1021", "--json")
        #expect(try document(found)["first"] as? String == "23")
    }

    @Test func theAnswerSaysWhatToTypeNext() throws {
        let run = try bisect("--when", "exists(messages[\"1005\"])")
        #expect(run.output.contains("first: event 7"))
        #expect(run.output.contains("\"content\": \"message 5\""))
        #expect(run.output.contains("+ message:guild/10/1005"))
        for command in ["logtool diff L@6 L@7", "logtool history L message:guild/10/1005", "--without 7"] {
            #expect(run.output.contains(command))
        }
    }

    @Test func everyChangeOfTheAnswerIsListed() throws {
        let deletion = SampleCaptures.line(
            90,
            #"{"op":0,"s":90,"t":"MESSAGE_DELETE","d":{"id":"1004","channel_id":"10"}}"#
        )
        try folder.write(SampleCaptures.gateway(messages: 30) + deletion, to: "c.ndjson")
        _ = try ToolRun.run(["ingest", "L", "capture", "c.ndjson", "--kind", "gateway", "--as", "guild"], in: folder)
        let run = try bisect("--when", "exists(messages[\"1004\"])", "--all", "--json")
        let changes = try #require(try document(run)["changes"] as? [[String: Any]])
        #expect(changes.map { $0["holds"] as? Bool } == [true, false])
        let sequences = changes.map { ($0["event"] as? [String: Any])?["sequence"] as? String }
        #expect(sequences == ["6", "33"])
    }

    @Test func anotherLogPartsWhereItsEventsDo() throws {
        let other = SampleCaptures.gateway(messages: 30).replacingOccurrences(of: "message 12\\\"", with: "else\\\"")
        try folder.write(other, to: "o.ndjson")
        _ = try ToolRun.run(["ingest", "O", "capture", "o.ndjson", "--kind", "gateway", "--as", "guild"], in: folder)
        let run = try bisect("--against", "O", "--json")
        #expect(try document(run)["first"] as? String == "14")
        let same = try bisect("--against", "L")
        #expect(same.exitCode == 1 && same.output.contains("both ends are good"))
    }

    @Test func aClientsReadingPartsWhereItReadsOtherwise() throws {
        let run = try bisect("--against", "#retrocast-web", "--json")
        #expect(run.exitCode <= 1)
        #expect(try bisect("--against", "#nobody").exitCode == 2)
    }

    @Test(arguments: [
        (["--good", "9", "--bad", "9"], "both sequence 9"), (["--good", "9", "--bad", "3"], "comes after"),
    ])
    func endsThatLeaveNothingToSearchAreRefused(ends: [String], words: String) throws {
        let run = try ToolRun.run(["bisect", "L", "--when", "exists(messages)"] + ends, in: folder)
        #expect(run.exitCode == 2)
        #expect(run.errors.contains(words))
    }

    @Test(arguments: [
        ("kill -SEGV $$", "signal 11"), ("exit 200", "ended with 200"), ("sleep 60", "took longer than"),
    ])
    func aCommandThatBreaksTheRulesStopsTheSearch(command: String, words: String) throws {
        let run = try bisect("--run", command, "--timeout", "300ms")
        #expect(run.exitCode == 2)
        #expect(run.errors.contains(words))
    }

    @Test func whatACommandPrintsOrLeavesUnreadDisturbsNothing() throws {
        let run = try bisect("--json", "--run", "head -c 3000000 /dev/zero; exit 0")
        #expect(run.exitCode == 1)
        #expect(run.output.utf8.count < 200)
    }

    @Test func aCommandThatAnswersOtherwiseTheSecondTimeIsSaid() throws {
        // Good until it has run eight times, whatever it is given; then bad.
        let test = "echo >> runs; n=$(wc -l < runs); if [ $n -eq 2 ]; then exit 1; fi; [ $n -lt 7 ] && exit 1 || exit 0"
        let first = "echo >> runs; n=$(wc -l < runs); if [ $n -eq 1 ]; then exit 0; fi; "
        let run = try ToolRun.run(["bisect", "L", "--run", first + test, "--json"], in: folder)
        #expect(run.exitCode == 1)
        #expect(run.errors.contains("does not answer the same twice"), "\(run.errors) \(run.output)")
    }

    @Test(arguments: [(SIGINT, Int32(130)), (SIGTERM, Int32(143))])
    func anInterruptedSearchEndsItsCommandAndSaysHowToGoOn(signal: Int32, code: Int32) throws {
        let place = folder.path("its place")
        try #require(mkfifo(place, 0o600) == 0)
        // Its fourth run holds the FIFO open and hangs.
        let hang =
            "echo >> runs; if [ $(wc -l < runs) -eq 4 ]; then exec 3> 'its place'; echo there >&3; exec sleep 600; fi"
        let test = hang + "; ! grep -q '\"id\":\"1021\"'"
        let process = try ToolProcess(["bisect", "L", "--run", test, "--good=1", "--bad", "32", "--json"], in: folder)
        let reader = try #require(FileHandle(forReadingAtPath: place))
        #expect(try reader.read(upToCount: 6) == Data("there\n".utf8))
        let run = process.end(signal)
        #expect(run.exitCode == code)
        // The end of the FIFO comes when the command has ended, not in ten minutes.
        #expect(try reader.readToEnd() ?? Data() == Data())
        let line = try #require(run.errors.components(separatedBy: "to go on: logtool ").last)
        #expect(line.contains(" --good 16 --bad 32"))
        let shell = ["-c", "\"$0\" " + line, try ToolRun.executable.path]
        let again = try ToolRun.run(shell, in: folder, program: URL(filePath: "/bin/sh"))
        #expect(again.exitCode == 0, "\(line) \(again.errors)")
        #expect(try document(again)["first"] as? String == "23")
    }

    @Test(arguments: [
        ("plain-_./@:,+=%", "plain-_./@:,+=%"), ("", "''"), ("two words", "'two words'"), ("it's", "'it'\\''s'"),
        ("é", "'é'"),
    ])
    func wordsAreQuotedForAShell(word: String, quoted: String) {
        #expect(ShellWord.quoted(word) == quoted)
    }

    @Test func anExpressionThatCannotBeReadSaysWhere() throws {
        let run = try bisect("--when", "count(mesages) > 1")
        #expect(run.exitCode == 2)
        #expect(run.errors.contains("column 7"))
    }
}
