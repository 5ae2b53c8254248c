import EventLog
import Foundation
import Projections
import TestSupport
import Testing

@testable import Reduction
@testable import logtool

@Suite struct ShrinkCommandTests {
    let folder: TemporaryDirectory

    /// Event 3 is message 1001, event 4 message 1002 and so on; each answers the one before.
    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 30)
    }

    private func shrink(_ arguments: String...) throws -> ToolRun {
        try ToolRun.run(["shrink", "L", "-o", "S"] + arguments, in: folder)
    }

    private func document(_ run: ToolRun) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any], "\(run.errors)")
    }

    private var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.url.path)) ?? []).filter { !$0.hasPrefix(".") }
            .sorted()
    }

    private func events(of log: String) throws -> [[String: Any]] {
        let run = try ToolRun.run(["events", log, "--json", "--payload"], in: folder)
        return try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [[String: Any]])
    }

    @Test func anExpressionLeavesWhatItNeeds() throws {
        let before = try ToolRun.run(["root", "L", "--json"], in: folder).output
        let run = try shrink("--when", "exists(messages[\"1005\"]) and exists(messages[\"1021\"])", "--json")
        #expect(run.exitCode == 0, "\(run.errors)")
        let document = try document(run)
        #expect(document["events"] as? Int == 2 && document["of"] as? Int == 32)
        #expect(document["minimal"] as? Bool == true)
        let events = try events(of: "S")
        #expect(events.map { $0["key"] as? String } == ["1767225600000/7", "1767225600000/23"])
        #expect(events.first?["recordedAt"] as? String == "2026-01-01T00:00:06.000000Z")
        #expect(names == ["L", "S", "c.ndjson"])
        #expect(try ToolRun.run(["verify", "S"], in: folder).exitCode == 0)
        #expect(try ToolRun.run(["root", "L", "--json"], in: folder).output == before)
    }

    @Test func aCommandLeavesWhatItNeeds() throws {
        let run = try shrink("--run", "grep -q '\"id\":\"1021\"'", "--only", "messages", "--json")
        #expect(try document(run)["events"] as? Int == 1)
        #expect(try events(of: "S").first?["key"] as? String == "1767225600000/23")
    }

    @Test func twoReadingsDiffer() throws {
        let twice = SampleCaptures.line(90, SampleCaptures.message(5))
        try folder.write(SampleCaptures.gateway(messages: 30) + twice, to: "c.ndjson")
        _ = try ToolRun.run(["ingest", "L", "capture", "c.ndjson", "--kind", "gateway", "--as", "guild"], in: folder)
        let run = try shrink(
            "--when",
            "exists(messages[\"1005#2\"])",
            "--profile",
            "retrocast-ios",
            "--against",
            "#canonical",
            "--json"
        )
        #expect(try document(run)["events"] as? Int == 2, "\(run.errors)")
        #expect(try ToolRun.run(["diff", "S", "S#retrocast-ios"], in: folder).exitCode == 1)
    }

    @Test func theAnswerSaysWhatToTypeNext() throws {
        let run = try shrink("--when", "exists(messages[\"1005\"])")
        for words in ["1 event of 32", "none of them can go", "logtool replay S", "logtool freeze S -o"] {
            #expect(run.output.contains(words), "\(run.output)")
        }
    }

    @Test func whatIsThereIsLeftAlone() throws {
        try folder.write("mine", to: "S")
        let run = try shrink("--when", "exists(messages)")
        #expect(run.exitCode == 2 && run.errors.contains("something is there already"))
        #expect(names == ["L", "S", "c.ndjson"])
    }

    @Test(arguments: ["count(messages) > 30", "count(messages) < 31"])
    func aTestWithoutAChoiceIsSaid(expression: String) throws {
        let run = try shrink("--when", expression)
        #expect(run.exitCode == (expression.contains(">") ? 1 : 2))
        #expect(run.errors.contains(expression.contains(">") ? "no of the whole log" : "yes of a log without events"))
        #expect(names == ["L", "c.ndjson"])
    }

    @Test func anExpressionWithoutAnAnswerIsSaid() throws {
        let run = try shrink("--when", "messages[\"1005\"]")
        #expect(run.exitCode == 2 && run.errors.contains("neither true nor false"))
    }

    @Test(arguments: [
        ("kill -SEGV $$", "signal 11"), ("sleep 60", "longer than"), ("exit 3", "no of the whole log"),
    ])
    func aCommandThatNeverSaysYesEndsTheSearch(command: String, words: String) throws {
        let run = try shrink("--run", command, "--timeout", "200ms")
        #expect(run.exitCode == 1)
        #expect(run.errors.contains(words))
    }

    /// It hangs, breaks down or prints without end wherever the answer is no.
    @Test(arguments: [
        ("kill -SEGV $$", "60s"), ("sleep 60", "2s"), ("head -c 3000000 /dev/zero; exit 1", "60s"), ("exit 200", "60s"),
    ])
    func aCommandMayEndBadlyWhereItMeansNo(command: String, timeout: String) throws {
        try folder.makeSmallLog()
        let run = try ToolRun.run(
            ["shrink", "K", "-o", "S", "--json", "--timeout", timeout, "--run", "grep -q 1002 && exit 0; \(command)"],
            in: folder
        )
        #expect(try document(run)["minimal"] as? Bool == true)
        #expect(run.output.utf8.count < 200)
    }

    @Test func aCommandThatAnswersOtherwiseTheSecondTimeIsSaid() throws {
        let run = try shrink("--run", "echo >> runs; [ $(($(wc -l < runs) % 2)) = 1 ]")
        #expect(run.exitCode == 2)
        #expect(run.errors.contains("does not answer the same twice"), "\(run.errors)")
    }

    /// At last everything is asked anew: here the answers change after a while.
    @Test func aCommandThatChangesItsMindIsSaid() throws {
        try folder.makeSmallLog()
        let run = try ToolRun.run(
            ["shrink", "K", "-o", "S", "--run", "echo >> runs; [ $(wc -l < runs) -lt 12 ] && grep -q 1002"],
            in: folder
        )
        #expect(run.exitCode == 2 && run.errors.contains("does not answer the same twice"), "\(run.errors)")
        #expect(!names.contains("S"))
    }

    @Test func timeThatIsOverGivesALogThatIsNotMinimal() throws {
        let run = try shrink("--when", "exists(messages)", "--time", "0s", "--json")
        #expect(try document(run)["minimal"] as? Bool == false)
        #expect(try document(run)["events"] as? Int == 32)
        #expect(names.contains("S.shrink"))
    }

    /// Killed at any moment: no log where the result goes, and the next run goes on with the answers of this one.
    @Test func aKilledSearchGoesOn() throws {
        let command = "sleep 0.02; grep -q '\"id\":\"1021\"'"
        let arguments = ["shrink", "L", "-o", "S", "--json", "--run", command]
        let process = try ToolProcess(arguments, in: folder)
        let book = folder.path("S.shrink")
        while process.isRunning, lines(of: book) < 6 { usleep(2000) }
        _ = process.end(SIGKILL)
        #expect(!names.contains("S"))
        let kept = lines(of: book)
        #expect(kept >= 6)
        // A line that was cut off is no answer.
        let handle = try FileHandle(forWritingTo: URL(filePath: book))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data("0123".utf8))
        try handle.close()
        let run = try ToolRun.run(arguments, in: folder)
        #expect(run.errors.contains("goes on after"), "\(run.errors)")
        #expect(try document(run)["events"] as? Int == 1)
        let fresh = try ToolRun.run(["shrink", "L", "-o", "F", "--json", "--run", command], in: folder)
        #expect(fresh.output == run.output)
        #expect(try ToolRun.run(["diff", "S", "F"], in: folder).exitCode == 0)
        #expect(!names.contains("S.shrink"))
    }

    @Test func answersToAnotherQuestionAreNotBelieved() throws {
        _ = try shrink("--when", "exists(messages)", "--time", "0s")
        try FileManager.default.removeItem(atPath: folder.path("S"))
        let run = try shrink("--when", "exists(messages[\"1021\"])", "--json")
        #expect(!run.errors.contains("goes on after"))
        #expect(try document(run)["events"] as? Int == 1)
    }

    @Test func anotherQuestionLeavesTheAnswersOfAnInterruptedSearch() throws {
        let path = folder.path("S.shrink")
        let candidate = try Candidate.whole(of: folder.path("L")).identity
        do {
            let interrupted = try AnswerBook(at: path, about: .string("first"))
            interrupted.note(true, to: candidate)
            interrupted.note(false, to: Hasher256.hash([7]))
        }
        // It ends, and takes only its own answers with it.
        let other = try shrink("--when", "exists(messages[\"1021\"])")
        #expect(other.exitCode == 0 && !other.errors.contains("goes on after"), "\(other.errors)")
        do {
            let again = try AnswerBook(at: path, about: .string("first"))
            #expect(again.foundCount == 2 && again.answer(to: candidate) == true)
            again.remove()
        }
        #expect(!names.contains("S.shrink"))
    }

    @Test(arguments: ["shrink", "bisect"])
    func aProgramThatDoesNotExistIsAMistakeOfTheCommandLine(command: String) throws {
        let rest = command == "shrink" ? ["-o", "S"] : []
        for line in ["no-such-program --flag", "A=1 no-such-program", "./no-such-file"] {
            let run = try ToolRun.run([command, "L", "--run", line] + rest, in: folder)
            #expect(run.exitCode == 2 && run.errors.contains("there is no program"), "\(run.errors)")
        }
        #expect(!names.contains("S") && !names.contains("S.shrink"))
        // What a shell finds, or what cannot be told, is run.
        for line in ["true", "! grep -q 1021", "A=1 cat >/dev/null", "\"true\""] {
            let run = try ToolRun.run([command, "L", "--run", line] + rest, in: folder)
            #expect(!run.errors.contains("there is no program"), "\(line): \(run.errors)")
            try? FileManager.default.removeItem(atPath: folder.path("S"))
        }
    }

    @Test func aFileOfSomethingElseIsLeftAsItIs() throws {
        try folder.write("my notes\n", to: "S.shrink")
        let run = try shrink("--when", "exists(messages[\"1021\"])")
        #expect(run.exitCode == 2 && run.errors.contains("it is a file of something else"), "\(run.errors)")
        let kept = try String(contentsOf: URL(filePath: folder.path("S.shrink")), encoding: .utf8)
        #expect(kept == "my notes\n")
    }

    /// Whoever writes yes and no into the file gets no wrong answer called minimal.
    @Test func forgedAnswersAreFound() throws {
        _ = try shrink("--when", "count(messages) > 20", "--time", "0s")
        try FileManager.default.removeItem(atPath: folder.path("S"))
        let whole = try Candidate.whole(of: folder.path("L"))
        let wrong = Candidate([whole.events[31]])
        let handle = try FileHandle(forWritingTo: URL(filePath: folder.path("S.shrink")))
        try handle.seekToEnd()
        for candidate in [wrong] + (16...31).map({ Candidate(Array(whole.events[..<$0])) }) {
            try handle.write(
                contentsOf: Data("\(candidate.identity.hex) \(candidate.events.count == 1 ? 1 : 0)\n".utf8)
            )
        }
        try handle.close()
        let run = try shrink("--when", "count(messages) > 20")
        #expect(run.exitCode == 2 && run.errors.contains("does not answer the same twice"), "\(run.output)")
        #expect(!names.contains("S"))
    }

    @Test func twoSearchesDoNotShareAFile() throws {
        // From its second question on the first search waits until it is ended.
        let command = "[ -s '\(folder.path("S.shrink"))' ] && exec sleep 600; exit 0"
        let process = try ToolProcess(["shrink", "L", "-o", "S", "--timeout", "600s", "--run", command], in: folder)
        while process.isRunning, lines(of: folder.path("S.shrink")) < 1 { usleep(2000) }
        let run = try shrink("--when", "exists(messages)")
        #expect(run.exitCode == 11, "\(run.errors)")
        _ = process.end(SIGTERM)
    }

    @Test(arguments: [
        [], ["--run", "true", "--against", "#retrocast-ios"], ["--against", "#canonical"], ["--against", "L"],
        ["--when", "exists(messages)", "--timeout", "3s"],
    ])
    func optionsThatDoNotGoTogetherAreRefused(arguments: [String]) throws {
        let run = try ToolRun.run(["shrink", "L", "-o", "S"] + arguments, in: folder)
        #expect(run.exitCode == 2 && run.errors.contains("see: logtool help shrink"), "\(run.errors)")
    }

    private func lines(of path: String) -> Int {
        FileManager.default.contents(atPath: path).map { $0.count { $0 == UInt8(ascii: "\n") } } ?? 0
    }
}

extension Candidate {
    fileprivate static func whole(of path: String) throws -> Candidate {
        try EventStore.open(at: path).read { try Candidate.whole(of: $0) }
    }
}

extension TemporaryDirectory {
    /// Makes the log `K` of a gateway capture with three messages.
    fileprivate func makeSmallLog() throws {
        try write(SampleCaptures.gateway(messages: 3), to: "k.ndjson")
        _ = try ToolRun.run(["ingest", "K", "capture", "k.ndjson", "--kind", "gateway", "--as", "guild"], in: self)
    }
}
