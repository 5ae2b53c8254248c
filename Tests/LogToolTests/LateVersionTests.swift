import Foundation
import TestSupport
import Testing

@testable import logtool

/// I33: what people and scripts are told of a version that comes late.
@Suite struct LateVersionTests {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    @Test func anEditThatComesLateIsNoEditBack() throws {
        try ingest(
            [
                Self.message("CREATE", "first"), Self.message("UPDATE", "third and final", edited: 9),
                Self.message("UPDATE", "second", edited: 5),
            ]
        )
        let entries = try history("message:1")
        #expect(entries.map { $0["change"] as? String } == ["created", "edited", "edited"])
        #expect(entries.map { $0["late"] as? Bool } == [nil, nil, true])
        #expect(entries[2]["version"] as? Int == 2 && entries[2]["of"] as? Int == 3)
        #expect((entries[2]["fields"] as? [String: Any])?["content"] as? String == "second")
        #expect(entries[2]["known"] == nil)
        let text = try ToolRun.run(["history", "L", "message:1"], in: folder).output
        #expect(text.contains("edited  by 7  (late: version 2 of 3)\n  editedAt: \"2026-03-01T12:00:05"))
        #expect(text.contains("\n  content: \"second\"\n") && !text.contains("[-third"))
    }

    /// Only what was known is before and after, whoever asks.
    @Test func anAuditDoesNotListIt() throws {
        try ingest(
            [
                Self.message("CREATE", "first"), Self.message("UPDATE", "third and final", edited: 9),
                Self.message("UPDATE", "second", edited: 5), Self.message("UPDATE", "fourth", edited: 12),
                #"{"op":0,"s":9,"t":"MESSAGE_DELETE","d":{"id":"1","channel_id":"10"}}"#,
            ]
        )
        let lines = try Self.objects(ToolRun.run(["audit", "L", "--json", "--prove"], in: folder).output)
        let contents = lines.map { line in
            ["before", "after"].map { (line[$0] as? [String: Any])?["content"] as? String }
        }
        #expect(contents == [["first", "third and final"], ["third and final", "fourth"], ["fourth", nil]])
        #expect(try ToolRun.run(["audit", "L", "--match", "second"], in: folder).exitCode == 1)
    }

    @Test func aTextOfALateVersionIsFoundAtItsEvent() throws {
        try ingest(
            [
                Self.message("CREATE", "first"), Self.message("UPDATE", "third and final", edited: 9),
                Self.message("UPDATE", "second", edited: 5),
            ]
        )
        let found = try Self.objects(ToolRun.run(["history", "L", "--match", "second", "--json"], in: folder).output)
        let events = try #require(found.first?["events"] as? [[String: Any]])
        #expect(events.map { $0["sequence"] as? String } == ["3"])
        #expect(events.first?["late"] as? Bool == true)
        #expect(found.first?["holds"] as? Bool == false)
        let held = try ToolRun.run(["history", "L", "--match", "second"], in: folder).output
        #expect(held.contains("held it: event 3 late edited"))
        let holding = try Self.objects(ToolRun.run(["history", "L", "--match", "final", "--json"], in: folder).output)
        #expect(holding.first?["holds"] as? Bool == true)
    }

    @Test func aCreateBehindItsEditIsLate() throws {
        try ingest([Self.message("UPDATE", "b", edited: 9), Self.message("CREATE", "a")])
        let entries = try history("message:1")
        #expect(entries.map { $0["change"] as? String } == ["created", "created"])
        #expect(entries[1]["late"] as? Bool == true)
        #expect(entries[1]["version"] as? Int == 1 && entries[1]["of"] as? Int == 2)
    }

    /// A deleted message stays deleted; a newer version only tells its last text better.
    @Test func aVersionOfADeletedMessageIsLate() throws {
        try ingest(
            [
                Self.message("CREATE", "first"),
                #"{"op":0,"s":9,"t":"MESSAGE_DELETE","d":{"id":"1","channel_id":"10"}}"#,
                Self.message("UPDATE", "third", edited: 9), Self.message("UPDATE", "second", edited: 5),
            ]
        )
        let entries = try history("message:1")
        #expect(entries.map { $0["late"] as? Bool } == [nil, nil, true, true])
        #expect((entries[2]["known"] as? [String: Any])?["content"] as? String == "third")
        #expect(entries[3]["known"] == nil)
        let edits = try Self.objects(ToolRun.run(["audit", "L", "--edits", "--json"], in: folder).output)
        #expect(edits.map { $0["sequence"] as? String } == ["3"])
        #expect(edits.first?["late"] as? Bool == true)
    }

