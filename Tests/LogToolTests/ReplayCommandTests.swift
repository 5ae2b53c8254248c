import Foundation
import TestSupport
import Testing

@testable import logtool

@Suite struct ReplayCommandTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 3)
    }

    @Test(arguments: [
        ["--tail", "-1"], ["--tail", "x"], ["--ids", "--json"], ["--full", "--digest"], ["--tail", "1", "--step"],
    ])
    func viewsAreForTextOnly(options: [String]) throws {
        let run = try ToolRun.run(["replay", "L"] + options, in: folder)
        #expect(run.exitCode == 2)
        #expect(run.output.isEmpty)
    }

    @Test(arguments: [
        ("L@4", ["--at", "4"]), ("L@-1", ["--at", "-1"]), ("L@head~1", ["--at=-1"]),
        ("L@4", ["--at", "2026-01-01 00:00:03"]),
        ("L@remote:2026-01-01", ["--at", "remote:2026-01-01 00:00"]), ("L#canonical", ["--profile", "canonical"]),
        ("L@4#retrocast-ios", ["--at", "4", "--profile", "retrocast-ios"]),
    ])
    func aPointAndAProfileMayFollowTheLog(reference: String, options: [String]) throws {
        let run = try ToolRun.run(["replay", reference, "--json"], in: folder)
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(try run.output == ToolRun.run(["replay", "L", "--json"] + options, in: folder).output)
    }

    @Test func aLogWithAMarkInItsNameIsThatLog() throws {
        try FileManager.default.moveItem(atPath: folder.path("L"), toPath: folder.path("me@home"))
        #expect(try ToolRun.run(["replay", "me@home", "--digest"], in: folder).exitCode == 0)
        #expect(try ToolRun.run(["replay", "me@home@4", "--digest"], in: folder).exitCode == 0)
    }

    @Test(arguments: [
        ["L@4", "--at", "3"], ["L@4", "--step"], ["L@x"], ["L", "--at", "-x"], ["L", "--at", "--json"],
    ])
    func pointsThatCannotBeMeantEndWith2(arguments: [String]) throws {
        let run = try ToolRun.run(["replay"] + arguments, in: folder)
        #expect(run.exitCode == 2)
        #expect(run.errors.contains("point") || run.errors.contains("POINT"))
    }

    @Test func aTimeBeforeTheRecordingSaysWhenItBegan() throws {
        for arguments in [["replay", "L", "--at", "2025-12-31"], ["diff", "L@2025-12-31", "L@0"]] {
            let run = try ToolRun.run(arguments, in: folder)
            #expect(run.exitCode == 0)
            #expect(run.errors.contains("recording began at 2026-01-01 00:00:00.000"), "\(run.errors)")
            #expect(run.errors.contains("remote:2025-12-31T00:00:00Z"))
            #expect(!run.output.contains("1970"))
            #expect(try ToolRun.run(arguments + ["--quiet"], in: folder).errors.isEmpty)
        }
        #expect(try replay("--at", "2026-01-01").errors.isEmpty)
        #expect(try replay("--at", "remote:2025-12-31").errors.isEmpty)
    }

    @Test func theTimesSayWhoseClockTheyAre() throws {
        #expect(
            try replay().output.contains(
                "\ntimes above: the remote's; below: the recorder's; all in UTC\nsequence 5, as of "
            )
        )
    }

    @Test func colourComesWhenItIsAskedForOnly() throws {
        #expect(try replay("--color", "always").output.contains("\u{1B}[36mada: \u{1B}[0m"))
        #expect(try !replay("--color", "never").output.contains("\u{1B}"))
    }

    @Test func theDocumentHasEveryArray() throws {
        let document = try JSONSerialization.jsonObject(with: Data(replay("--json").output.utf8)) as? [String: Any]
        #expect(document?["format"] as? String == "eventlog.state/1")
        #expect(document?["sequence"] as? String == "5")
        #expect((document?["messages"] as? [Any])?.count == 3)
        let arrays = [
            "channels", "messages", "deletedMessages", "guilds", "members", "roles", "bans", "presences", "typing",
            "voiceStates", "readStates", "items", "sessions", "sessionAggregates", "prompts", "rows", "issues",
        ]
        for name in arrays { #expect(document?[name] is [Any], "\(name)") }
    }

    @Test(arguments: [
        ["TZ": "UTC"], ["TZ": "Asia/Kolkata"],
        ["TZ": "America/St_Johns", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"],
        ["SWIFT_DETERMINISTIC_HASHING": "1"],
    ])
    func neitherZoneNorLocaleNorHashSeedShows(environment: [String: String]) throws {
        let plain = try replay("--json")
        let run = try ToolRun.run(["replay", "L", "--json"], in: folder, environment: environment)
        #expect(run.output == plain.output)
        #expect(run.exitCode == 0)
    }

    @Test func oneChannelIsShownAloneWithOrWithoutItsSource() throws {
        let whole = try JSONSerialization.jsonObject(with: Data(replay("--json").output.utf8)) as? [String: Any]
        let channel = try #require((whole?["channels"] as? [[String: Any]])?.first)
        let name = try #require(channel["id"] as? String)
        let source = try #require(channel["source"] as? String)
        for text in [name, "\(source)/\(name)", "channel:\(source)/\(name)"] {
            let run = try replay("--channel", text, "--json")
            let document = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
            #expect(document?["channel"] as? String == "channel:\(source)/\(name)")
            #expect((document?["messages"] as? [Any])?.count == 3)
            #expect(document?["digest"] == nil && document?["guilds"] == nil)
        }
        #expect(try replay("--channel", name).output.contains("general  3 messages"))
        #expect(try replay("--channel", name, "--jsonl", "--only", "messages").output.split(separator: "\n").count == 4)
    }

    @Test func aChannelThatIsNotThereIsSaid() throws {
        let run = try replay("--channel", "nobody", "--json")
        #expect(run.exitCode == 1)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains("nobody"))
        #expect(try replay("--channel", "general", "--digest").exitCode == 2)
        #expect(try replay("--channel", "").exitCode == 2)
    }

    @Test func oneRowStandsOnALine() throws {
        let lines = try replay("--json").output.split(separator: "\n")
        #expect(lines.filter { $0.contains("\"content\"") }.count == 3)
        let rows = try replay("--jsonl").output.split(separator: "\n")
        #expect(rows.count == 1 + 1 + 3 + 1)
    }

    @Test func aSourceThatIsNotThereEndsWith1() throws {
        #expect(try replay("--source", "guild", "--digest").exitCode == 0)
        let run = try replay("--source", "gild", "--digest")
        #expect(run.exitCode == 1)
        #expect(run.errors.contains("find source \"gild\": the log has none"))
    }

    @Test func digestsComeForEachEvent() throws {
        let digest = try replay("--digest").output
        #expect(digest.utf8.count == 65)
        let lines = try replay("--digest", "--each").output.split(separator: "\n")
        #expect(lines.count == 5)
        #expect(lines.last.map { String($0) + "\n" } == "5\t" + digest)
        #expect(lines.first?.hasPrefix("1\t") == true)
    }

    @Test(arguments: [("head", 3), ("head~1", 2), ("3", 1), ("0", 0), ("2026-01-01T00:00:03Z", 2)])
    func pointsAreStatesOfTheirOwn(point: String, messages: Int) throws {
        let rows = try replay("--at", point, "--only", "messages", "--jsonl").output.split(separator: "\n")
        #expect(rows.count == messages + 1)
    }

    @Test func whatNeverArrivedIsNotThereAndTheLogStays() throws {
        let before = try replay("--digest").output
        #expect(try !replay("--without", "3").output.contains("ada: message 1\n"))
        #expect(try replay("--without", "3").output.contains("message 2"))
        #expect(try replay("--digest").output == before)
    }

    @Test func stepsSayWhatEachEventChanged() throws {
        let run = try replay("--step", "--from", "head~1", "--jsonl")
        let lines = run.output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.last?.contains(#""entity":"message:guild/10/1003","change":"added""#) == true)
    }

    @Test(arguments: [
        ["--only", "nonsense"], ["--profile", "nobody"], ["--each"], ["--step", "--digest"], ["--from", "1"],
        ["--without", "x"], ["--without", ""], ["--as-of", "now"], ["--at", "head~"], ["--digest", "--json"],
    ])
    func optionsThatDoNotFitEndWith2(options: [String]) throws {
        let run = try ToolRun.run(["replay", "L"] + options, in: folder)
        #expect(run.exitCode == 2)
        #expect(run.output.isEmpty)
    }

    @Test(arguments: ["99", "head~99"])
    func aPointThatIsNotThereEndsWith1(point: String) throws {
        #expect(try replay("--at", point).exitCode == 1)
    }

    @Test func aTimeBeforeTheFirstEventIsTheEmptyState() throws {
        let run = try replay("--at", "1999-01-01T00:00:00Z", "--jsonl")
        #expect(run.exitCode == 0)
        #expect(run.output.split(separator: "\n").count == 1)
    }

    private func replay(_ options: String...) throws -> ToolRun {
        try ToolRun.run(["replay", "L"] + options, in: folder)
    }
}
