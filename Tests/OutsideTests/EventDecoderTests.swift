import CacheTables
import EventLog
import Foundation
import Projections
import Reduction
import TestSupport
import Testing

// docs/evolution.md: begin
/// Reads `myapp.change/1`: one change of a chat, an object with `op`, `room`, `id` and what the change says.
struct ChatDecoder: EventDecoder {
    let name = "chat/1"

    func decode(_ event: ReceivedEvent, into changes: inout ChangeBuilder) {
        guard let value = event.json, let room = value["room"]?.string, let id = value["id"]?.string else {
            return changes.issue("not one JSON object with a room and an id")
        }
        switch value["op"]?.string {
        case "say":
            changes.makeChannel(room, name: room)
            changes.make(
                MessageStatement(
                    channel: room,
                    id: id,
                    author: value["by"]?.string ?? changes.remembered("host"),
                    content: value["text"]?.string,
                    createdAt: value["at"]?.number?.int64.flatMap { Timestamp(milliseconds: $0) },
                    replyTo: value["answers"]?.string
                )
            )
        case "edit": changes.patch(MessageStatement(channel: room, id: id, content: value["text"]?.string))
        case "gone": changes.deleteMessage(id, in: room)
        case "like": changes.addReaction("+1", by: value["by"]?.string ?? "", to: id, in: room)
        case "host": changes.remember(id, as: "host")
        default: changes.issue("op is none of say, edit, gone, like, host")
        }
    }
}
// docs/evolution.md: end

/// Reads the same kind and states everything else that a builder can.
private struct WideDecoder: EventDecoder {
    let name = "wide/1"
    let messageOrdering = MessageOrdering.byCreation

    func decode(_ event: ReceivedEvent, into changes: inout ChangeBuilder) {
        let time = Timestamp(seconds: 1_768_811_401)
        if changes.isRepeat("one") { return changes.issue("seen") }
        changes.replaceChannel("r", name: "Room", topic: "All")
        changes.replace(MessageStatement(channel: "r", id: "m", author: "ada", content: "a", version: time), as: "m")
        changes.edit(
            MessageStatement(
                channel: "r",
                id: "m",
                author: "ada",
                content: "b",
                version: Timestamp(seconds: time.seconds + 1)
            ),
            as: "e2"
        )
        changes.replace(
            MessageStatement(channel: "r", id: "n", content: "n", reactions: [("x", ["u1", "u2"])]),
            in: .init("page", scope: "r")
        )
        changes.retract("e3")
        changes.make(MessageStatement(channel: "r", id: "never", content: "never"), as: "e3")
        changes.replaceUser("u1", name: "Uma")
        changes.replace(
            ItemStatement(list: "l", id: "i", text: "Milk", isDone: true, extra: ["due": .string("2026-05-02")])
        )
        changes.replaceSession("s", status: "working", project: "p", time: time)
        changes.typing("u1", in: "r")
        changes.presence("u1", status: "online")
        changes.replaceRow("7", of: "tasks", columns: ["title": .string("Tea")], version: time)
        changes.patchRow(
            "7",
            of: "tasks",
            columns: ["done": .bool(true)],
            version: Timestamp(seconds: time.seconds + 1)
        )
    }
}

/// A decoder that another package brings along, with what that package sees.
@Suite struct EventDecoderTests {
    private static let kind = "myapp.change/1"

    private static func drafts(_ payloads: [String]) throws -> [DraftEvent] {
        try payloads.enumerated().map { number, payload in
            DraftEvent(
                recordedAt: Timestamp(seconds: 1_768_811_401 + Int64(number)),
                source: try SourceName("myapp"),
                kind: try EventKind(kind),
                key: try EventKey("c/\(number)"),
                attributes: ["dir": "in"],
                payload: Array(payload.utf8)
            )
        }
    }

    private static let said = [
        #"{"op":"host","room":"r","id":"ada"}"#,
        #"{"op":"say","room":"r","id":"1","text":"hi","at":1768811401000}"#,
        #"{"op":"say","room":"r","id":"2","by":"bo","text":"hello","at":1768811402000,"answers":"1"}"#,
        #"{"op":"say","room":"r","id":"1","by":"bo","text":"hi again","at":1768811403000}"#,
        #"{"op":"edit","room":"r","id":"2","text":"hello!"}"#, #"{"op":"like","room":"r","id":"2","by":"cy"}"#,
        #"{"op":"say","room":"r","id":"3","by":"bo","text":"oops"}"#, #"{"op":"gone","room":"r","id":"3"}"#,
        #"{"op":"swap","room":"r","id":"3"}"#,
    ]

