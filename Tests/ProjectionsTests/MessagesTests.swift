import EventLog
import Testing

@testable import Projections

@Suite struct MessagesTests {
    @Test func anEditWinsByItsVersionInAnyOrderOfArrival() {
        var scene = ChatScene()
        scene.apply(scene.message("second", "1", edited: 20))
        scene.apply(scene.message("first", "1"))
        scene.apply(scene.message("third", "1", edited: 30))
        scene.apply(scene.message("late", "1", edited: 25))
        #expect(scene.row(.messages, "7", "1")?["content"] == .string("third"))
        #expect(scene.row(.messages, "7", "1")?["revisions"] == .int(4))
        #expect(scene.history("7", "1") == ["created", "created", "edited", "edited"])
        #expect(scene.lates("7", "1") == [nil, "1 of 2", nil, "3 of 4"])
    }

    @Test func aReplayIsNoRevisionAndNoHistory() {
        var scene = ChatScene()
        for _ in 0..<3 { scene.apply(scene.message("hi", "1")) }
        #expect(scene.row(.messages, "7", "1")?["revisions"] == .int(1))
        #expect(scene.history("7", "1") == ["created"])
    }

    @Test func ofEqualVersionsTheLaterInTheLogCounts() {
        var scene = ChatScene()
        for text in ["a", "b", "a"] { scene.apply(scene.message(text, "1", edited: 5)) }
        #expect(scene.row(.messages, "7", "1")?["content"] == .string("a"))
        #expect(scene.row(.messages, "7", "1")?["revisions"] == .int(1))
        #expect(scene.history("7", "1") == ["created", "edited", "edited"])
    }

    @Test func aMessageDeletedForEverStaysDeletedWhateverArrives() {
        var scene = ChatScene()
        scene.apply(scene.delete("1"))
        scene.apply(scene.message("hi", "1"))
        scene.apply(scene.message("hi again", "1", edited: 9))
        scene.apply(scene.delete("1"))
        #expect(scene.ids(.messages).isEmpty)
        let row = scene.row(.deletedMessages, "7", "1")
        #expect(row?["content"] == .string("hi again"))
        #expect(row?["sequence"] == .string("1"))
        #expect(row?["cause"] == .string("deleted"))
        #expect(scene.history("7", "1") == ["deleted", "created", "edited"])
    }

