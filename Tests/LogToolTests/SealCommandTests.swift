import EventLog
import Foundation
import Projections
import TestSupport
import Testing

/// A sealed log beside the same log open: no command tells one from the other but by size.
@Suite struct SealCommandTests {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func tool(_ arguments: String...) throws -> ToolRun { try ToolRun.run(arguments, in: folder) }

    /// Makes the log `open` and its copy `L`, of which everything but a few last events is sealed.
    private func make(_ traffic: DenseTraffic, count: Int = 400) throws {
        let drafts = try traffic.events(count: count, seed: 3).map { DraftEvent(again: $0) }
        var options = EventStore.Options()
        options.salt = .fixed(7)
        for name in ["open", "L"] {
            let store = try EventStore.openOrCreate(at: folder.path(name), options: options)
            _ = try store.append(Array(drafts.dropLast(9)))
            // An act in the place of the one that seals, so that sequences are the same.
            if name == "open" {
                _ = try store.rewrite(.dropping([], decidedAt: store.read { $0.head }))
            } else {
                let result = try store.seal(.all, now: Timestamp(seconds: 1_000_000), mustShrink: false)
                #expect(result?.sealed.after == UInt64(count - 9))
            }
            _ = try store.append(Array(drafts.suffix(9)))
        }
    }

    @Test(arguments: DenseTraffic.allCases)
    func everyAnswerIsTheSame(traffic: DenseTraffic) throws {
        try make(traffic)
        // Rows alone have no messages.
        let entity =
            try tool("audit", "open", "--jsonl").output.split(separator: "\n").lazy.compactMap { line in
                (try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])?["entity"] as? String
            }.first ?? "message:app/1/1"
        var answered = 0
        let questions = [
            ["replay", "--json"], ["replay", "--digest"], ["replay", "--json", "--at", "123", "--no-snapshots"],
            ["audit", "--jsonl"], ["history", entity, "--json"], ["gaps", "--json"],
            ["diff", "--from", "50", "--json"],
            ["events", "--jsonl", "--payload", "--from", "100", "--to", "395", "--source", "app"],
            ["events", "--jsonl", "--match", "e", "--source", "app"], ["events", "--jsonl", "--entity", entity],
            ["prove", "77", "--json"], ["bisect", "--when", "count(messages)>3", "--json"],
        ]
        for question in questions {
            func answer(_ log: String) throws -> ToolRun {
                try ToolRun.run([question[0], log] + question.dropFirst(), in: folder)
            }
            let (open, sealed) = (try answer("open"), try answer("L"))
            // The two acts differ, and with them the root.
            if question[0] != "prove" { #expect(open.output == sealed.output, "\(question)") }
            #expect(open.exitCode == sealed.exitCode, "\(question): \(sealed.errors)")
            if !sealed.output.isEmpty { answered += 1 }
        }
        #expect(answered >= questions.count - 4)
        func lines(_ log: String) throws -> [Substring] {
            try tool("export", log).output.split(separator: "\n").dropFirst().filter { !$0.contains("logtool.") }
        }
        #expect(try lines("open") == lines("L"))
    }

    /// Sealed again and again, with what came since; nothing is left to seal where only acts came.
    @Test func aSecondSealTakesWhatCameSince() throws {
        try make(.gateway)
        let first = try document("seal", "L", "--force", "--json")
        let sealed = try #require(first["sealed"] as? [String: Int])
        #expect(sealed == ["before": 391, "after": 401])
        #expect(try tool("seal", "L").output.hasPrefix("nothing to seal: 401 events sealed already"))
        #expect(try tool("verify", "L").output.contains("402 whole, 401 sealed"))
        #expect(try tool("stats", "L").output.contains("402 events, 401 sealed"))
    }

    @Test func onlyWhatIsOldIsSealed() throws {
        try make(.gateway)
        #expect(try tool("seal", "open", "--older-than", "1d", "--force").exitCode == 0)
        // The traffic is recorded in the year 2026, a second an event; no clock goes so far back.
        #expect(try tool("seal", "open", "--older-than", "30000d").output.hasPrefix("nothing to seal"))
        #expect(try tool("compact", "open", "--older-than", "1d").exitCode == 2)
    }