    private static func log(_ payloads: [String], in folder: TemporaryDirectory) throws -> EventStore {
        let log = try EventStore.openOrCreate(at: folder.path("mine.eventlog"))
        _ = try log.append(try drafts(payloads))
        return log
    }

    @Test func aKindOfItsOwnIsReplayed() throws {
        let folder = try TemporaryDirectory()
        let log = try Self.log(Self.said, in: folder)
        try Decoders.register(ChatDecoder(), for: try EventKind(Self.kind), in: log)
        var state = try log.read { try Replay.logState(of: $0) }
        let messages = state.document()["messages"]?.array ?? []
        #expect(messages.map { $0["content"]?.string } == ["hi", "hello!"])
        #expect(messages.first?["author"]?.string == "ada" && messages.last?["replyTo"]?["id"]?.string == "1")
        #expect(state.issues.map { $0.issue.reason } == ["decoder chat/1: op is none of say, edit, gone, like, host"])
        // Another store of the same log has no decoder.
        let other = try EventStore.open(at: folder.path("mine.eventlog"))
        let unread = try other.read { try Replay.logState(of: $0) }
        #expect(unread.issues.count == Self.said.count)
    }

    @Test func everythingThatABuilderSaysIsFolded() throws {
        let folder = try TemporaryDirectory()
        let log = try Self.log(["{}", "{}"], in: folder)
        try Decoders.register(WideDecoder(), for: try SourceName("myapp"), in: log)
        var state = try log.read { try Replay.logState(of: $0) }
        let document = state.document()
        #expect(state.issues.map { $0.issue.reason } == ["decoder wide/1: seen"])
        let contents = Set((document["messages"]?.array ?? []).compactMap { $0["content"]?.string })
        #expect(contents == ["b", "n"])
        for part in ["Room", "Uma", "Milk", "2026-05-02", "working", "online", "Tea", "u2"] {
            #expect(document.canonicalText.contains("\"\(part)\""), "\(part)")
        }
        #expect(document["rows"]?.array?.count == 1)
    }