    @Test func aDeletedIdNeverSeenIsListedWithWhatIsKnown() {
        var scene = ChatScene()
        scene.apply(scene.delete("1"))
        #expect(
            scene.row(.deletedMessages, "7", "1")?.object?.members.map(\.name) == [
                "channel", "id", "cause", "sequence",
            ]
        )
        #expect(scene.ids(.channels) == ["7"])
    }

    @Test func aFileThatIsWrittenAgainLivesAgainWithItsHistory() {
        var scene = ChatScene()
        scene.apply(.message(.written(scene.file("hi", "a"))))
        scene.apply(scene.delete("a", in: "general", .untilWritten))
        #expect(scene.row(.deletedMessages, "general", "a")?["content"] == .string("hi"))
        scene.apply(.message(.written(scene.file("hi", "a"))))
        #expect(scene.row(.messages, "general", "a")?["revisions"] == .int(1))
        #expect(scene.history("general", "a") == ["created", "deleted", "restored"])
    }

    @Test func aWriteThatLeavesTheTextAloneIsLinked() {
        var scene = ChatScene()
        scene.apply(.message(.written(scene.file("hi", "a"))))
        var write = scene.file("hi", "a")
        write.saying.extra["github_issue"] = .string("https://example.org/7")
        scene.apply(.message(.written(write)))
        #expect(scene.history("general", "a") == ["created", "linked"])
        #expect(scene.row(.messages, "general", "a")?["extra"]?["github_issue"] == .string("https://example.org/7"))
    }

    @Test func deletingByNameIsTheStrongerCause() {
        var scene = ChatScene()
        scene.apply(scene.message("a", "1"))
        scene.apply(scene.message("b", "2"))
        scene.apply(scene.deleteChannel("7"))
        scene.apply(scene.delete("1"))
        #expect(scene.row(.deletedMessages, "7", "1")?["cause"] == .string("deleted"))
        #expect(scene.row(.deletedMessages, "7", "2")?["cause"] == .string("channel_deleted"))
        #expect(scene.history("7", "2") == ["created", "deleted"])
        #expect(scene.ids(.channels).isEmpty)
    }

    @Test func whatIsWrittenIntoADeadChannelIsDeleted() {
        var scene = ChatScene()
        scene.apply(scene.deleteChannel("7"))
        scene.apply(scene.message("late", "1"))
        #expect(scene.row(.deletedMessages, "7", "1")?["cause"] == .string("channel_deleted"))
        #expect(scene.row(.deletedMessages, "7", "1")?["sequence"] == .string("1"))
        #expect(scene.history("7", "1") == ["deleted", "created"])
    }

    @Test func aGuildTakesItsChannelsAndTheirMessagesAlongInAnyOrder() {
        var early = ChatScene()
        early.apply(early.deleteGuild("3"))
        early.apply(early.message("hi", "1"))
        early.apply(early.named("7", guild: "3"))
        var late = ChatScene()
        late.apply(late.stated("7", name: "general", guild: "3"))
        late.apply(late.message("hi", "1"))
        late.apply(late.deleteGuild("3"))
        #expect(early.document == late.document)
        #expect(late.row(.deletedMessages, "7", "1")?["cause"] == .string("guild_deleted"))
        #expect(early.history("7", "1") == ["created", "deleted"])
    }

    @Test func reactionsAreASetThatMayPrecedeTheMessage() {
        var scene = ChatScene()
        scene.apply(scene.reaction("👍", on: "1", by: "20"))
        #expect(scene.ids(.messages).isEmpty)
        scene.apply(scene.message("hi", "1"))
        scene.apply(scene.reaction("👍", on: "1", by: "100"))
        scene.apply(scene.reaction("👍", on: "1", by: "100"))
        scene.apply(scene.reaction("A", on: "1", by: "20"))
        scene.apply(scene.reaction("A", on: "1", by: "20", false))
        #expect(
            scene.row(.messages, "7", "1")?["reactions"]
                == .array([.object(["emoji": .string("👍"), "users": .array([.string("100"), .string("20")])])])
        )
    }

    /// A reaction takes no message out of its cell, in which it takes a tenth of the memory.
    @Test func aMessageThatGetsAReactionStaysInItsCell() {
        var scene = ChatScene()
        scene.apply(.message(.written(scene.file("a", "1"))))
        scene.apply(scene.reaction("👍", on: "1", by: "20", in: "general"))
        #expect(scene.messages.store.cells[0].form == .written)
        #expect(scene.row(.messages, "general", "1")?["reactions"]?.array?.count == 1)
        // An edit makes a record, which has the reaction, too.
        scene.apply(.message(.written(scene.file("b", "1"))))
        #expect(scene.messages.store.cells[0].form == .record)
        #expect(scene.row(.messages, "general", "1")?["reactions"]?.array?.count == 1)
    }

    /// What both messages know of a reaction stays as it is at the new place; the old place keeps all.
    @Test func reactionsGoWithAMovedMessage() throws {
        var scene = ChatScene()
        var stream: [(sequence: UInt64, changes: [Change])] = []
        func apply(_ change: Change) { stream.append((scene.apply(change), [change])) }
        for channel in ["general", "random"] { apply(.message(.written(scene.file("a", "1", in: channel)))) }
        for user in ["2", "1"] { apply(scene.reaction("B", on: "1", by: user, in: "general")) }
        apply(scene.reaction("A", on: "1", by: "1", in: "general"))
        apply(scene.reaction("B", on: "1", by: "2", in: "random"))
        apply(scene.reaction("B", on: "1", by: "2", in: "random", false))
        let (from, to) = (scene.key("general", "1"), scene.key("random", "1"))
        apply(.message(.moved(from: from, to: to, remoteTime: nil, by: nil)))
        let expected = try JSONValue.parse(#"[{"emoji":"A","users":["1"]},{"emoji":"B","users":["1"]}]"#)
        #expect(scene.row(.messages, "random", "1")?["reactions"] == expected)
        var (retained, refolded) = try scene.compacted(stream, keep: 1)
        #expect(retained.row(.messages, "random", "1")?["reactions"] == expected)
        #expect(refolded.row(.messages, "random", "1")?["reactions"] == expected)
        #expect(retained.normalForm == refolded.normalForm)
    }

    @Test func messagesStandInTheRemotesOrder() {
        var scene = ChatScene()
        for id in ["10", "9", "x", "99999999999999999999", "9223372036854775807", "9223372036854775808", "a"] {
            scene.apply(scene.message("hi", id))
        }
        #expect(
            scene.ids(.messages)
                == ["9", "10", "9223372036854775807", "9223372036854775808", "99999999999999999999", "a", "x"]
        )
    }

    @Test func filesStandByDateThenName() {
        var scene = ChatScene()
        for (id, date) in [("c", 5), ("b", 9), ("a", 5)] {
            scene.apply(.message(.written(scene.file("hi", id, date: Int64(date)))))
        }
        #expect(scene.ids(.messages) == ["a", "c", "b"])
    }

    @Test func aReplySaysWhatBecameOfItsParentAndIsTouchedWithIt() {
        var scene = ChatScene()
        func state() -> JSONValue? { scene.row(.messages, "7", "2")?["replyTo"]?["state"] }
        scene.apply(scene.message("re", "2", replyTo: "1"))
        #expect(state() == .string("unknown"))
        let reply = EntityKey(.messages, scene.names.id("7"), scene.names.id("2"))
        scene.apply(scene.message("hi", "1"))
        #expect(scene.touched.contains(reply))
        #expect(state() == .string("live"))
        scene.apply(scene.delete("1"))
        #expect(scene.touched.contains(reply))
        #expect(state() == .string("deleted"))
    }

    @Test func aMovedMessageTakesItsHistoryAlong() {
        var scene = ChatScene()
        scene.apply(.message(.written(scene.file("hi", "a"))))
        scene.apply(
            .message(.moved(from: scene.key("general", "a"), to: scene.key("random", "b"), remoteTime: nil, by: "Ann"))
        )
        #expect(scene.row(.messages, "random", "b")?["content"] == .string("hi"))
        #expect(scene.row(.messages, "general", "a") == nil)
        #expect(scene.row(.deletedMessages, "general", "a") == nil)
        #expect(scene.history("random", "b") == ["created", "moved"])
        #expect(scene.history("general", "a") == ["created", "moved"])
        #expect(scene.entries("random", "b").last?.by == "Ann")
        scene.apply(
            .message(.moved(from: scene.key("random", "b"), to: scene.key("general", "a"), remoteTime: nil, by: nil))
        )
        #expect(scene.history("general", "a") == ["created", "moved", "moved"])
        #expect(scene.row(.messages, "general", "a")?["revisions"] == .int(1))
    }

    @Test func whatStandsAtAnotherTipMakesNoHistory() {
        var scene = ChatScene()
        scene.apply(.message(.written(scene.file("old", "a"))))
        scene.apply(.message(.written(scene.file("new", "a"))))
        scene.apply(.message(.stands(scene.key("general", "a"), .version(scene.file("old", "a")))))
        #expect(scene.row(.messages, "general", "a")?["content"] == .string("old"))
        scene.apply(.message(.stands(scene.key("general", "a"), .nowhere)))
        #expect(scene.ids(.messages).isEmpty && scene.ids(.deletedMessages).isEmpty)
        #expect(scene.history("general", "a") == ["created", "edited"])
    }

    @Test(arguments: [["1"], ["1", "2"], ["1", "2", "3"]])
    func aCircleOfRepliesIsAnIssueAtTheEventThatClosesIt(ids: [String]) {
        var scene = ChatScene()
        for (id, parent) in zip(ids, ids.dropFirst() + ids.prefix(1)) {
            #expect(scene.issues.isEmpty)
            scene.apply(scene.message("re", id, replyTo: parent))
        }
        #expect(scene.issues.map(\.sequence.rawValue) == [UInt64(ids.count)])
        #expect(scene.issues.first?.reason.contains("\"1\"") == true)
    }

    @Test func aCircleIsNamedAlikeWhereverItWasClosed() {
        func reason(_ order: [(String, String)]) -> [String] {
            var scene = ChatScene()
            for (id, parent) in order { scene.apply(scene.message("re", id, replyTo: parent)) }
            return scene.issues.map(\.reason)
        }
        #expect(reason([("1", "2"), ("2", "3"), ("3", "1")]) == reason([("3", "1"), ("1", "2"), ("2", "3")]))
    }
}