    @Test func aDryRunSaysTheSameAndChangesNothing() throws {
        try make(.gateway)
        let before = try tool("export", "L").output
        let planned = try document("seal", "L", "--dry-run", "--force", "--json")
        #expect(try tool("export", "L").output == before)
        #expect(
            NSDictionary(dictionary: planned)
                == NSDictionary(dictionary: try document("seal", "L", "--force", "--json"))
        )
    }

    @Test func aLogThatWouldGrowIsLeftAlone() throws {
        let store = try EventStore.openOrCreate(at: folder.path("L"))
        // Random bytes cannot be compressed.
        var random = SeededGenerator(seed: 5)
        _ = try store.append(
            try (1...3).map { number in
                let text = (0..<2_000).map { _ in UInt8.random(in: 0...255, using: &random) }
                return try .sample(number, payload: text.map { String(format: "%02x", $0) }.joined())
            }
        )
        let root = try tool("root", "L").output
        #expect(try document("seal", "L", "--json")["leftAlone"] != nil)
        let compacted = try tool("compact", "L", "--seal")
        #expect(compacted.exitCode == 0 && compacted.output.contains("left alone"), "\(compacted.errors)")
        #expect(try tool("root", "L").output == root)
        #expect(try tool("seal", "L", "--force").output.hasPrefix("sealed 3 events"))
        #expect(try tool("verify", "L").exitCode == 0)
    }

    /// Compaction and sealing are one rewrite; both figures are right, and the archive brings everything back.
    @Test func aCompactionSealsWhatItKeeps() throws {
        try make(.gateway)
        let open = try document("compact", "open", "--keep", "2", "--force", "--json")
        let sealed = try document("compact", "L", "--keep", "2", "--force", "--seal", "--json")
        #expect(open["digest"] as? String == sealed["digest"] as? String)
        #expect(open["sealed"] == nil && (sealed["sealed"] as? Int ?? 0) > 0)
        #expect(try tool("replay", "open", "--json").output == tool("replay", "L", "--json").output)
        let archive = try #require((sealed["archive"] as? [String: Any])?["path"] as? String)
        #expect(try tool("import", "L", archive).exitCode == 0)
        #expect(try tool("replay", "open", "--json").output != tool("replay", "L", "--json").output)
        #expect(try tool("verify", "L").exitCode == 0)
        #expect(try tool("stats", "L").output.contains(" sealed"))
    }

    /// A text that goes is in no block any more, and what is left is still sealed.
    @Test func aRedactionReachesIntoBlocks() throws {
        let store = try EventStore.openOrCreate(at: folder.path("L"))
        _ = try store.append(
            (1...300).map { try RedactionTests.frame($0 == 150 ? "the hidden phrase" : "words \($0)", $0) }
        )
        #expect(try tool("seal", "L", "--force").exitCode == 0)
        #expect(try tool("redact", "L", "--match", "the hidden phrase", "--yes", "--by", "me").exitCode == 0)
        #expect(!(try tool("export", "L").output.contains("hidden phrase")))
        let held = try EventStore.open(at: folder.path("L"))
        #expect(try held.statistics().sealed == 300)
        try held.read { session in
            let event = try #require(try session.event(at: SequenceNumber(150)))
            #expect(event.envelope.holding == .redacted)
            #expect(try session.event(at: SequenceNumber(151))?.envelope.holding == .whole)
        }
        #expect(try held.verify().isIntact)
    }

    /// Who is forgotten is in no block any more, and the certificate says that blocks were opened for the search.
    @Test func aForgottenPersonIsInNoBlock() throws {
        let store = try EventStore.openOrCreate(at: folder.path("L"))
        _ = try store.append((1...300).map { try RedactionTests.frame("what she said \($0)", $0) })
        #expect(try tool("seal", "L", "--force").exitCode == 0)
        let run = try tool("forget", "L", "--author", "7", "--yes", "--by", "me", "--json")
        let done = try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
        let scan = try #require(done["scan"] as? [String: Any])
        #expect(scan["sealed"] as? Int == 300 && (scan["hits"] as? [Any])?.isEmpty == true, "\(run.errors)")
        let export = try tool("export", "L").output
        #expect(!export.contains("what she said") && !export.contains("nell"))
        #expect(try tool("stats", "L").output.contains("300 sealed"))
    }

    /// Killed at any time, the log is the old one or the new one.
    @Test func aKilledOneLeavesTheOldLogOrTheNewOne() throws {
        try make(.gateway, count: 2_000)
        let events = try tool("export", "open").output.split(separator: "\n").count
        let arguments = ["seal", "open", "--force", "--quiet"]
        try FileManager.default.copyItem(atPath: folder.path("open"), toPath: folder.path("before"))
        let time = try ContinuousClock().measure { _ = try ToolRun.run(arguments, in: folder) }
        var random = SeededGenerator(seed: 4)
        for round in 0..<(ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] == nil ? 2 : 300) {
            try FileManager.default.removeItem(atPath: folder.path("open"))
            try FileManager.default.copyItem(atPath: folder.path("before"), toPath: folder.path("open"))
            try ToolRun.killed(arguments, in: folder, after: time, &random)
            #expect(try tool("verify", "open").exitCode == 0, "round \(round)")
            let store = try EventStore.open(at: folder.path("open"))
            let (sealed, held) = (try store.statistics().sealed, try store.statistics().held)
            #expect(
                sealed == 0 && held == UInt64(events - 1) || sealed > 1_990 && held == UInt64(events),
                "round \(round)"
            )
        }
    }

    private func document(_ arguments: String...) throws -> [String: Any] {
        let run = try ToolRun.run(arguments, in: folder)
        #expect(run.exitCode == 0, "\(run.errors)")
        return try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
    }
}