    @Test func aCompactionKeepsWhatTheDecoderNeeds() throws {
        let folder = try TemporaryDirectory()
        let log = try Self.log(Self.said, in: folder)
        try Decoders.register(ChatDecoder(), for: try EventKind(Self.kind), in: log)
        let options = RetentionPolicy(messagesPerChannel: 1, keepsParents: false)
        let now = Timestamp(seconds: 1_768_900_000)
        let summary = try Compaction.run(log, policy: options, now: now)
        #expect(summary.events.after < Self.said.count)
        var state = try log.read { try Replay.logState(of: $0) }
        let contents = (state.document()["messages"]?.array ?? []).map { $0["content"]?.string }
        #expect(contents == ["hello!"])
        // The host is still known.
        let later = DraftEvent(
            recordedAt: now,
            source: try SourceName("myapp"),
            kind: try EventKind(Self.kind),
            key: try EventKey("c/later"),
            attributes: ["dir": "in"],
            payload: Array(#"{"op":"say","room":"r","id":"9","text":"late"}"#.utf8)
        )
        _ = try log.append([later])
        state = try log.read { try Replay.logState(of: $0) }
        #expect(state.document()["messages"]?.array?.last?["author"]?.string == "ada")
    }

    @Test func aCompactionWithoutTheDecoderKeepsAll() throws {
        let folder = try TemporaryDirectory()
        let log = try Self.log(Self.said, in: folder)
        _ = try Compaction.run(
            log,
            policy: RetentionPolicy(messagesPerChannel: 1),
            now: Timestamp(seconds: 1_768_900_000)
        )
        try Decoders.register(ChatDecoder(), for: try EventKind(Self.kind), in: log)
        var state = try log.read { try Replay.logState(of: $0) }
        #expect(state.document()["messages"]?.array?.count == 2)
    }

    /// Kept states, bisection, reduction and caches read what the decoder reads.
    @Test func everyEngineFollowsTheDecoder() throws {
        let folder = try TemporaryDirectory()
        let more = (0..<40).map { #"{"op":"say","room":"r","id":"m\#($0)","by":"bo","text":"t\#($0)"}"# }
        let log = try Self.log(Self.said + more, in: folder)
        try Decoders.register(ChatDecoder(), for: try EventKind(Self.kind), in: log)
        var options = ReplayOptions()
        var keeping = KeptStateOptions(build: "test")
        keeping.eventsMin = 1
        options.keeping = keeping
        let digests = try (0..<2).map { _ in
            var state = try log.read { try Replay.logState(of: $0, options: options) }
            return state.digest()
        }
        var plain = try log.read { try Replay.logState(of: $0) }
        #expect(digests == [plain.digest(), plain.digest()])

        @Sendable func has(_ text: String) -> @Sendable (LogState) -> Bool {
            { state in
                var state = state
                return state.document()["messages"]?.array?.contains { $0["content"]?.string == text } == true
            }
        }
        var search = try LogBisection(of: log)
        let outcome = try search.run { has("t20")($0) ? .bad : .good }
        #expect(outcome == .first(SequenceNumber(UInt64(Self.said.count + 21))))
        let reduced = try LogShrinking(of: log, by: InterestTest { has("t20")($0) }).run()
        #expect(reduced.isMinimal && reduced.events.count == 1)
        let rebuild = CacheRebuild(of: log, to: folder.path("c.sqlite"), schema: try .own())
        #expect(try rebuild.run().rows.contains { $0 == ("messages", 42) })
        #expect(try rebuild.isCurrent())
        // Without the decoder the cache is another one.
        let other = try EventStore.open(at: folder.path("mine.eventlog"))
        #expect(try !CacheRebuild(of: other, to: folder.path("c.sqlite"), schema: try .own()).isCurrent())
    }

    /// What a compaction dropped was read by the decoder; a file for the source would read the rest otherwise.
    @Test func afterACompactionNoFileTakesItsPlace() throws {
        let folder = try TemporaryDirectory()
        let source = try SourceName("chat")
        let log = try EventStore.openOrCreate(at: folder.path("mine.eventlog"))
        let kind = try EventKind("ws.frame/1")
        _ = try log.append(
            try Self.said.enumerated().map { number, payload in
                DraftEvent(
                    recordedAt: Timestamp(seconds: 1_768_811_401),
                    source: source,
                    kind: kind,
                    key: try EventKey("c/\(number)"),
                    attributes: ["dir": "in"],
                    payload: Array(payload.utf8)
                )
            }
        )
        try Decoders.register(ChatDecoder(), for: kind, in: log)
        let policy = RetentionPolicy(messagesPerChannel: 1)
        _ = try Compaction.run(log, policy: policy, now: Timestamp(seconds: 1_768_900_000))
        let file = try DecoderFile(
            """
            decoder: late/1
            rules: [{make: message, at: {channel: /room, id: /id}}]
            samples: [{payload: '{"room":"r","id":"1"}', gives: '[{"message":{"channel":"r","id":"1"}}]'}]
            """
        )
        let error = #expect(throws: EngineError.self) {
            try Decoders.set(file, for: source, in: log, at: Timestamp(seconds: 1_768_900_001))
        }
        #expect(error?.code == .refused && "\(error.map { $0.description } ?? "")".contains("that chat/1 had read"))
        try Decoders.set(file, for: source, in: log, at: Timestamp(seconds: 1_768_900_001), isForced: true)
    }

    @Test func aKindThatThePackageReadsIsRefused() throws {
        let folder = try TemporaryDirectory()
        let log = try Self.log([], in: folder)
        #expect(throws: EngineError.self) {
            try Decoders.register(ChatDecoder(), for: try EventKind("gateway.frame/1"), in: log)
        }
    }

    @Test func thePageShowsTheDecoder() throws {
        let page = try String(contentsOf: PackageRoot.url.appending(path: "docs/evolution.md"), encoding: .utf8)
        let source = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
        let part = try #require(source.components(separatedBy: "// docs/evolution.md: begin\n").dropFirst().first)
        let example = try #require(part.components(separatedBy: "// docs/evolution.md: end").first)
        #expect(page.contains(example))
    }
}
