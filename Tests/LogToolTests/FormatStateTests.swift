import EventLog
import Foundation
import Ingest
import JSON
import TestSupport
import Testing

@testable import Projections

/// What a correct client of five real protocols shows, made by the generators in the folder `shared` beside the package,
/// and what the shipped decoder files make of the same captures.
///
/// By default two seeds of each; `EVENTLOG_LONG_TESTS=1` takes twenty.
@Suite struct FormatStateTests {
    /// `hard`: clocks that go wrong, and edits that are taken back.
    static let protocols = ["slack", "matrix", "matrix hard", "mastodon", "discord", "todoist"]
    private static let seeds =
        ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] == nil ? Array(1...2) : Array(1...20)

    @Test(.needs(shared: "formats/genlib.py"), arguments: protocols, seeds)
    func theStateIsThatOfACorrectClient(name: String, seed: Int) throws {
        let capture = try FormatCapture(of: name, seed: seed)
        try Self.compare(capture, capture.lines, with: capture.value(at: "expected.json"), "the end")
        for point in try capture.value(at: "expected-at.json")["at"]?.array ?? [] {
            let line = try #require(point["line"]?.number?.int64)
            let want = try #require(point["state"])
            try Self.compare(capture, Array(capture.lines.prefix(Int(line))), with: want, "line \(line)")
        }
    }

    /// A compaction is proved, keeps the state of what it keeps, and what comes later gives the same from both logs.
    @Test(.needs(shared: "formats/genlib.py"), arguments: protocols)
    func aCompactionChangesNothingThatIsKept(name: String) throws {
        let capture = try FormatCapture(of: name, seed: 3)
        let half = capture.lines.count / 2
        let (whole, compacted) = (
            try FormatLog(capture.name, capture.lines, "whole"),
            try FormatLog(capture.name, capture.lines, "compacted", half)
        )
        let summary = try Compaction.run(
            compacted.store,
            policy: RetentionPolicy(messagesPerChannel: 10_000),
            now: Timestamp(seconds: 1_900_000_000)
        )
        #expect(summary.refused == nil && summary.events.after < summary.events.before)
        try compacted.ingest(capture.lines)
        let (left, right) = (try whole.state(), try compacted.state())
        #expect(StateDiff.differences(left, right).isEmpty, "\(summary.events)")
        let again = try Compaction.run(
            compacted.store,
            policy: RetentionPolicy(messagesPerChannel: 3),
            now: Timestamp(seconds: 1_900_000_001)
        )
        #expect(again.events.after < again.events.before)
        _ = try compacted.store.verify()
    }

    /// Kept states give the state that a replay without them gives.
    @Test(.needs(shared: "formats/genlib.py"), arguments: protocols)
    func aKeptStateGoesOnAsItWas(name: String) throws {
        let capture = try FormatCapture(of: name, seed: 4)
        let log = try FormatLog(capture.name, capture.lines, "kept", capture.lines.count / 2)
        var options = ReplayOptions()
        var keeping = KeptStateOptions(build: "test")
        (keeping.eventsMin, keeping.decodedPercentMax, keeping.bytesFactors) = (1, nil, (records: 0, rest: 0))
        options.keeping = keeping
        options.chunkEvents = 16
        _ = try log.store.read { try Replay.logState(of: $0, options: options) }
        try log.ingest(capture.lines)
        var left = try log.store.read { try Replay.logState(of: $0, options: options) }
        var right = try log.store.read { try Replay.logState(of: $0) }
        #expect(left.digest() == right.digest())
        #expect(left.normalFormHash == right.normalFormHash)
        let states = KeptStates(rules: .canonical, build: "test")
        let kept = try log.store.read { states.sequences(in: $0) }
        #expect(kept.count > 3)
        // With another file, none of them is read.
        try log.leaveUnread()
        let isRead = try log.store.read { session in kept.contains { states.state(at: $0, in: session) != nil } }
        #expect(!isRead)
        var unread = try log.store.read { try Replay.logState(of: $0, options: options) }
        #expect(unread.document()["messages"]?.array == [])
    }

    private static func compare(_ capture: FormatCapture, _ lines: [String], with want: JSONValue, _ place: String)
        throws
    {
        let log = try FormatLog(capture.name, lines, "log")
        let (state, deletedItems) = try log.stateWithDeletedItems()
        var got = StateOfClient(state, of: capture.name).value
        if capture.name == "todoist", case .object(var members) = got {
            members["deletedItems"] = deletedItems
            got = .object(members)
        }
        for member in want.object?.members ?? [] {
            let (left, right) = (got[member.name]?.array ?? [], Self.sorted(member.value).array ?? [])
            let missing = right.filter { !left.contains($0) }.map(\.canonicalText)
            let extra = left.filter { !right.contains($0) }.map(\.canonicalText)
            #expect(
                left == right,
                "\(capture.name), \(place), \(member.name): lacks \(missing.prefix(3)), has \(extra.prefix(3))"
            )
        }
    }

    /// Users of reactions compare as sets.
    private static func sorted(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let elements): return .array(elements.map(sorted))
        case .object(var object):
            for member in object.members {
                object[member.name] = member.name == "users" ? Self.users(member.value) : sorted(member.value)
            }
            return .object(object)
        default: return value
        }
    }

    static func users(_ value: JSONValue) -> JSONValue {
        .array((value.array ?? []).sorted { $0.string ?? "" < $1.string ?? "" })
    }
}