    /// A late row: an entry without an effect, and one that tells a column that nothing newer stated.
    @Test func aLateVersionOfARowIsAnEntry() throws {
        try ingest(
            [
                Self.row("INSERT", 1, #"{"id":"a","t":"one"}"#), Self.row("UPDATE", 9, #"{"id":"a","t":"nine"}"#),
                Self.row("UPDATE", 5, #"{"id":"a","t":"five"}"#),
                Self.row("UPDATE", 7, #"{"id":"a","t":"seven","u":"7"}"#),
                Self.row("UPDATE", 5, #"{"id":"a","t":"five"}"#),
            ],
            kind: "realtime"
        )
        let entries = try history("row:notes/a")
        #expect(entries.map { $0["change"] as? String } == ["added", "changed", "changed", "changed"])
        #expect(entries.map { $0["late"] as? Bool } == [nil, nil, true, true])
        #expect(entries[2]["version"] as? Int == 2 && entries[2]["of"] as? Int == 3)
        #expect(Self.record(entries[2]["fields"]) == ["id": "a", "t": "five"])
        #expect(entries[2]["known"] == nil)
        #expect(entries[3]["version"] as? Int == 3 && entries[3]["of"] as? Int == 4)
        #expect(Self.record(entries[3]["known"]) == ["id": "a", "t": "nine", "u": "7"])
        let text = try ToolRun.run(["history", "L", "row:notes/a"], in: folder).output
        #expect(text.contains("(late: version 2 of 3)\n  record.t: \"five\"\n"))
        #expect(text.contains("  record.u: + \"7\"\n"))
        let audit = try Self.objects(ToolRun.run(["audit", "L", "--only", "rows", "--json"], in: folder).output)
        #expect(audit.map { $0["sequence"] as? String } == ["2", "4"])
    }

    @Test(.enabled(if: PythonDatabase.isAvailable))
    func aCacheMarksIt() throws {
        try ingest(
            [
                Self.message("CREATE", "first"), Self.message("UPDATE", "third", edited: 9),
                Self.message("UPDATE", "second", edited: 5),
            ]
        )
        #expect(try ToolRun.run(["rebuild", "L", "--to", "c.sqlite"], in: folder).exitCode == 0)
        let rows = try PythonDatabase(path: folder.path("c.sqlite")).lines(
            "SELECT number, change, late, version, versions, content FROM message_revisions ORDER BY number"
        )
        #expect(
            rows == [
                "(0, 'created', None, None, None, 'first')", "(1, 'edited', None, None, None, 'third')",
                "(2, 'edited', 1, 2, 3, 'second')",
            ]
        )
    }

    /// A channel that turns out to be in a guild that was deleted before ends at the event that told so.
    @Test func anEndStandsAtTheEventThatToldOfIt() throws {
        try ingest(
            [
                Self.message("CREATE", "first"), #"{"op":0,"s":2,"t":"GUILD_DELETE","d":{"id":"20"}}"#,
                #"{"op":0,"s":3,"t":"CHANNEL_UPDATE","d":{"id":"10","name":"n","type":0,"position":0,"guild_id":"20"}}"#,
            ]
        )
        for entity in ["message:1", "channel:10"] {
            let entries = try history(entity)
            #expect(entries.last?["change"] as? String == "deleted", "\(entity)")
            #expect(entries.last?["sequence"] as? String == "3", "\(entity)")
        }
    }

    // MARK: - Logs

    private static func message(_ name: String, _ text: String, edited: Int? = nil) -> String {
        let time = edited.map { #","edited_at":"2026-03-01T12:00:\#($0 < 10 ? "0" : "")\#($0)Z""# } ?? ""
        return #"{"op":0,"s":\#(edited ?? 1),"t":"MESSAGE_\#(name)","d":{"id":"1","channel_id":"10","author_id":"7","#
            + #""content":"\#(text)","created_at":"2026-03-01T12:00:00Z"\#(time)}}"#
    }

    private static func row(_ type: String, _ second: Int, _ record: String) -> String {
        #"{"topic":"realtime:db","event":"postgres_changes","ref":null,"payload":{"ids":[1],"data":{"schema":"public","#
            + #""table":"notes","commit_timestamp":"2026-02-01T00:00:0\#(second)Z","type":"\#(type)","columns":[],"#
            + #""record":\#(record),"old_record":null,"errors":null}}}"#
    }

    private func ingest(_ frames: [String], kind: String = "gateway") throws {
        let lines = try frames.enumerated().map { number, frame in
            let line: [String: Any] = ["t_ms": 1_772_366_401_000 + number, "dir": "in", "raw": frame]
            return String(decoding: try JSONSerialization.data(withJSONObject: line), as: UTF8.self)
        }
        try folder.write(lines.joined(separator: "\n"), to: "c.ndjson")
        let run = try ToolRun.run(["ingest", "L", "capture", "c.ndjson", "--as", "s", "--kind", kind], in: folder)
        try #require(run.exitCode == 0)
    }

    private func history(_ entity: String) throws -> [[String: Any]] {
        let output = try ToolRun.run(["history", "L", entity, "--json"], in: folder).output
        let document = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any]
        return try #require(document?["events"] as? [[String: Any]])
    }

    private static func objects(_ text: String) throws -> [[String: Any]] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
    }

    private static func record(_ fields: Any?) -> [String: String]? {
        (fields as? [String: Any])?["record"] as? [String: String]
    }
}
