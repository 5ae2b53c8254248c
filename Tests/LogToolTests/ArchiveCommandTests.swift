import EventLog
import Foundation
import TestSupport
import Testing

@testable import logtool

/// `compact` writes archives; `import` brings them back, and commands read a log with them.
@Suite struct ArchiveCommandTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 40, isLarge: true)
        let changes = (1001...1003).map { id in
            #"{"op":0,"s":9,"t":"MESSAGE_DELETE","d":{"id":"\#(id)","channel_id":"10"}}"#
        }
        try folder.write(
            changes.enumerated().map { SampleCaptures.line(100 + $0.offset, $0.element) }.joined(),
            to: "d"
        )
        _ = try ToolRun.run(["ingest", "L", "capture", "d", "--kind", "gateway", "--as", "guild"], in: folder)
        try FileManager.default.copyItem(atPath: folder.path("L"), toPath: folder.path("whole"))
    }

    private func tool(_ arguments: String...) throws -> ToolRun { try ToolRun.run(arguments, in: folder) }

    private func archives(of log: String = "L") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter { $0.hasPrefix("\(log).archive-") }
            .sorted()
    }

    /// Compacts, and returns the archive's name.
    private func compacted(_ options: String...) throws -> String {
        let known = Set(try archives())
        let run = try ToolRun.run(["compact", "L"] + options, in: folder)
        #expect(run.exitCode == 0, "\(run.errors)")
        return try #require(try archives().first { !known.contains($0) })
    }

    /// A page of a compacted log begins with its first event where its archive is given.
    @Test func aReportReadsArchives() throws {
        let archive = try compacted("--keep", "5", "--force", "--quiet")
        let without = try tool("report", "L", "-o", "late.html", "--as-recorded")
        #expect(without.exitCode == 0, "\(without.errors)")
        let run = try tool("report", "L", "-o", "p.html", "--as-recorded", "--with-archive", archive)
        #expect(run.exitCode == 0, "\(run.errors)")
        let begins = try ["late.html", "p.html"].map { name in
            let page = try String(contentsOfFile: folder.path(name), encoding: .utf8)
            return try WebPage.block("steps", of: page).first?["from"] as? String
        }
        #expect(begins[1] == "1" && begins[0] != "1")
        #expect(try tool("import", "M", "p.html").exitCode == 0)
        #expect(try tool("root", "M").output == tool("root", "L").output)
        #expect(try tool("events", "M", "--jsonl").output.hasPrefix(tool("events", "whole", "--jsonl").output))
    }

    @Test func whatWasDroppedComesBack() throws {
        let export = try tool("export", "whole").output.split(separator: "\n").dropFirst()
        let archive = try compacted("--keep", "5")
        let proof = try tool("prove", "whole", "3", "--json").output
        let run = try tool("import", "L", archive)
        #expect(run.exitCode == 0 && run.output.hasPrefix("brought back "), "\(run.errors)")
        let after = try tool("export", "L").output.split(separator: "\n").dropFirst()
        #expect(Array(after.prefix(export.count)) == Array(export) && after.count == export.count + 2)
        #expect(try tool("verify", "L").exitCode == 0)
        #expect(try tool("replay", "L", "--digest").output == tool("replay", "whole", "--digest").output)
        #expect(try ToolRun.run(["prove", "--check", "-"], in: folder, input: Data(proof.utf8)).exitCode == 0)
        let again = try tool("import", "L", archive, "--json")
        #expect(again.exitCode == 0 && again.output.contains("\"restored\":0"), "\(again.output)\(again.errors)")
    }

    @Test func theReportNamesTheArchive() throws {
        let planned = try tool("compact", "L", "--keep", "5", "--dry-run")
        #expect(planned.output.contains("would go from the log: ") && planned.output.contains("kept in an archive"))
        #expect(try archives().isEmpty)
        let run = try tool("compact", "L", "--keep", "5", "--json")
        let document = try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
        let archive = try #require(document["archive"] as? [String: Any])
        #expect(try [archive["path"] as? String] == archives())
        let events = try #require(document["events"] as? [String: Int])
        #expect(archive["events"] as? Int == (events["before"] ?? 0) - (events["after"] ?? 0))
        let size = try FileManager.default.attributesOfItem(atPath: folder.path(archives()[0]))
        #expect(archive["bytes"] as? UInt64 == size[.size] as? UInt64)
        #expect((size[.posixPermissions] as? Int ?? 0) & 0o077 == 0)
    }

    @Test func aPlaceOfOnesOwnAndNone() throws {
        let run = try tool("compact", "L", "--keep", "9", "--archive", "old.zst")
        #expect(run.exitCode == 0 && run.output.contains("old.zst"))
        #expect(try archives().isEmpty)
        let none = try tool("compact", "L", "--keep", "5", "--no-archive")
        #expect(none.exitCode == 0 && none.output.contains("gone for good: "))
        #expect(try tool("compact", "L", "--keep", "1", "--archive", "old.zst").exitCode == 4)
        #expect(try tool("compact", "L", "--archive", "a", "--no-archive").exitCode == 2)
        // The one that is left is not that of the newest compaction.
        let wrong = try tool("import", "L", "old.zst")
        #expect(wrong.exitCode == 2 && wrong.errors.contains("newest first"), "\(wrong.errors)")
    }

    /// Commands print of the log with its archives what they print of the log that was never compacted.
    @Test(arguments: [
        ["replay", "LOG", "--json", "--at", "20"], ["replay", "LOG", "--at", "33"],
        ["replay", "LOG", "--digest", "--each"],
        ["history", "LOG", "message:1005", "--json"], ["audit", "LOG", "--json"],
        ["events", "LOG", "--jsonl", "--payload"],
        ["events", "LOG", "--entity", "message:1004"], ["diff", "LOG@5", "LOG@30", "--json"],
        ["diff", "LOG@5", "LOG@30", "--first"],
    ])
    func commandsReadTheLogWithItsArchives(command: [String]) throws {
        let first = try compacted("--keep", "9")
        let act = try tool("policy", "whole", "set", "--keep", "500", "--archives", "all")
        #expect(act.exitCode == 0)
        let second = try compacted("--keep", "2")
        func run(_ log: String, _ more: [String] = []) throws -> ToolRun {
            try ToolRun.run(command.map { $0.replacingOccurrences(of: "LOG", with: log) } + more, in: folder)
        }
        let with = try run("L", ["--with-archive", first, second])
        // Acts are events, too, and the whole log has other ones.
        func lines(_ text: String) -> [Substring] {
            text.split(separator: "\n").filter {
                !$0.contains("logtool") && !$0.hasPrefix("46\t") && !$0.hasPrefix("47\t")
            }
        }
        let expected = try run("whole")
        #expect(lines(with.output) == lines(expected.output), "\(with.errors)")
        #expect(with.exitCode == expected.exitCode)
        let alone = try run("L")
        #expect(lines(alone.output) != lines(expected.output))
        #expect(!FileManager.default.fileExists(atPath: folder.path("L/copy")))
    }

    @Test func thePolicySaysHowManyStay() throws {
        #expect(try tool("policy", "L", "set", "--archives", "1").exitCode == 0)
        #expect(try tool("policy", "L").output.contains("the newest 1 archive of compactions stay"))
        let first = try compacted("--keep", "9")
        try Data("x".utf8).write(to: URL(filePath: folder.path("L.archive-1-00000000.zst")))
        let second = try compacted("--keep", "5")
        #expect(try archives().contains(second) && !archives().contains(first))
        #expect(try archives().contains("L.archive-1-00000000.zst"), "what is no archive of this log stays")
        #expect(try tool("policy", "L", "set", "--archives", "0").exitCode == 0)
        let third = try tool("compact", "L", "--keep", "1")
        #expect(third.output.contains("gone for good: "))
        #expect(try archives().count == 2)
        #expect(try tool("policy", "L", "set", "--archives", "some").exitCode == 2)
    }

    @Test func aRedactionTellsOfArchivesAndEndsTheirUse() throws {
        let archive = try compacted("--keep", "5")
        let run = try tool("redact", "L", "message:1039", "--yes")
        #expect(run.output.contains(archive), "\(run.output)\(run.errors)")
        let refused = try tool("import", "L", archive)
        #expect(refused.exitCode == 2 && refused.errors.contains("redacted since"), "\(refused.errors)")
        #expect(try tool("replay", "L", "--at", "9", "--with-archive", archive).exitCode == 2)
    }

    @Test func anArchiveWithoutItsLogIsAPart() throws {
        let archive = try compacted("--keep", "5")
        let run = try tool("import", "new", archive)
        #expect(run.exitCode == 0 && run.errors.contains("the file is a part"), "\(run.errors)")
        #expect(try tool("verify", "new").exitCode == 0)
        #expect(try tool("events", "new", "--payload").exitCode == 0)
    }

    @Test func whatIsNoArchiveIsSaid() throws {
        _ = try compacted("--keep", "5")
        try Data("{}\n".utf8).write(to: URL(filePath: folder.path("bad")))
        try Data([0x28, 0xB5, 0x2F, 0xFD, 1, 2, 3]).write(to: URL(filePath: folder.path("worse")))
        #expect(try tool("export", "whole", "-o", "log").exitCode == 0)
        for name in ["bad", "worse", "log", "nowhere"] {
            let run = try tool("replay", "L", "--at", "9", "--with-archive", name)
            #expect(run.exitCode == 2 && run.errors.contains(name), "\(name): \(run.errors)")
        }
    }

    /// Killed at any time, the log is the old one or the new one, and what it lets go of is in the archive.
    @Test func killedCompactionsAndImportsLoseNothing() throws {
        let lines = try tool("export", "whole").output.split(separator: "\n").dropFirst()
        let compact = ["compact", "L", "--keep", "5", "--quiet"]
        let time = try ContinuousClock().measure { _ = try ToolRun.run(compact, in: folder) }
        var random = SeededGenerator(seed: 4)
        for round in 0..<(ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] == nil ? 3 : 300) {
            try FileManager.default.removeItem(atPath: folder.path("L"))
            for name in try archives() { try FileManager.default.removeItem(atPath: folder.path(name)) }
            try FileManager.default.copyItem(atPath: folder.path("whole"), toPath: folder.path("L"))
            try ToolRun.killed(compact, in: folder, after: time * 1.5, &random)
            #expect(try tool("verify", "L").exitCode == 0, "round \(round)")
            let export = try tool("export", "L").output
            guard export.contains("logtool.compact/1") else {
                #expect(Array(export.split(separator: "\n").dropFirst()) == Array(lines), "round \(round)")
                continue
            }
            let archive = try #require(try archives().first)
            try ToolRun.killed(["import", "L", archive, "--quiet"], in: folder, after: time, &random)
            #expect(try tool("verify", "L").exitCode == 0, "round \(round)")
            #expect(try tool("import", "L", archive).exitCode == 0)
            let after = try tool("export", "L").output.split(separator: "\n").dropFirst()
            #expect(Array(after.prefix(lines.count)) == Array(lines), "round \(round)")
        }
    }
}