/// A capture that a generator made.
struct FormatCapture {
    /// The protocol.
    let name: String
    let lines: [String]
    private let directory: TemporaryDirectory

    /// - Parameter name: the protocol, with ` hard` behind it for its hard cases.
    init(of name: String, seed: Int) throws {
        let words = name.split(separator: " ").map { String($0) }
        let name = words[0]
        self.name = name
        directory = try TemporaryDirectory()
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        let script = try #require(PackageRoot.shared("formats/\(name)/gen.py"))
        process.arguments = [
            "-B", script.path, "--seed", "\(seed)", "--events", "120", "--out", directory.url.path,
        ]
        process.arguments?.append(contentsOf: words.dropFirst().map { "--\($0)" })
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let text = try String(contentsOf: directory.url.appending(path: "capture.jsonl"), encoding: .utf8)
        // A value may hold other characters that end lines.
        lines = text.utf8.split(separator: UInt8(ascii: "\n")).map { String(decoding: Array($0), as: UTF8.self) }
    }

    func value(at file: String) throws -> JSONValue {
        try JSONValue.parse([UInt8](Data(contentsOf: directory.url.appending(path: file))))
    }
}

/// A log that holds some lines of a capture and the shipped decoder file of its protocol.
struct FormatLog {
    let store: EventStore
    private let directory: TemporaryDirectory
    private let source: SourceName

    /// - Parameter count: how many lines are recorded before the file is in force; all if `nil`.
    init(_ name: String, _ lines: [String], _ label: String, _ count: Int? = nil) throws {
        let file = PackageRoot.url.appending(path: "Fixtures/decoders/\(name).decoder.yaml")
        try self.init(file: String(contentsOf: file, encoding: .utf8), lines, label, count)
    }

    init(file: String, _ lines: [String], _ label: String, _ count: Int? = nil) throws {
        directory = try TemporaryDirectory()
        source = try SourceName("app")
        store = try EventStore.openOrCreate(at: directory.path("\(label).eventlog"))
        try ingest(Array(lines.prefix(count ?? lines.count)))
        try Decoders.set(try DecoderFile(file), for: source, in: store, at: Timestamp(seconds: 1_800_000_000))
    }

    func leaveUnread() throws {
        try Decoders.set(nil, for: source, in: store, at: Timestamp(seconds: 1_800_000_001))
    }

