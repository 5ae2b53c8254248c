import EventLog
import Foundation
import Projections
import TestSupport
import Testing

/// What the log tells of messages that a compaction dropped (`docs/semantics.md`, "Compaction").
@Suite struct DroppedMessageTests {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func tool(_ arguments: String..., exitCode: Int32 = 0) throws -> ToolRun {
        let run = try ToolRun.run(arguments, in: folder)
        #expect(run.exitCode == exitCode, "\(arguments): \(run.errors)")
        return run
    }

    private func ingest(_ frames: [String], day: Int) throws {
        let hello = SampleCaptures.line(day * 86_400, #"{"op":10,"d":{"heartbeat_interval":45000}}"#)
        let lines = frames.enumerated().map { number, frame in
            SampleCaptures.line(day * 86_400 + number + 1, #"{"op":0,"s":\#(number + 1),"# + frame.dropFirst())
        }
        try folder.write(hello + lines.joined(), to: "day\(day).ndjson")
        _ = try tool("ingest", "L", "capture", "day\(day).ndjson", "--kind", "gateway", "--as", "guild")
    }

    private static func message(_ id: Int, _ text: String, edited: String? = nil) -> String {
        let name = edited == nil ? "MESSAGE_CREATE" : "MESSAGE_UPDATE"
        let time = edited.map { #","edited_at":"\#($0)""# } ?? ""
        return #"{"t":"\#(name)","d":{"id":"\#(id)","channel_id":"10","author_id":"7","author_username":"ada","#
            + #""content":"\#(text)","created_at":"2026-01-01T00:00:00Z"\#(time)}}"#
    }

    private static func deletion(_ id: Int) -> String {
        #"{"t":"MESSAGE_DELETE","d":{"id":"\#(id)","channel_id":"10"}}"#
    }

    private func words(_ id: Int) throws -> [String] {
        let run = try ToolRun.run(["history", "L", "message:\(id)", "--json"], in: folder)
        guard run.exitCode == 0 else { return [] }
        return (try JSONValue.parse(Array(run.output.utf8))["events"]?.array ?? []).compactMap { $0["change"]?.string }
    }

    @Test func whatComesAfterACompactionIsTold() throws {
        try folder.makeLog(messages: 40, isLarge: true)
        _ = try tool("compact", "L", "--keep", "3")
        try ingest(
            [
                Self.message(1005, "five, edited", edited: "2026-01-02T00:00:00Z"),
                Self.message(1005, "five, edited", edited: "2026-01-02T00:00:00Z"),
                Self.deletion(1006), Self.message(1007, "message 7"),
                Self.message(1008, "eight", edited: "2025-12-31T00:00:00Z"), Self.deletion(1005), Self.deletion(1005),
                #"{"t":"MESSAGE_REACTION_ADD","d":{"message_id":"1009","channel_id":"10","user_id":"8","emoji":"A"}}"#,
                Self.message(1040, "forty, edited", edited: "2026-01-02T00:00:00Z"),
            ],
            day: 2
        )
        #expect(try words(1005) == ["compacted", "edited", "deleted"])
        #expect(try words(1006) == ["compacted", "deleted"])
        // It may be what was dropped, said again.
        #expect(try words(1007) == ["compacted", "stated"])
        // That one had no edit.
        #expect(try words(1008) == ["compacted", "edited"])
        #expect(try words(1009).isEmpty && words(1010).isEmpty)
        #expect(
            try tool("history", "L", "message:1005").output.contains(
                "compacted  what was before is in the archive, if one was made"
            )
        )
        // All events that name it, repeats and reactions too.
        func events(_ id: Int) throws -> Int {
            try tool("events", "L", "--entity", "message:\(id)", "--jsonl").output.split(separator: "\n").count
        }
        #expect(try events(1005) == 4)
        #expect(try events(1009) == 1)
        #expect(try tool("events", "L", "--entity", "message:1010", exitCode: 1).errors.contains("dropped it"))
        // The audit of all has them in the order of events.
        func changes(_ options: String...) throws -> [String] {
            try ToolRun.run(["audit", "L", "--jsonl"] + options, in: folder).output.split(separator: "\n").map {
                let line = try JSONValue.parse(Array($0.utf8))
                return "\(line["change"]?.string ?? "") \(line["entity"]?.string?.suffix(4) ?? "")"
            }
        }
        #expect(
            try changes() == ["edited 1005", "deleted 1006", "edited 1008", "deleted 1005", "edited 1040"]
        )
        #expect(try changes("--deletes") == ["deleted 1006", "deleted 1005"])
        #expect(try changes("-n", "2") == ["deleted 1005", "edited 1040"])
        #expect(try changes("--entity", "message:1005") == ["edited 1005", "deleted 1005"])
        #expect(try changes("--match", "five") == ["edited 1005", "deleted 1005"])
        #expect(try changes("--author", "ada", "--edits") == ["edited 1005", "edited 1008", "edited 1040"])
        let run = try tool("audit", "L")
        #expect(run.errors.contains("what happened to 37 messages before compactions dropped them is not listed"))
        // What changed a message that is still dropped cannot be proved.
        #expect(try changes("--prove") == ["edited 1005", "edited 1008", "deleted 1005", "edited 1040"])
        #expect(try tool("audit", "L", "--prove", "--jsonl").errors.contains("1 change of"))
        #expect(
            try tool("history", "L", "message:1006", "--prove", "--json", exitCode: 1).errors.contains("dropped it")
        )
        _ = try tool("history", "L", "message:1005", "--prove", "--json")
        #expect(try tool("audit", "L", "--entity", "message:1010", exitCode: 1).errors.contains("dropped it"))
    }

