import EventLog
import Foundation
import Projections
import TestSupport
import Testing

@testable import Reduction
@testable import logtool

/// Logs that are shown to others: what is planted is gone, and what stays is listed.
@Suite struct AnonymousLogTests {
    /// Names that no protocol has, in several scripts, and one that looks like a month.
    static let planted = ["Marlene", "Zebulon", "quetzalcoatl", "Bjørnstad", "李明", "jan.orchard"]

    /// A text that holds all planted names, some of them encoded.
    static var prose: String {
        planted.joined(separator: " met ") + " at Zebulon2 and /tmp/marlene/Zebulon.md, " + percent("Bjørnstad")
            + " on Mon Jan 19 2026 "
            + Data("Marlene Zebulon".utf8).base64EncodedString()
    }

    static func percent(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics.intersection(.init(charactersIn: "\0")))
            ?? text
    }

    static func json(_ value: Any) -> String {
        let data = (try? JSONSerialization.data(withJSONObject: value, options: [.sortedKeys])) ?? Data()
        return String(decoding: data, as: UTF8.self)
    }

    /// The events of an app, with planted names in everything that people write.
    struct Planted: Sendable, CustomTestStringConvertible {
        let name: String
        let expressions: [String]
        let events: @Sendable () throws -> [DraftEvent]

        var testDescription: String { name }
    }

    private static let statusFile = EventKind(StaticString("status.file/1"))

    private static func draft(
        _ second: Int,
        _ kind: StaticString,
        _ payload: String,
        source: String = "Marlene's phone",
        key: String? = nil,
        _ attributes: [String: String] = [:]
    ) throws -> DraftEvent {
        DraftEvent(
            recordedAt: Timestamp(seconds: Int64(1_768_811_400 + second)),
            source: try SourceName(source),
            kind: EventKind(kind),
            key: try EventKey(key ?? "1768811400000000-1a2b3c4d/\(second)"),
            attributes: try Attributes(attributes.map { Attributes.Pair(name: $0.key, value: $0.value) }),
            payload: Array(payload.utf8)
        )
    }

    static let apps: [Planted] = [
        Planted(
            name: "gateway",
            expressions: [
                #"exists(messages[content contains "Marlene"]) and exists(channels[kind="text"])"#,
                #"exists(messages[authorName="Zebulon"]) and count(channels[kind="text"]) > 0"#,
            ]
        ) {
            let connection = ["connection": "1768811400000000-1a2b3c4d", "dir": "in"]
            return [
                try draft(
                    1,
                    "gateway.frame/1",
                    json([
                        "op": 0, "t": "READY", "s": 1,
                        "d": [
                            "session_id": "zebulon-session", "user_id": "135653857714900992",
                            "guilds": [135_653_857_689_735_168],
                        ],
                    ]),
                    connection
                ),
                try draft(
                    2,
                    "gateway.frame/1",
                    json([
                        "op": 0, "t": "CHANNEL_CREATE", "s": 2,
                        "d": [
                            "id": "135653857706512384", "guild_id": "135653857689735168", "name": "Zebulon", "type": 0,
                            "position": 1,
                            "topic": prose,
                        ],
                    ]),
                    connection
                ),
                try draft(
                    3,
                    "gateway.frame/1",
                    json([
                        "op": 0, "t": "MESSAGE_CREATE", "s": 3,
                        "d": [
                            "id": "135653857710706688", "channel_id": "135653857706512384",
                            "author_id": "135653857714900992",
                            "author_username": "zebulon", "author_display_name": "Zebulon", "content": prose,
                            "created_at": "2026-01-19T08:30:03Z", "marlene_note": ["Marlene": prose],
                        ],
                    ]),
                    connection
                ),
                try draft(
                    4,
                    "gateway.rest/1",
                    json([
                        [
                            "id": "135653857710706999", "channel_id": "135653857706512384",
                            "author_id": "135653857714900992",
                            "author_username": "marlene", "author_display_name": "Marlene", "content": prose,
                            "created_at": "2026-01-19T08:30:04Z",
                        ]
                    ]),
                    key: "c1/r/1",
                    [
                        "path": "/api/v1/channels/135653857706512384/messages?around=\(percent("Marlene"))",
                        "status": "200",
                    ]
                ),
            ]
        },
        Planted(
            name: "realtime",
            expressions: [
                #"exists(rows[table="notes", state="live", record.title contains "Marlene"])"#,
                #"exists(rows[table="ledger_of_marlene", state="live"]) and exists(rows[table="notes"])"#,
                #"rows["Marlene's phone/notes/note-of-zebulon"].state == "live""#,
            ]
        ) {
            func row(_ second: Int, _ table: String, _ record: [String: Any]) throws -> DraftEvent {
                try draft(
                    second,
                    "realtime.frame/1",
                    json([
                        "topic": "realtime:public:\(table)", "event": "postgres_changes", "ref": NSNull(),
                        "payload": [
                            "ids": [1],
                            "data": [
                                "schema": "public", "table": table, "type": "INSERT",
                                "commit_timestamp": "2026-01-19T08:30:0\(second)Z", "errors": NSNull(),
                                "columns": record.keys.sorted().map { ["name": $0, "type": "text"] }, "record": record,
                            ],
                        ],
                    ]),
                    ["dir": "in"]
                )
            }
            return [
                try row(
                    1,
                    "notes",
                    [
                        "id": "note-of-zebulon", "title": prose, "content": prose, "marlene_column": prose,
                        "metadata": ["folder": "Marlene/Zebulon"], "updated_at": "2026-01-19T08:30:01Z",
                    ]
                ),
                try row(2, "ledger_of_marlene", ["id": "Zebulon", "owner": "Marlene"]),
                try draft(
                    3,
                    "realtime.rest/1",
                    json([["id": "Marlene-2", "title": prose, "updated_at": "2026-01-19T08:30:03Z"]]),
                    key: "c1/r/2",
                    ["table": "notes", "path": "/rest/v1/notes?owner=eq.Marlene", "status": "200"]
                ),
            ]
        },
        Planted(
            name: "git",
            expressions: [
                #"exists(messages[content contains "Marlene"]) and exists(channels[kind="folder"])"#,
                #"exists(messages[author="Zebulon", content contains "quetzal"]) and exists(channels[kind="folder"])"#,
            ]
        ) {
            let blob = "0f1e2d3c4b5a69788796a5b4c3d2e1f001234567"
            let file =
                "---\nfrom: Zebulon\ndate: 2026-01-19T08:30:00Z\ntags: [Marlene, zebulon]\nmarlene_key: Marlene\n---\n\(prose)\n"
            return [
                try draft(
                    1,
                    "git.commit/1",
                    json([
                        "commit": "a94a8fe5ccb19ba61c4c0873d391e987982fbbd3",
                        "author": ["name": "Marlene", "email": "marlene@zebulon.example", "time": 1_768_811_400],
                        "committer": ["name": "Bjørnstad", "email": "b@x.example", "time": 1_768_811_400],
                        "subject": "Message from Marlene", "message": "Message from Marlene\n\n\(prose)\n",
                        "parents": [
                            [
                                "changes": [
                                    [
                                        "path": "zebulon/20260119T083000-marlene-1f3a.md",
                                        "to": ["mode": "100644", "blob": blob],
                                    ]
                                ]
                            ]
                        ],
                        "files": [
                            [
                                "path": "zebulon/20260119T083000-marlene-1f3a.md", "blob": blob, "size": 200,
                                "text": file,
                            ]
                        ],
                    ]),
                    key: "a94a8fe5ccb19ba61c4c0873d391e987982fbbd3"
                )
            ]
        },
        Planted(
            name: "items",
            expressions: [
                #"exists(items[status="open", text contains "Marlene"])"#,
                #"exists(items[id="zebulon-77a", done=false])"#,
            ]
        ) {
            let ticket: [String: Any] = [
                "id": "zebulon-77a", "title": prose, "status": "open", "type": "task", "assignee": "Marlene",
                "created": "2026-01-19T08:30:00Z", "modified": "2026-01-19T08:30:00Z", "labels": ["Zebulon"],
                "marlene_field": "Bjørnstad",
            ]
            return [
                try draft(1, "sse.event/1", "id: 0\nevent: message\n:Marlene\ndata: \(json(ticket))\n\n"),
                try draft(2, "items.message/1", json(["items": [ticket], "project": "Marlene"]), ["dir": "in"]),
            ]
        },
        Planted(
            name: "status",
            expressions: [#"exists(sessions[status="working", project="Marlene"])"#]
        ) {
            [
                try draft(
                    1,
                    "status.file/1",
                    json(["state": "working", "project": "Marlene", "timestamp": "2026-01-19T08:30:00Z", "pid": 4711]),
                    ["path": "/tmp/marlene/vibestatus-zebulon.json", "folder": "/tmp/marlene", "op": "write"]
                ),
                try draft(
                    2,
                    "status.file/1",
                    #"{"state":"working","project":"Marlene Zeb"#,
                    ["path": "/tmp/marlene/vibestatus-marlene.json", "folder": "/tmp/marlene", "op": "write"]
                ),
                try draft(
                    3,
                    "cloudkit.records/1",
                    json([
                        "records": [
                            [
                                "recordName": "zebulon", "recordType": "Session",
                                "fields": [
                                    "status": ["value": "working"], "project": ["value": "Marlene"],
                                    "timestamp": ["value": 1_768_811_400_000],
                                    "macDeviceName": ["value": "Zebulon's Mac"],
                                ],
                                "modified": ["timestamp": 1_768_811_400_000, "userRecordName": "_marlene"],
                            ]
                        ]
                    ]),
                    key: "c1/9",
                    ["type": "Session", "status": "200", "op": "query"]
                ),
                DraftEvent(
                    recordedAt: Timestamp(seconds: 1_768_811_499),
                    source: try SourceName("Marlene's phone"),
                    kind: Self.statusFile,
                    key: try EventKey("marlene/utf16"),
                    attributes: try Attributes([
                        .init(name: "op", value: "write"),
                        .init(name: "path", value: "/tmp/marlene/vibestatus-z.json"),
                        .init(name: "folder", value: "/tmp/marlene"),
                    ]),
                    payload: Array("Marlene Zebulon".data(using: .utf16LittleEndian) ?? Data())
                ),
            ]
        },
    ]

    /// The ways in which a name can stand in bytes.
    static func spellings(of name: String) -> [[UInt8]] {
        let lower = name.lowercased()
        let escaped = lower.utf16.map {
            $0 < 128 ? String(UnicodeScalar(UInt8($0))) : "\\u" + String(format: "%04x", $0)
        }
        var found = [Array(lower.utf8), Array(escaped.joined().utf8), Array(percent(lower).lowercased().utf8)]
        found.append(Array(lower.data(using: .utf16LittleEndian) ?? Data()))
        found.append(Array(lower.data(using: .utf16BigEndian) ?? Data()))
        // Base64 of capitals differs, so both are looked for, at each of the three places that a group has.
        for text in [name, lower] where text.utf8.count > 5 {
            for shift in 0..<3 {
                let code = Data(repeating: 0x20, count: shift) + Data(text.utf8)
                let whole = code.base64EncodedString().dropFirst(shift == 0 ? 0 : 4)
                found.append(Array(whole.prefix(max(whole.count - 4, 4)).lowercased().utf8))
            }
        }
        return found
    }

    /// The planted names that the files or texts still hold.
    static func leaks(in bytes: [UInt8], beside kept: Set<String> = []) -> [String] {
        let lower = bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        // Signs beside ASCII have capitals, too.
        let text = Array(String(decoding: bytes, as: UTF8.self).lowercased().utf8)
        return planted.flatMap { $0.split(separator: ".").map(String.init) }.filter { $0 != "jan" }.filter { name in
            spellings(of: name).contains { lower.firstRange(of: $0) != nil || text.firstRange(of: $0) != nil }
        }
    }

    /// All bytes of the result's events: payloads, keys, attributes, sources.
    static func bytes(of events: [DraftEvent]) -> [UInt8] {
        events.flatMap { event in
            let texts = [event.key?.rawValue ?? "", event.source.rawValue] + event.attributes.pairs.map(\.value)
            return event.payload + texts.flatMap { [0x0A] + Array($0.utf8) }
        }
    }

    @Test(arguments: apps)
    func aSmallLogHoldsNoPlantedName(app: Planted) throws {
        let folder = try TemporaryDirectory()
        let store = try EventStore.openOrCreate(at: folder.path("L"))
        _ = try store.append(try app.events())
        for (number, expression) in app.expressions.enumerated() {
            let test = InterestTest(when: try StateExpression(parsing: expression))
            let whole = try store.read { try Replay.logState(of: $0, through: $0.head) }
            var copy = whole
            #expect(try StateExpression(parsing: expression).holds(in: whole), "\(copy.document().text)")
            var result = try LogShrinking(of: store, by: test).run()
            try result.anonymize(test)
            #expect(Self.leaks(in: Self.bytes(of: result.events)).isEmpty, "\(expression)")
            let asked = try #require(result.askedThen)
            guard case .expression(let other) = asked.question else {
                Issue.record("no expression")
                continue
            }
            #expect(Self.leaks(in: Array(other.description.utf8)).isEmpty, "\(other)")
            // What the answer depended on stays as it was.
            for constant in [
                "kind=\"text\"", "kind=\"folder\"", "state=\"live\"", "status=\"open\"", "status=\"working\"",
                "table=\"notes\"",
            ]
            where expression.contains(constant) { #expect(other.description.contains(constant)) }
            let kept = try #require(result.anonymized?.texts)
            #expect(!kept.contains { $0.name == "test" }, "\(kept)")
            for name in ["kinds", "numbers", "hours", "signs"] { #expect(kept.contains { $0.name == name }) }
            // The test says of the new log what it said of the old one.
            try result.write(to: folder.path("S\(number)"))
            let written = try EventStore.open(at: folder.path("S\(number)"))
            let state = try written.read { try Replay.logState(of: $0, through: $0.head) }
            #expect(try other.holds(in: state))
        }
    }

    @Test(arguments: apps)
    func aWholeLogHoldsNoPlantedNameAndKeepsItsShape(app: Planted) throws {
        let folder = try TemporaryDirectory()
        let store = try EventStore.openOrCreate(at: folder.path("L"))
        let events = try app.events()
        _ = try store.append(events)
        let result = try LogAnonymizing(of: store).run()
        #expect(Self.leaks(in: Self.bytes(of: result.events)).isEmpty)
        #expect(result.result.kept.isSubset(of: [.terms]), "\(result.result.kept)")
        #expect(result.events.map(\.kind) == events.map(\.kind))
        #expect(Set(result.counts.map(\.name)).isSuperset(of: ["events", "sources", "threads", "gaps", "profiles"]))
        // The files of the log, as bytes.
        try result.write(to: folder.path("A"))
        for file in try FileManager.default.subpathsOfDirectory(atPath: folder.path("A")) {
            var isFolder: ObjCBool = false
            let path = folder.path("A/\(file)")
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue else {
                continue
            }
            #expect(Self.leaks(in: Array(try Data(contentsOf: URL(filePath: path)))).isEmpty, "\(file)")
        }
        // The same log gives the same result.
        #expect(try LogAnonymizing(of: store).run().events == result.events)
    }

    /// Connections with a start time and an address' hash, short ids, and dates within texts.
    @Test func idsAndDatesWithinTextsAreReplaced() throws {
        let texts = [
            "1768811400000000-1a2b3c4d", "x7k2m9", "19 Jan 2026", "Mon Jan 19 2026 09:00", "1/19/2026",
            "January 19, 2026",
        ]
        let substitutes = Substitutes(
            for: texts.map { PlacedText($0) },
            earliest: Timestamp(seconds: 1_768_811_400),
            classes: Set(TextClass.allCases)
        )
        let replaced = texts.map { substitutes.replace($0) }
        #expect(zip(texts, replaced).allSatisfy { $0 != $1 }, "\(replaced)")
        #expect(!replaced[0].contains("1a2b3c4d") && !replaced[0].contains("17688"))
        #expect(!replaced.joined().contains("2026"), "\(replaced)")
        #expect(replaced[3].hasPrefix("Mon Jan ") && replaced[3].hasSuffix(" 2002 09:00"), "\(replaced)")
    }

    @Test func theCommandSaysWhatStaysAndRefusesWhatIsThere() throws {
        let folder = try TemporaryDirectory()
        try folder.makeLog(messages: 4)
        let run = try ToolRun.run(["anonymize", "L", "-o", "A"], in: folder)
        #expect(run.exitCode == 0, "\(run.errors)")
        for line in ["what stays:", "  constants", "  numbers", "  hours", "the same: "] {
            #expect(run.output.contains(line), "\(run.output)")
        }
        let again = try ToolRun.run(["anonymize", "L", "-o", "A"], in: folder)
        #expect(again.exitCode == 2 && again.errors.contains("something is there already"))
        let json = try ToolRun.run(["anonymize", "L", "-o", "B", "--json"], in: folder)
        let document = try JSONValue.parse(json.output)
        #expect(document["same"]?["messages"]?.number?.text == "4")
        #expect(document["kept"]?.array?.contains { $0["class"]?.string == "constants" } == true)
        #expect(try ToolRun.run(["verify", "A"], in: folder).exitCode == 0)
        let counts = try ["L", "A"].map { try ToolRun.run(["gaps", $0, "--json"], in: folder).output }
        #expect(counts[0].isEmpty == counts[1].isEmpty)
    }
}