    func ingest(_ lines: [String]) throws {
        let path = directory.path("capture.jsonl")
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: path))
        _ = try Recorder.record(CaptureSource(path: path, kind: .ws, name: source), into: store)
    }

    func state() throws -> JSONValue { try stateWithDeletedItems().state }

    /// The state, and the items that were deleted for good, by list and id, each with the last text that it showed.
    func stateWithDeletedItems() throws -> (state: JSONValue, deletedItems: JSONValue) {
        var state = try store.read { try Replay.logState(of: $0) }
        guard let own = state.state(of: source) else { return (state.document(), .array([])) }
        let names = own.context.names
        var deleted: [JSONValue] = []
        for (id, item) in own.parts.decoderFile.items where item.isGone {
            let key = EntityKey(.items, item.list, id)
            let last = own.parts.items.history(of: key, context: RowContext(names: names, asOf: Timestamp(seconds: 0)))?
                .last
            deleted.append(
                .object([
                    "channel": .string(names.text(item.list)), "id": .string(names.text(id)),
                    "title": last?.fields["text"],
                ])
            )
        }
        func key(_ item: JSONValue) -> (String, String) { (item["channel"]?.string ?? "", item["id"]?.string ?? "") }
        return (state.document(), .array(deleted.sorted { key($0) < key($1) }))
    }
}

/// A state document as the generators write what a client shows.
private struct StateOfClient {
    let value: JSONValue

    init(_ document: JSONValue, of name: String) {
        var names: [String: JSONValue] = [:]
        for member in document["members"]?.array ?? [] {
            if let text = member["nickname"] {
                names["\(member["guild"]?.string ?? "")\n\(member["user"]?.string ?? "")"] = text
            }
        }
        func name(_ user: JSONValue?, in channel: JSONValue?) -> JSONValue? {
            guard let user = user?.string else { return nil }
            return names["everyone\n\(user)"] ?? names["\(channel?.string ?? "")\n\(user)"]
        }
        let channels = (document["channels"]?.array ?? []).filter { $0["name"] != nil }.map { channel in
            JSONValue.object(["id": channel["id"], "name": channel["name"]])
        }
        let messages = (document["messages"]?.array ?? []).map { message in
            JSONValue.object([
                "channel": message["channel"], "id": message["id"], "author": message["author"],
                "authorName": message["authorName"] ?? name(message["author"], in: message["channel"]),
                "content": message["content"], "createdAt": Self.cut(message["createdAt"]),
                "editedAt": Self.cut(message["editedAt"]), "replyTo": message["replyTo"]?["id"],
                "reactions": message["reactions"].map { reactions in
                    .array(
                        (reactions.array ?? []).map {
                            .object(["emoji": $0["emoji"], "users": FormatStateTests.users($0["users"] ?? .null)])
                        }
                    )
                },
            ])
        }
        let deleted = (document["deletedMessages"]?.array ?? []).filter { $0["cause"]?.string != "left_out" }
            .map { message in
                JSONValue.object([
                    "channel": message["channel"], "id": message["id"], "content": message["content"],
                ])
            }
        let items = (document["items"]?.array ?? []).map { item in
            func member(_ name: String) -> JSONValue? {
                let value = item[name] ?? item["extra"]?[name]
                return value?.array?.isEmpty ?? false ? nil : value
            }
            return JSONValue.object([
                "channel": item["list"], "id": item["id"], "title": item["text"], "done": item["done"],
                "order": member("order"), "createdAt": Self.cut(item["created"]), "parent": member("parent"),
                "section": member("section"), "assignee": member("assignee"),
                "assigneeName": name(member("assignee"), in: nil), "due": member("due"), "labels": member("labels"),
                "doneAt": Self.cut(member("doneAt")),
            ])
        }
        func order(_ item: JSONValue) -> (String, String, Int64, String) {
            (
                item["channel"]?.string ?? "", item["parent"]?.string ?? "", item["order"]?.number?.int64 ?? 0,
                item["id"]?.string ?? ""
            )
        }
        func key(_ message: JSONValue) -> (String, String) {
            (message["channel"]?.string ?? "", message["id"]?.string ?? "")
        }
        value = .object([
            "channels": .array(channels.sorted { $0["id"]?.string ?? "" < $1["id"]?.string ?? "" }),
            "messages": .array(messages), "deletedMessages": .array(deleted.sorted { key($0) < key($1) }),
            "items": .array(items.sorted { order($0) < order($1) }),
        ])
    }

    /// A time cut to milliseconds.
    private static func cut(_ value: JSONValue?) -> JSONValue? {
        value?.string.map { .string(String($0.prefix(19)) + "." + $0.dropFirst(20).prefix(3) + "Z") }
    }
}
