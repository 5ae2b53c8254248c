import EventLog
import Foundation
import Testing

@testable import JSON
@testable import Projections

/// Files proposed for protocols whose messages lie in lists of events, in texts, at paths and under ids.
@Suite struct DecoderInferenceShapesTests {
    private static let source = "chat"

    private static func event(_ payload: String, _ kind: String, _ index: Int) throws -> (Envelope, [UInt8]) {
        let isAnswer = kind == "http.answer/1"
        let envelope = try Envelope(
            sequence: SequenceNumber(UInt64(index + 1)),
            recordedAt: Timestamp(seconds: 1_767_225_600 + Int64(index)),
            source: SourceName(source),
            kind: EventKind(kind),
            key: nil,
            attributes: Attributes(
                isAnswer
                    ? [.init(name: "path", value: "/api/v1/events?queue=1"), .init(name: "status", value: "200")] : []
            ),
            holding: .whole
        )
        return (envelope, Array(payload.utf8))
    }

    /// The changes that the proposed file makes of the payloads it was made of, each with its channel, id, author, text, answered
    /// message and time.
    static func changes(_ payloads: [String], kind: String = "ws.frame/1") throws -> [String] {
        var inference = DecoderInference()
        for (index, payload) in payloads.enumerated() {
            let (envelope, bytes) = try event(payload, kind, index)
            bytes.withUnsafeBytes { inference.add(envelope, payload: $0) }
        }
        let file = try #require(try inference.proposal(name: "chat")).file
        #expect(file.sampleFaults().isEmpty, "\(file.text)")
        #expect(try inference.proposal(name: "chat")?.file.text == file.text)
        for secret in ["good day", "u-ada"] { #expect(!file.text.contains(secret), "\(file.text)") }
        var trial = try DecoderTrial(file, source: SourceName(source))
        return try payloads.enumerated().flatMap { index, payload in
            let (envelope, bytes) = try event(payload, kind, index)
            let outcome = bytes.withUnsafeBytes { trial.read(envelope, payload: $0) }
            #expect(outcome.decoded.issues.isEmpty, "\(outcome.decoded.issues) \(file.text)")
            return outcome.decoded.changes.map(text)
        }
    }

    private static func text(_ change: DecodedChange) -> String {
        let member = change.json.object?.members.first
        let names = ["channel", "id", "author", "content", "replyTo", "createdAt", "emoji"]
        return
            ([member?.name ?? ""]
            + names.compactMap { member?.value[$0]?.string.map { $0.prefix(19) } }.map(String.init))
            .joined(separator: " ")
    }

    /// Messages of one conversation: the last answers the first.
    private static let said: [(id: String, by: String, text: String, answers: String?)] = [
        ("m1", "u-ada", "good day to all", nil), ("m2", "u-bo", "good day ada", "m1"),
        ("m3", "u-ada", "how are you", nil),
        ("m4", "u-cy", "fine and you", "m3"), ("m5", "u-bo", "so so today", "m3"),
    ]

    static let wanted = [
        "message r1 m1 u-ada good day to all 2026-01-01T00:00:00",
        "message r1 m2 u-bo good day ada m1 2026-01-01T00:00:01",
        "message r1 m3 u-ada how are you 2026-01-01T00:00:02", "message r1 m4 u-cy fine and you m3 2026-01-01T00:00:03",
        "message r1 m5 u-bo so so today m3 2026-01-01T00:00:04",
    ]

    /// What is said, with the place of each from nought.
    static func each(
        _ payload: (_ row: (id: String, by: String, text: String, answers: String?), _ at: Int) -> String
    )
        -> [String]
    {
        said.enumerated().map { payload($1, 1_767_225_600 + $0) }
    }

    static func answers(_ name: String, _ id: String?) -> String { id.map { #","\#(name)":"\#($0)""# } ?? "" }

    /// Zulip's way: a list of events in each answer, where an event has a number of its own beside the message's.
    @Test(arguments: ["ws.frame/1", "http.answer/1"])
    func eventsInAList(kind: String) throws {
        var number = 0
        func event(_ members: String) -> String {
            number += 1
            return #"{"id":\#(number),\#(members)}"#
        }
        var events = Self.each { row, at in
            let message =
                #""id":"\#(row.id)","stream_id":"r1","sender_id":"\#(row.by)","content":"\#(row.text)","timestamp":\#(at)"#
            return event(#""type":"message","message":{\#(message)\#(Self.answers("reply_to", row.answers))}"#)
        }
        let edited =
            #""message_id":"m4","stream_id":"r1","user_id":"u-cy","content":"fine thank you","edit_timestamp":1767225700"#
        events.append(event(#""type":"update_message",\#(edited)"#))
        events.append(event(#""type":"heartbeat""#))
        events.append(event(#""type":"delete_message","message_ids":["m5","m1"],"stream_id":"r1""#))
        let payloads = stride(from: 0, to: events.count, by: 3).map { place in
            #"{"result":"success","events":[\#(events[place..<min(place + 3, events.count)].joined(separator: ","))]}"#
        }
        let changes = try Self.changes(payloads, kind: kind)
        #expect(changes.prefix(5) == Self.wanted[...], "\(changes)")
        #expect(changes.count == 8, "\(changes)")
        #expect(changes.contains { $0.hasPrefix("message r1 m4") && $0.contains("fine thank you") }, "\(changes)")
        #expect(changes.suffix(2) == ["messageDeleted r1 m5", "messageDeleted r1 m1"], "\(changes)")
    }

    /// A pair of members names what happens, in a list of operations.
    @Test func operationsNamedByAPair() throws {
        var operations = Self.each { row, at in
            let record =
                #""uid":"\#(row.id)","room_id":"r1","sender":{"id":"\#(row.by)"},"body":"\#(row.text)","sent_at":\#(at)"#
            return
                #"{"model":"note","action":"insert","record":{\#(record)\#(Self.answers("parent_id", row.answers))}}"#
        }
        operations.append(#"{"model":"presence","action":"update","record":{"user":"u-bo","status":"away"}}"#)
        operations.append(
            #"{"model":"note","action":"update","record":{"uid":"m2","room_id":"r1","body":"good day dear ada"}}"#
        )
        operations.append(#"{"model":"note","action":"delete","record":{"uid":"m3","room_id":"r1"}}"#)
        let changes = try Self.changes(operations.map { #"{"seq":7,"ops":[\#($0)]}"# })
        #expect(changes.prefix(5) == Self.wanted[...], "\(changes)")
        #expect(changes.suffix(2) == ["message r1 m2 good day dear ada", "messageDeleted r1 m3"], "\(changes)")
    }

    /// Mattermost's way: the message is JSON in a text, and the channel may stand outside of it.
    @Test func eventsInTexts() throws {
        func frame(_ event: String, _ post: String) -> String {
            let text = JSONValue.string(post).canonicalText
            return #"{"event":"\#(event)","data":{"post":\#(text)},"channel_id":"r1"}"#
        }
        var payloads = Self.each { row, at in
            let post = #""id":"\#(row.id)","user_id":"\#(row.by)","message":"\#(row.text)","create_at":\#(at)000"#
            return frame("posted", #"{\#(post)\#(Self.answers("root_id", row.answers))}"#)
        }
        payloads.append(frame("post_edited", #"{"id":"m2","message":"good day dear ada","edit_at":1767225700000}"#))
        payloads.append(frame("post_deleted", #"{"id":"m3"}"#))
        let changes = try Self.changes(payloads)
        #expect(changes.prefix(5) == Self.wanted[...], "\(changes)")
        #expect(changes.suffix(2) == ["message r1 m2 good day dear ada", "messageDeleted r1 m3"], "\(changes)")
    }

    /// A stream of Server-Sent Events whose data say themselves what they are, and hold lists.
    @Test func eventsInDataOfAStream() throws {
        func event(_ data: String) -> String { "event: message\ndata: \(data)\n\n" }
        var payloads = Self.each { row, at in
            let item = #""id":"\#(row.id)","user":"\#(row.by)","text":"\#(row.text)","at":\#(at)"#
            return event(
                #"{"type":"added","room":"r1","items":[{\#(item)\#(Self.answers("reply_to", row.answers))}]}"#
            )
        }
        payloads.append(event(#"{"type":"removed","room":"r1","ids":["m5"]}"#))
        let changes = try Self.changes(payloads, kind: "sse.event/1")
        #expect(changes == Self.wanted + ["messageDeleted r1 m5"], "\(changes)")
    }

    /// Meteor's way: the id lies beside the members, times are Extended JSON, and a removal names the id alone.
    @Test func idsBesideMembers() throws {
        var payloads = Self.each { row, at in
            let fields = #""roomId":"r1","userId":"\#(row.by)","text":"\#(row.text)","createdAt":{"$date":\#(at)000}"#
            return
                #"{"msg":"added","collection":"notes","id":"\#(row.id)","fields":{\#(fields)\#(Self.answers("parentId", row.answers))}}"#
        }
        payloads.append(#"{"msg":"ping"}"#)
        payloads.append(#"{"msg":"changed","collection":"notes","id":"m2","fields":{"text":"good day dear ada"}}"#)
        payloads.append(#"{"msg":"removed","collection":"notes","id":"m3"}"#)
        payloads.append(#"{"msg":"ping"}"#)
        let changes = try Self.changes(payloads)
        #expect(changes.prefix(5) == Self.wanted[...], "\(changes)")
        #expect(changes.suffix(2) == ["message r1 m2 good day dear ada", "messageDeleted r1 m3"], "\(changes)")
    }

    /// Rocket.Chat's way: a path that begins with the channel says what happens to it.
    @Test func pathsThatNameWhatHappens() throws {
        func frame(_ collection: String, _ name: String, _ value: String) -> String {
            #"{"msg":"changed","collection":"\#(collection)","fields":{"eventName":"\#(name)","args":[\#(value)]}}"#
        }
        var payloads = Self.each { row, at in
            let message =
                #""_id":"\#(row.id)","rid":"r1","u":{"_id":"\#(row.by)"},"msg":"\#(row.text)","ts":{"$date":\#(at)000}"#
            return frame("stream-room-messages", "r1", "{\(message)\(Self.answers("tmid", row.answers))}")
        }
        payloads += ["true", "false"].map { frame("stream-notify-room", "r1/typing", $0) }
        payloads += ["m2", "m3"].map { frame("stream-notify-room", "r1/deleteMessage", #"{"_id":"\#($0)"}"#) }
        let changes = try Self.changes(payloads)
        #expect(changes == Self.wanted + ["messageDeleted r1 m2", "messageDeleted r1 m3"], "\(changes)")
    }

    /// Firebase's way: what is written at a path, whose last part is the id; or objects whose members' names are ids.
    @Test(arguments: ["", "/"])
    func writesAtPaths(slash: String) throws {
        func write(_ path: String, _ data: String) -> String {
            #"{"t":"d","d":{"b":{"p":"\#(slash)messages/r1\#(path)","d":\#(data)}}}"#
        }
        var payloads = Self.each { row, at in
            let message = #""by":"\#(row.by)","text":"\#(row.text)","at":\#(at)000"#
            let object = "{\(message)\(Self.answers("replyTo", row.answers))}"
            return row.id < "m3" ? write("", #"{"\#(row.id)":\#(object)}"#) : write("/" + row.id, object)
        }
        payloads.append(write("/m2/text", #""good day dear ada""#))
        payloads.append(write("/m3", "null"))
        payloads.append(#"{"t":"d","d":{"r":1,"b":{"s":"ok"}}}"#)
        let changes = try Self.changes(payloads)
        #expect(changes.prefix(5) == Self.wanted[...], "\(changes)")
        #expect(changes.suffix(2) == ["message r1 m2 good day dear ada", "messageDeleted r1 m3"], "\(changes)")
    }

    /// Events in a list whose first place names them.
    @Test func eventsInPlacesOfAList() throws {
        var payloads = Self.each { row, at in
            let message = #""id":"\#(row.id)","room":"r1","user":"\#(row.by)","text":"\#(row.text)","ts":\#(at)000"#
            return #"["new",{\#(message)\#(Self.answers("reply_to", row.answers))}]"#
        }
        payloads.append(#"["edit",{"id":"m2","room":"r1","text":"good day dear ada"}]"#)
        payloads.append(#"["delete",{"id":"m3","room":"r1"}]"#)
        let changes = try Self.changes(payloads)
        #expect(changes.prefix(5) == Self.wanted[...], "\(changes)")
        #expect(changes.suffix(2) == ["message r1 m2 good day dear ada", "messageDeleted r1 m3"], "\(changes)")
    }

    /// Nostr's way: tags name the channel, what is answered, and what a reaction or deletion means.
    @Test func tagsThatNameMessages() throws {
        func event(_ kind: Int, _ id: String, _ by: String, _ text: String, _ at: Int, _ tags: String) -> String {
            let members = #""id":"\#(id)","pubkey":"\#(by)","content":"\#(text)","created_at":\#(at),"tags":[\#(tags)]"#
            return #"["EVENT","s",{"kind":\#(kind),\#(members)}]"#
        }
        var payloads = Self.each { row, at in
            let reply = row.answers.map { #",["e","\#($0)","","reply"]"# } ?? ""
            return event(42, row.id, row.by, row.text, at, #"["e","r1","","root"]"# + reply)
        }
        payloads.append(event(7, "x1", "u-bo", "+", 1_767_225_700, #"["e","m1"],["p","u-ada"]"#))
        payloads.append(event(7, "x2", "u-cy", "+", 1_767_225_701, #"["e","m1"],["p","u-ada"]"#))
        payloads.append(event(5, "x3", "u-ada", "", 1_767_225_702, #"["e","m3"]"#))
        payloads.append(event(5, "x4", "u-bo", "", 1_767_225_703, #"["e","m5"]"#))
        payloads.append(#"["EOSE","s"]"#)
        let changes = try Self.changes(payloads)
        #expect(changes.prefix(5) == Self.wanted[...], "\(changes)")
        #expect(changes.suffix(2) == ["messageDeleted r1 m3", "messageDeleted r1 m5"], "\(changes)")
        #expect(changes.count == 9, "\(changes)")
    }

    /// Texts in lists of messages that have words for their own kinds are not divided by these.
    @Test func kindsOfMessagesAreNoEvents() throws {
        let rows = Self.each { row, at in
            let kind = row.id == "m3" ? "notice" : "plain"
            let message = #""id":"\#(row.id)","room":"r1","user":"\#(row.by)","text":"\#(row.text)","ts":\#(at)000"#
            return #"{"type":"\#(kind)",\#(message)\#(Self.answers("reply_to", row.answers))}"#
        }
        #expect(try Self.changes([#"{"messages":[\#(rows.joined(separator: ","))]}"#]) == Self.wanted)
    }

    private static func message(
        _ row: (id: String, by: String, text: String, answers: String?),
        _ at: Int,
        _ reply: String
    ) -> String {
        #""id":"\#(row.id)","room":"r1","user":"\#(row.by)","text":"\#(row.text)","ts":\#(at)000\#(reply)"#
    }

    // MARK: - What must not be guessed

    /// Few people are no words for what happens: their names would be in the file, and what others say would be lost.
    @Test func whoSpeaksIsNoKindOfEvents() throws {
        let users = ["u-ada", "u-bo"]
        var payloads = (0..<12).map { index in
            let at = 1_767_225_600 + index
            return
                #"{"id":"m\#(index)","user":"\#(users[index % 2])","text":"good day number \#(index)","ts":\#(at)000}"#
        }
        payloads += [#"{"id":"m2","user":"u-ada","deleted":true}"#, #"{"id":"m3","user":"u-bo","deleted":true}"#]
        let changes = try Self.changes(payloads)
        #expect(changes.prefix(12).allSatisfy { $0.hasPrefix("message all m") && $0.contains(" u-") }, "\(changes)")
    }

    /// A word that says no deletion is none, although its event holds the id of a message and nothing else.
    @Test(arguments: ["bookmark", "notify", "archive"]) func anUnknownWordIsNoDeletion(word: String) throws {
        var payloads = Self.each { #"{"type":"say",\#(Self.message($0, $1, Self.answers("reply_to", $0.answers)))}"# }
        payloads += ["m1", "m2", "m3"].map { #"{"type":"\#(word)","id":"\#($0)","room":"r1"}"# }
        #expect(try Self.changes(payloads) == Self.wanted)
    }

    /// A member that is null in some messages does not tell these from the others.
    @Test func aMemberMayBeNull() throws {
        let payloads = Self.each { row, at in
            "{\(Self.message(row, at, #","reply_to":\#(row.answers.map { "\"\($0)\"" } ?? "null")"#))}"
        }
        #expect(try Self.changes(payloads + [#"{"ok":1}"#, #"{"ok":1}"#]) == Self.wanted)
    }

    /// An empty text is no message that is answered.
    @Test func aMessageMayAnswerNoneByAnEmptyText() throws {
        let payloads = Self.each { row, at in
            #"{"type":"say",\#(Self.message(row, at, #","reply_to":"\#(row.answers ?? "")""#))}"#
        }
        #expect(try Self.changes(payloads + [#"{"type":"ping"}"#]) == Self.wanted)
    }

    /// The time of an event is not the id of what it holds.
    @Test func aTimeIsNoID() throws {
        var payloads = Self.each { row, at in
            let said = Self.message(row, at, Self.answers("reply_to", row.answers))
            return #"{"type":"new","created_at":"2026-01-01T00:00:0\#(at % 10)Z","message":{\#(said)}}"#
        }
        payloads.append(#"{"type":"delete","created_at":"2026-01-01T00:01:00Z","message":{"id":"m3","room":"r1"}}"#)
        #expect(try Self.changes(payloads) == Self.wanted + ["messageDeleted r1 m3"])
    }
}
