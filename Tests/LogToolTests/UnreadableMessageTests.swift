import EventLog
import Foundation
import Projections
import TestSupport
import Testing

@testable import logtool

/// A message file that loses its front matter is no message any more, and what it was still answers to its name.
@Suite struct UnreadableMessageTests {
    let folder: TemporaryDirectory

    /// Sequences: 1 and 2 two messages, 3 the second loses its front matter, 4 it has one again, 5 loses it for good, 6 the
    /// first moves.
    init() throws {
        folder = try TemporaryDirectory()
        try git("init", "--quiet", "--initial-branch", "main", "chat")
        try write("general/1-ada.md", message("ada", "the first word"), by: "ada", minute: 1)
        try write("general/2-bob.md", message("bob", "a plan"), by: "bob", minute: 2)
        try write("general/2-bob.md", "a plan without a head\n", by: "cyd", minute: 3)
        try write("general/2-bob.md", message("bob", "another plan"), by: "bob", minute: 4)
        try write("general/2-bob.md", "---\nfrom: bob\n", by: "cyd", minute: 5)
        try FileManager.default.createDirectory(atPath: folder.path("chat/random"), withIntermediateDirectories: true)
        try git("-C", "chat", "mv", "general/1-ada.md", "random/1-ada.md")
        try commit(by: "eve", minute: 6)
        try #require(try tool("ingest", "L", "git", "chat", "--as", "vibe").exitCode == 0)
    }

    @Test func itsHistoryGoesOn() throws {
        let entries = try history("message:general/2-bob")
        #expect(entries.map { $0["change"] as? String } == ["created", "unreadable", "edited", "unreadable"])
        #expect(entries.map { $0["sequence"] as? String } == ["2", "3", "4", "5"])
        #expect(entries.map { $0["by"] as? String } == ["bob", "cyd", "bob", "cyd"])
        let texts = entries.map { ($0["fields"] as? [String: Any])?["content"] as? String }
        #expect(texts == ["a plan", "a plan", "another plan", "another plan"])
        #expect(entries[1]["remoteTime"] as? String == "2026-01-19T09:03:00.000000Z")
        let text = try tool("history", "L", "message:2-bob").output
        #expect(text.contains("unreadable  by cyd"))
    }

    @Test func itIsFoundByItsTextAndItsEvents() throws {
        let found = try tool("history", "L", "--match", "another plan")
        #expect(found.output.contains("message:vibe/general/2-bob  held it: event 4 edited, event 5 unreadable"))
        let events = try tool("events", "L", "--entity", "message:2-bob", "--jsonl")
        #expect(events.output.split(separator: "\n").count == 4)
    }

    @Test func anAuditListsWhatWentAndWhatCameBack() throws {
        let lines = try tool("audit", "L", "--jsonl", "--channel", "general").output.split(separator: "\n")
        let changes = try lines.map { try JSONValue.parse(String($0))["change"]?.string }
        #expect(changes == ["unreadable", "edited", "unreadable"])
        #expect(try JSONValue.parse(String(lines[0]))["before"]?["content"]?.string == "a plan")
        #expect(try JSONValue.parse(String(lines[0]))["after"] == nil)
        let people = try tool("audit", "L", "--deletes").output
        #expect(people.contains("its file is no message any more"))
        #expect(people.hasSuffix("\n2 deletes\n"))
    }

    @Test(arguments: [(3, false), (4, true), (5, false)])
    func atAPointItIsAMessageOrNone(point: Int, isMessage: Bool) throws {
        let state = try JSONValue.parse(try tool("replay", "L", "--at", "\(point)", "--json").output)
        #expect(state["messages"]?.array?.contains { $0["id"]?.string == "2-bob" } == isMessage)
        #expect(state["deletedMessages"]?.array?.isEmpty == true)
    }

    @Test(arguments: ["100", "1"]) func afterACompactionItAnswersToItsName(keep: String) throws {
        let before = try history("message:general/2-bob")
        let compacted = try tool("compact", "L", "--keep", keep, "--json")
        #expect(compacted.exitCode == 0, "\(compacted.errors)")
        #expect(try history("message:general/2-bob") as NSArray == before as NSArray)
        #expect(try tool("verify", "L", "--deep").exitCode == 0)
    }

    @Test func aMessageThatMovedAnswersToItsOldName() throws {
        #expect(try history("message:vibe/general/1-ada").map { $0["change"] as? String } == ["created", "moved"])
        #expect(try history("message:1-ada").map { $0["change"] as? String } == ["created", "moved"])
        let audit = try tool("audit", "L", "--jsonl", "--change", "move").output.split(separator: "\n")
        #expect(audit.count == 1, "a move is one change")
        let events = try tool("events", "L", "--entity", "message:general/1-ada", "--jsonl").output
        #expect(events.split(separator: "\n").count == 2)
    }

    @Test func aCacheHasItsHistory() throws {
        #expect(try tool("rebuild", "L", "--to", "c.sqlite").exitCode == 0)
        #expect(try tool("rebuild", "L", "--to", "c.sqlite", "--check").exitCode == 0)
    }

    // MARK: The branch

    private func message(_ author: String, _ text: String) -> String {
        "---\nfrom: \(author)\ndate: 2026-01-19T08:00:00Z\n---\n\(text)\n"
    }

    private func write(_ file: String, _ text: String, by author: String, minute: Int) throws {
        let parent = URL(filePath: folder.path("chat/" + file)).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
        try folder.write(text, to: "chat/" + file)
        try commit(by: author, minute: minute)
    }

    private func commit(by author: String, minute: Int) throws {
        try git("-C", "chat", "add", "--all")
        let time = "2026-01-19T09:0\(minute):00Z"
        let names = ["-c", "user.name=\(author)", "-c", "user.email=\(author)@example.org"]
        try git(
            ["-C", "chat"] + names + ["commit", "--quiet", "--message", "change"],
            environment: ["GIT_AUTHOR_DATE": time, "GIT_COMMITTER_DATE": time]
        )
    }

    private func git(_ arguments: String...) throws { try git(arguments) }

    private func git(_ arguments: [String], environment: [String: String] = [:]) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["git"] + arguments
        process.currentDirectoryURL = folder.url
        process.environment = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": folder.url.path,
            "GIT_CONFIG_NOSYSTEM": "1",
        ].merging(environment) { _, given in given }
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }

    private func history(_ name: String) throws -> [[String: Any]] {
        let output = try tool("history", "L", name, "--json").output
        let document = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any]
        return try #require(document?["events"] as? [[String: Any]])
    }

    private func tool(_ arguments: String...) throws -> ToolRun { try ToolRun.run(arguments, in: folder) }
}

/// Each thing that a log ever told of answers to its name. Of typing and read states no past is kept.
@Suite struct KnownNameTests {
    @Test(arguments: Scenario.all) func whatOnceHadAHistoryHasOneForEver(scenario: Scenario) throws {
        let folder = try TemporaryDirectory()
        let events = try scenario.log(in: folder).allEvents()
        var state = LogState()
        var known: Set<EntityReference> = []
        // A scenario that is there for its size tells of many things of a few kinds.
        for event in events.prefix(80) {
            state.apply(event)
            for thing in state.touched(by: event.envelope) where !known.contains(thing) {
                if [.typing, .read].contains(thing.kind) { continue }
                if (try? state.history(of: thing)) != nil { known.insert(thing) }
            }
        }
        for thing in known { #expect((try? state.history(of: thing))?.isEmpty == false, "\(thing)") }
    }
}