    /// What every command says of a message that is live again, also after a second compaction and once the archive is back.
    @Test func aMessageThatIsLiveAgainIsKnownFromThereOn() throws {
        try folder.makeLog(messages: 40, isLarge: true)
        _ = try tool("compact", "L", "--keep", "3", "--archive", "first")
        let decision = try #require(
            JSONValue.parse(Array(tool("stats", "L", "--json").output.utf8))["head"]?.string
        )
        func frame(_ hour: Int) -> String { Self.message(1005, "five at \(hour)", edited: "2026-01-02T\(hour):00:00Z") }
        try ingest([Self.message(1005, "message 5"), frame(10), Self.message(1005, "message 5"), frame(11)], day: 2)
        func row() throws -> JSONValue? {
            let state = try JSONValue.parse(Array(tool("replay", "L", "--json").output.utf8))
            return state["messages"]?.array?.first { $0["id"]?.string == "1005" }
        }
        #expect(try row()?["compacted"]?.bool == true && row()?["revisions"] == .int(2))
        #expect(try row()?["content"]?.string == "five at 11")
        #expect(try words(1005) == ["compacted", "stated", "edited", "edited"])
        let events = try tool("events", "L", "--entity", "message:1005", "--jsonl").output.split(separator: "\n")
        #expect(events.count == 3 || events.count == 4, "\(events)")
        let difference = try JSONValue.parse(
            Array(tool("diff", "L@\(decision)", "L", "--json", exitCode: 1).output.utf8)
        )["differences"]?.array
        #expect(difference?.first?["entity"]?.string?.hasSuffix("/1005") == true)
        #expect(difference?.first?["change"]?.string == "added", "\(difference ?? [])")
        #expect(
            try tool("audit", "L", "--entity", "message:1005", "--jsonl").output.split(separator: "\n").count == 2
        )
        // Kept: what came before it was stated goes, and the first compaction stays the one that dropped the rest.
        _ = try tool("compact", "L", "--keep", "4", "--force", "--archive", "second")
        #expect(try words(1005) == ["compacted", "edited", "edited"])
        // Its deletion is one for good, also once it is dropped.
        try ingest([Self.deletion(1005)], day: 4)
        _ = try tool("compact", "L", "--keep", "0", "--force", "--archive", "third")
        try ingest([frame(12)], day: 6)
        #expect(try row() == nil && words(1005) == ["compacted", "stated"])
        _ = try tool("verify", "L", "--deep")
        for archive in ["third", "second", "first"] { _ = try tool("import", "L", archive) }
        let whole = try words(1005)
        #expect(whole.first == "created" && whole.contains("deleted") && !whole.contains("compacted"), "\(whole)")
    }

    /// What came between two compactions of a message that the first one dropped is dropped by the second, like every event that no
    /// state needs; what came after the second is told.
    @Test func eachMessageCountsFromItsOwnCompaction() throws {
        try folder.makeLog(messages: 40, isLarge: true)
        _ = try tool("compact", "L", "--keep", "20")
        try ingest([Self.deletion(1005), Self.message(1030, "thirty", edited: "2026-01-02T00:00:00Z")], day: 2)
        #expect(try words(1005) == ["compacted", "deleted"])
        #expect(try words(1030) == ["created", "edited"])
        _ = try tool("compact", "L", "--keep", "3", "--force")
        #expect(try words(1005).isEmpty && words(1030).isEmpty)
        try ingest([Self.deletion(1030), Self.deletion(1005)], day: 4)
        #expect(try words(1030) == ["compacted", "deleted"])
        #expect(try words(1005) == ["compacted", "deleted"])
    }

    /// A branch's commit states only what it changed, so a file that it writes is a new version.
    @Test func aCommitEditsAndRestores() throws {
        try git("init", "--quiet", "--initial-branch", "main", "chat")
        for number in 1...40 { try write(1_000 + number, "message \(number)") }
        try commit("all")
        _ = try tool("ingest", "B", "git", "chat", "--as", "vibe")
        for number in 31...40 {
            try write(1_000 + number, "message \(number), edited")
            try commit("edit \(number)")
        }
        _ = try tool("ingest", "B", "git", "chat", "--as", "vibe")
        _ = try tool("compact", "B", "--keep", "3", "--force")
        try write(1005, "five, edited")
        try commit("edit")
        try git("-C", "chat", "rm", "--quiet", "general/m1005.md")
        try commit("delete")
        try write(1005, "five, again")
        try commit("restore")
        _ = try tool("ingest", "B", "git", "chat", "--as", "vibe")
        let history = try JSONValue.parse(Array(tool("history", "B", "message:m1005", "--json").output.utf8))
        let words = (history["events"]?.array ?? []).compactMap { $0["change"]?.string }
        #expect(words == ["compacted", "edited", "deleted", "restored"])
    }

    private func write(_ number: Int, _ text: String) throws {
        try FileManager.default.createDirectory(atPath: folder.path("chat/general"), withIntermediateDirectories: true)
        let time = "2026-01-19T09:\(10 + number % 50):00.000Z"
        try folder.write("---\nfrom: ann\ndate: \(time)\n---\n\n\(text)\n", to: "chat/general/m\(number).md")
    }

    private func commit(_ text: String) throws {
        try git("-C", "chat", "add", "-A")
        try git("-C", "chat", "commit", "--quiet", "-m", text)
    }

    private func git(_ arguments: String...) throws {
        let names = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
        let run = try ToolRun.run(["git"] + names + arguments, in: folder, program: URL(filePath: "/usr/bin/env"))
        try #require(run.exitCode == 0, "\(run.errors)")
    }

    /// The events that name a dropped message are found, whatever they are: compared with the payloads themselves.
    @Test(arguments: 1...4 as ClosedRange<UInt64>) func noEventIsLeftOut(seed: UInt64) throws {
        try folder.makeLog(messages: 40, isLarge: true)
        _ = try tool("compact", "L", "--keep", "5")
        var random = SeededGenerator(seed: seed)
        var expected: [Int: [Int]] = [:]
        var (live, gone): (Set<Int>, Set<Int>) = ([], [])
        let frames = (0..<60).map { number in
            let id = 1_000 + Int.random(in: 1...40, using: &random)
            let choice = Int.random(in: 0...3, using: &random)
            // From the event on that states it whole, a message's own history tells of it.
            if choice == 0, !live.contains(id) { gone.insert(id) }
            if choice == 1, !gone.contains(id) { live.insert(id) }
            if id <= 1_035, !live.contains(id) { expected[id, default: []].append(number) }
            return switch choice {
            case 0: Self.deletion(id)
            case 1:
                Self.message(
                    id,
                    "text \(number)",
                    edited: "2026-01-0\(Int.random(in: 2...9, using: &random))T00:00:00Z"
                )
            case 2: Self.message(id, "text \(number)")
            default:
                #"{"t":"MESSAGE_REACTION_ADD","d":{"message_id":"\#(id)","channel_id":"10","user_id":"8","emoji":"A"}}"#
            }
        }
        try ingest(frames, day: 2)
        let store = try EventStore.open(at: folder.path("L"))
        let first = try store.read { $0.head.rawValue } - UInt64(frames.count) + 1
        let state = try store.read { try Replay.logState(of: $0) }
        let changes = try store.read { try Compaction.changesOfDropped(where: { _ in true }, in: state, $0) }
        var found: [Int: [Int]] = [:]
        for change in changes {
            let id = try #require(change.entity.parts.last.flatMap { Int($0) })
            found[id, default: []].append(Int(change.sequence.rawValue - first))
        }
        #expect(found == expected)
    }
}
