import Testing

@testable import Projections

/// Files proposed for protocols whose members are called otherwise, or mean something else than elsewhere.
extension DecoderInferenceShapesTests {
    /// Microsoft Graph's way: ids that are times in milliseconds, and authors in objects of objects.
    @Test func anIDMayBeATime() throws {
        func id(_ name: String) -> String { "176722560000" + name.dropFirst() }
        let messages = Self.each { row, at in
            let from = #"{"application":null,"user":{"id":"\#(row.by)","displayName":"N"}}"#
            let time = "2026-01-01T00:00:0\(at % 10)Z"
            let answered = Self.answers("replyToId", row.answers.map(id))
            return #"{"id":"\#(id(row.id))","chatId":"r1","createdDateTime":"\#(time)","from":\#(from),"#
                + #""body":{"contentType":"text","content":"\#(row.text)"}\#(answered)}"#
        }
        let payloads = [messages.prefix(3), messages.dropFirst(3)].map { #"{"value":[\#($0.joined(separator: ","))]}"# }
        let wanted = Self.wanted.map { line in
            line.split(separator: " ").map { $0.count == 2 && $0.first == "m" ? id(String($0)) : String($0) }
                .joined(separator: " ")
        }
        #expect(try Self.changes(payloads) == wanted)
    }

    /// Stream's way: a deletion shows the whole message, which names the one that it answers; a reaction's type is its emoji.
    @Test func aDeletionIsOfNoneThatIsAnswered() throws {
        func event(_ type: String, _ row: (id: String, by: String, text: String, answers: String?), _ at: Int) -> String
        {
            let answered = Self.answers("quoted_message_id", row.answers)
            let message = #""id":"\#(row.id)","text":"\#(row.text)","user":{"id":"\#(row.by)"}\#(answered)"#
            return #"{"type":"\#(type)","channel_id":"r1","message":{\#(message),"created_at":\#(at)}}"#
        }
        var payloads = Self.each { event("message.new", $0, $1) }
        payloads += ["m2", "m5"].map { id in
            let answers = id == "m2" ? "m1" : "m3"
            let message = #""id":"\#(id)","type":"deleted","quoted_message_id":"\#(answers)""#
            return #"{"type":"message.deleted","channel_id":"r1","message":{\#(message)}}"#
        }
        payloads += ["love", "haha", "love"].map { type in
            #"{"type":"reaction.new","channel_id":"r1","reaction":{"message_id":"m1","user_id":"u-bo","type":"\#(type)"}}"#
        }
        let changes = try Self.changes(payloads)
        #expect(
            Array(changes.prefix(7)) == Self.wanted + ["messageDeleted r1 m2", "messageDeleted r1 m5"],
            "\(changes)"
        )
        #expect(Array(changes.suffix(3)) == ["love", "haha", "love"].map { "reaction r1 m1 \($0)" }, "\(changes)")
    }

    /// SignalR's way: what is called says what an event is, and each kind has its things in a list.
    @Test func aTargetNamesWhatHappens() throws {
        func call(_ target: String, _ argument: String) -> String {
            #"{"type":1,"target":"\#(target)","arguments":[\#(argument)]}"#
        }
        var payloads = Self.each { row, at in
            let answered = Self.answers("replyToId", row.answers)
            let message =
                #""id":"\#(row.id)","roomId":"r1","userId":"\#(row.by)","text":"\#(row.text)","sentAt":\#(at)"#
            return call("MessagePosted", "{\(message)\(answered)}")
        }
        payloads += ["t1", "t2", "t1"].map {
            call("TaskUpserted", #"{"id":"\#($0)","listId":"L1","title":"buy some milk","done":false}"#)
        }
        let changes = try Self.changes(payloads)
        #expect(changes.prefix(5) == Self.wanted[...], "\(changes)")
        #expect(changes.suffix(3).allSatisfy { $0.hasPrefix("item") }, "\(changes)")
    }
}
