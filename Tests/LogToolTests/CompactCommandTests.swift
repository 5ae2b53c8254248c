import Foundation
import TestSupport
import Testing

@testable import logtool

@Suite struct CompactCommandTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 40, isLarge: true)
    }

    @Test func theStateAfterIsTheOneThatWasPromised() throws {
        let summary = try summary("--keep", "10")
        let counts = try #require(summary["channels"] as? [[String: Any]])
        #expect(counts.first?["before"] as? Int == 40)
        #expect(counts.first?["after"] as? Int == 10)
        let replayed = try tool("replay", "L", "--digest").output
        #expect(summary["digest"] as? String == replayed.trimmingCharacters(in: .newlines))
        #expect(try tool("verify", "L").exitCode == 0)
    }

    @Test func anAnswerTellsThatItsParentWasDropped() throws {
        let threads = try TemporaryDirectory()
        try threads.makeThreads(messages: 40, isLarge: true)
        #expect(try ToolRun.run(["compact", "L", "--keep", "10"], in: threads).exitCode == 0)
        #expect(try ToolRun.run(["replay", "L"], in: threads).output.contains("compacted message"))
    }

    @Test func aDryRunHasTheSameFiguresAndChangesNothing() throws {
        let before = try tool("events", "L", "--jsonl").output
        let planned = try summary("--keep", "10", "--dry-run")
        #expect(try tool("events", "L", "--jsonl").output == before)
        var done = try summary("--keep", "10")
        // A dry run writes none.
        #expect(done.removeValue(forKey: "archive") != nil)
        #expect(NSDictionary(dictionary: planned) == NSDictionary(dictionary: done))
    }

    /// The list names each message that the state loses, and no other.
    @Test func whatWouldGoIsListed() throws {
        func ids() throws -> Set<String> {
            let text = try tool("replay", "L", "--json").output
            let state = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
            return Set(
                ["messages", "deletedMessages"].flatMap { state?[$0] as? [[String: Any]] ?? [] }.map { row in
                    ["source", "channel", "id"].map { row[$0] as? String ?? "" }.joined(separator: "/")
                }
            )
        }
        let before = try ids()
        let planned = try summary("--keep", "10", "--dry-run", "--list")
        let list = try #require(planned["list"] as? [[String: Any]])
        let text = try tool("compact", "L", "--keep", "10", "--dry-run", "--list").output
        for message in list { #expect(text.contains(try #require(message["entity"] as? String))) }
        #expect(try tool("compact", "L", "--list").exitCode == 2)
        _ = try summary("--keep", "10")
        let lost = before.subtracting(try ids())
        #expect(lost.count == 30)
        #expect(Set(list.compactMap { $0["entity"] as? String }) == Set(lost.map { "message:\($0)" }))
        #expect(list.allSatisfy { ($0["message"] as? [String: Any])?["content"] is String })
        let again = try summary("--keep", "10", "--dry-run", "--list")
        #expect((again["list"] as? [Any])?.isEmpty ?? false)
    }

    @Test func aSecondRunDropsNothingAndAppendsNothing() throws {
        _ = try summary("--keep", "10")
        let root = try tool("root", "L").output
        let second = try summary("--keep", "10")
        let events = try #require(second["events"] as? [String: Int])
        #expect(events["before"] == events["after"])
        #expect(try tool("root", "L").output == root)
    }

    @Test func pointsBeforeTheCompactionAreRefused() throws {
        _ = try summary("--keep", "10")
        #expect(try tool("replay", "L", "--at", "20").exitCode == 1)
        #expect(try tool("replay", "L", "--at", "20", "--retained").exitCode == 0)
        #expect(try tool("replay", "L", "--at", "42").exitCode == 0)
    }

    @Test func ingestingAgainAddsNothing() throws {
        _ = try summary("--keep", "10")
        let run = try tool("ingest", "L", "capture", "c.ndjson", "--kind", "gateway", "--as", "guild", "--json")
        #expect(run.output.hasPrefix(#"{"appended":0,"duplicates":42"#))
    }

    @Test(arguments: [["--keep", "-1"], ["--keep", "many"]])
    func aCountThatIsNoneEndsWith2(options: [String]) throws {
        #expect(try ToolRun.run(["compact", "L"] + options, in: folder).exitCode == 2)
    }

    @Test func whereThereIsNoLogTheCodeIs10() throws {
        #expect(try tool("compact", "nowhere").exitCode == 10)
    }

    /// Messages 1001 to 1010 are deleted, 1011 to 1015 edited.
    private func recordDeletesAndEdits() throws {
        let deletes = (1001...1010).map { id in
            #"{"op":0,"s":9,"t":"MESSAGE_DELETE","d":{"id":"\#(id)","channel_id":"10"}}"#
        }
        let edits = (1011...1015).map { id in
            #"{"op":0,"s":9,"t":"MESSAGE_UPDATE","d":{"id":"\#(id)","channel_id":"10","author_id":"7","#
                + #""author_username":"ada","content":"edited","edited_at":"2026-01-02T00:00:00Z","#
                + #""created_at":"2026-01-01T00:00:00Z"}}"#
        }
        let lines = (deletes + edits).enumerated().map { SampleCaptures.line(100 + $0.offset, $0.element) }
        try folder.write(lines.joined(), to: "more.ndjson")
        let run = try tool("ingest", "L", "capture", "more.ndjson", "--kind", "gateway", "--as", "guild")
        #expect(run.exitCode == 0, "\(run.errors)")
    }

    @Test func whatGoesIsCounted() throws {
        try recordDeletesAndEdits()
        let before = try tool("replay", "L", "--digest").output.trimmingCharacters(in: .newlines)
        let planned = try tool("compact", "L", "--keep", "3", "--dry-run").output
        #expect(planned.contains("would go from the log: 27 messages, 7 deleted texts, 5 earlier revisions\n"))
        #expect(planned.contains("it would be kept in an archive"))
        let summary = try summary("--keep", "3", "--dry-run")
        #expect(summary["messages"] as? [String: Int] == ["before": 30, "after": 3])
        #expect(summary["deletedTexts"] as? [String: Int] == ["before": 10, "after": 3])
        #expect(summary["revisions"] as? [String: Int] == ["before": 5, "after": 0])
        #expect(summary["digestBefore"] as? String == before)
        #expect(summary["proved"] as? Bool == true)
        let done = try tool("compact", "L", "--keep", "3").output
        let after = try tool("replay", "L", "--digest").output.trimmingCharacters(in: .newlines)
        #expect(done.contains("gone from the log: 27 messages, 7 deleted texts, 5 earlier revisions\n"))
        #expect(done.contains("digest before  \(before)\n"))
        #expect(done.contains("digest after   \(after), proved: the kept events give the retained state\n"))
        #expect(before != after)
    }

    @Test func whatWasDroppedSaysWhenAndByWhichAct() throws {
        _ = try summary("--keep", "20")
        try recordDeletesAndEdits()
        _ = try summary("--keep", "3")
        let acts = try tool("events", "L", "--kind", "logtool.compact", "--jsonl").output.split(separator: "\n").map {
            try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:]
        }
        #expect(acts.map { $0["sequence"] as? String } == ["43", "59"])
        // The first compaction took 1001 to 1020, the second the older ones of the rest, and those that were edited in between.
        for (id, act) in [
            ("1009", acts[0]), ("1020", acts[0]), ("1012", acts[1]), ("1021", acts[1]), ("1037", acts[1]),
        ] {
            let sequence = try #require(act["sequence"] as? String)
            let day = try #require((act["recordedAt"] as? String)?.prefix(10))
            for arguments in [["history", "L", "message:\(id)"], ["events", "L", "--entity", "message:\(id)"]] {
                let run = try ToolRun.run(arguments, in: folder)
                #expect(run.exitCode == 1)
                #expect(run.errors.contains("\"message:guild/10/\(id)\": the compaction of \(day) "), "\(run.errors)")
                #expect(
                    run.errors.contains(", event \(sequence), dropped it; read the log with its archives"),
                    "\(run.errors)"
                )
            }
        }
        #expect(try tool("history", "L", "message:1040").exitCode == 0)
        #expect(try tool("history", "L", "message:4711").errors.contains("nothing in the log fits"))
    }

    @Test func aLogThatWouldGrowIsLeftAlone() throws {
        try FileManager.default.removeItem(atPath: folder.path("L"))
        try folder.makeLog(messages: 40)
        let root = try tool("root", "L").output
        for options in [["--dry-run"], []] {
            let run = try ToolRun.run(["compact", "L", "--keep", "5"] + options, in: folder)
            #expect(run.exitCode == 0)
            #expect(run.output.hasPrefix("left alone: without 36 of 42 events the log would grow, "), "\(run.output)")
            let text = try ToolRun.run(["compact", "L", "--keep", "5", "--json"] + options, in: folder).output
            let document = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
            #expect(document?["events"] as? [String: Int] == ["before": 42, "after": 42])
            #expect((document?["leftAlone"] as? [String: Int])?["events"] == 6)
            #expect(document?["proved"] as? Bool == false)
        }
        #expect(try tool("root", "L").output == root)
        #expect(try tool("verify", "L").exitCode == 0)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path("L")).filter { $0.hasPrefix("gen-") }.count
                == 1
        )
        // Texts that have to go do so whatever it costs.
        #expect(try summary("--keep", "5", "--force")["events"] as? [String: Int] == ["before": 42, "after": 6])
        #expect(try tool("verify", "L").exitCode == 0)
    }

    /// The second compaction leaves fewer facts than the first.
    @Test func aLogThatWasCompactedTwiceOpensAnywhere() throws {
        try FileManager.default.removeItem(atPath: folder.path("L"))
        for (day, messages) in [(0, 1...3_000), (2, 3_001...4_500)] {
            try connect(day: day, messages)
            _ = try summary()
            try expectOpensAnywhere("day \(day)")
        }
    }

    /// Connections of any length, texts of any length, and compactions that keep now more, now fewer.
    @Test(arguments: 1...3 as ClosedRange<UInt64>)
    func aRandomLogOpensAnywhereAfterEachOfThreeCompactions(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        try FileManager.default.removeItem(atPath: folder.path("L"))
        var last = 0
        for day in 0..<3 {
            let count = Int.random(in: 1...1_500, using: &random)
            let padding = String(repeating: " more", count: Int.random(in: 0...100, using: &random))
            try connect(day: day, last + 1...last + count, padding: padding)
            last += count
            _ = try summary("--keep", "\(Int.random(in: 0...600, using: &random))")
            try expectOpensAnywhere("seed \(seed), day \(day)")
        }
    }

    /// Ingests a connection with these messages.
    private func connect(day: Int, _ messages: ClosedRange<Int>, padding: String = "") throws {
        let hello = [#"{"op":10,"d":{"heartbeat_interval":45000}}"#]
        let frames = hello + messages.map { SampleCaptures.message($0, content: "message \($0)\(padding)") }
        let lines = frames.enumerated().map { SampleCaptures.line(86_400 * day + $0.offset, $0.element) }
        try folder.write(lines.joined(), to: "day.ndjson")
        let run = try tool("ingest", "L", "capture", "day.ndjson", "--kind", "gateway", "--as", "guild")
        #expect(run.exitCode == 0, "\(run.errors)")
    }

    /// A copy has no mark of its own, so its pages are checked.
    private func expectOpensAnywhere(_ name: String) throws {
        let digest = try tool("replay", "L", "--digest").output
        try FileManager.default.copyItem(atPath: folder.path("L"), toPath: folder.path("copy"))
        for arguments in [
            ["replay", "copy", "--digest"], ["verify", "copy"], ["verify", "L"], ["backup", "L", "backup"],
        ] {
            let run = try ToolRun.run(arguments, in: folder)
            #expect(run.exitCode == 0, "\(name): \(run.errors)")
        }
        for copy in ["copy", "backup"] {
            #expect(try tool("replay", copy, "--digest").output == digest, "\(name)")
            try FileManager.default.removeItem(atPath: folder.path(copy))
        }
    }

    private func summary(_ options: String...) throws -> [String: Any] {
        let run = try ToolRun.run(["compact", "L", "--json"] + options, in: folder)
        #expect(run.exitCode == 0, "\(run.errors)")
        return try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any] ?? [:]
    }

    private func tool(_ arguments: String...) throws -> ToolRun {
        try ToolRun.run(arguments, in: folder)
    }
}
