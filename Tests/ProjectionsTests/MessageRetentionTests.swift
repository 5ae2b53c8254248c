import EventLog
import TestSupport
import Testing

@testable import Projections

@Suite struct MessageRetentionTests {
    @Test func theNewestMessagesAndTombstonesStayAndTheOthersAreKnownAsCompacted() {
        var scene = ChatScene()
        for id in 1...10 { scene.apply(scene.message("m", String(id), replyTo: id == 10 ? "1" : nil)) }
        for id in ["3", "5", "7"] { scene.apply(scene.delete(id)) }
        // What a kept message answers stays with it.
        scene.retainMessages(RetentionPolicy(messagesPerChannel: 2))
        #expect(scene.ids(.messages) == ["1", "9", "10"])
        let policy = RetentionPolicy(messagesPerChannel: 2, keepsParents: false)
        scene.retainMessages(policy)
        #expect(scene.ids(.messages) == ["9", "10"])
        #expect(scene.ids(.deletedMessages) == ["5", "7"])
        #expect(scene.row(.messages, "7", "10")?["replyTo"]?["state"] == .string("compacted"))
    }

    @Test func whatStatesADroppedMessageNotWholeAndNewChangesNothing() {
        var scene = ChatScene()
        for id in 1...3 { scene.apply(scene.message("m", String(id), edited: 50)) }
        scene.apply(scene.delete("4", .untilWritten))
        scene.retainMessages(RetentionPolicy(messagesPerChannel: 1))
        let before = scene.normalForm
        // A repeat, an older version, one that is another text at the same time, and one from before the decision.
        scene.apply(scene.message("m", "1", edited: 50))
        scene.apply(scene.message("old", "1", edited: 40))
        scene.apply(scene.message("first", "1"))
        scene.apply(scene.message("other", "2", edited: 50))
        scene.apply(scene.message("kept for something else", "2", edited: 60), at: 3)
        scene.apply(scene.delete("1", .untilWritten), at: 20)
        scene.apply(scene.reaction("A", on: "1", by: "5"))
        scene.apply(.message(.stands(scene.key("7", "1"), .nowhere)))
        for meeting in [MessageMeeting.adds, .patches(.content, makes: true), .patches(.piece, makes: false)] {
            guard case .message(.written(var write)) = scene.message("part", "1", edited: 70) else { continue }
            write.meeting = meeting
            scene.apply(.message(.written(write)))
        }
        #expect(scene.normalForm == before)
        #expect(scene.issues.isEmpty)
    }

    @Test func aNewerVersionMakesADroppedMessageLive() {
        var scene = ChatScene()
        scene.apply(scene.message("m", "1", edited: 50))
        for id in 2...4 { scene.apply(scene.message("m", String(id), replyTo: "1")) }
        scene.retainMessages(RetentionPolicy(messagesPerChannel: 2, keepsParents: false))
        #expect(scene.row(.messages, "7", "4")?["replyTo"]?["state"] == .string("compacted"))
        scene.apply(scene.message("again", "1", edited: 60))
        #expect(scene.row(.messages, "7", "4")?["replyTo"]?["state"] == .string("live"))
        #expect(scene.touched.contains(EntityKey(.messages, scene.names.id("7"), scene.names.id("4"))))
        let row = scene.row(.messages, "7", "1")
        #expect(row?["content"] == .string("again") && row?["revisions"] == .int(1) && row?["compacted"] == .bool(true))
        #expect(scene.row(.messages, "7", "4")?["compacted"] == nil)
        #expect(scene.history("7", "1") == ["compacted", "edited"])
        // What was dropped is no late version of it.
        scene.apply(scene.message("m", "1", edited: 50))
        scene.apply(scene.message("later", "1", edited: 70))
        #expect(scene.history("7", "1") == ["compacted", "edited", "edited"])
        #expect(scene.row(.messages, "7", "1")?["revisions"] == .int(2))
        scene.apply(scene.delete("1"))
        #expect(scene.row(.deletedMessages, "7", "1")?["compacted"] == .bool(true))
        // It is dropped again, for good, and no version is newer.
        scene.retainMessages(RetentionPolicy(messagesPerChannel: 0))
        scene.apply(scene.message("latest", "1", edited: 80))
        #expect(scene.messages.state(of: scene.key("7", "1")) == .deleted)
    }

    @Test func aDroppedMessageThatIsDeletedForGoodStaysSo() {
        var scene = ChatScene()
        for id in 1...4 { scene.apply(scene.message("m", String(id), replyTo: id == 4 ? "1" : nil)) }
        scene.retainMessages(RetentionPolicy(messagesPerChannel: 1, keepsParents: false))
        scene.apply(scene.delete("1"))
        #expect(scene.touched.contains(EntityKey(.messages, scene.names.id("7"), scene.names.id("4"))))
        #expect(scene.row(.messages, "7", "4")?["replyTo"]?["state"] == .string("deleted"))
        scene.apply(scene.message("edited", "1", edited: 99))
        #expect(scene.ids(.messages) == ["4"] && scene.ids(.deletedMessages).isEmpty)
        scene.apply(scene.deleteChannel("7"))
        scene.apply(scene.message("edited", "2", edited: 99))
        #expect(scene.ids(.deletedMessages) == ["4"])
    }

    @Test func aDroppedFileIsLiveFromTheCommitThatWritesIt() {
        var scene = ChatScene()
        for (date, id) in ["a", "b", "c", "d"].enumerated() {
            scene.apply(.message(.written(scene.file("m", id, date: Int64(date)))))
        }
        scene.retainMessages(RetentionPolicy(messagesPerChannel: 1))
        var known = scene.file("m", "a")
        known.isStated = false
        scene.apply(.message(.written(known)))
        scene.apply(.message(.stands(scene.key("general", "a"), .version(scene.file("m", "a")))))
        #expect(scene.ids(.messages) == ["d"])
        // The same text, deleted and restored.
        scene.apply(scene.delete("a", in: "general", .untilWritten))
        scene.apply(.message(.written(scene.file("m", "a"))))
        #expect(scene.history("general", "a") == ["compacted", "edited"])
        // At another tip it is as it was dropped, and at a third as it is known.
        scene.apply(.message(.stands(scene.key("general", "a"), .version(scene.file("old", "a")))))
        #expect(scene.messages.state(of: scene.key("general", "a")) == .compacted)
        scene.apply(.message(.stands(scene.key("general", "a"), .version(scene.file("m", "a")))))
        #expect(scene.ids(.messages) == ["a", "d"])
    }

    @Test func aDroppedMessageThatMovesHasARevision() {
        var scene = ChatScene()
        for id in ["a", "b", "c"] { scene.apply(.message(.written(scene.file("m", id, date: 1)))) }
        scene.retainMessages(RetentionPolicy(messagesPerChannel: 1))
        let to = scene.key("random", "a")
        scene.apply([
            .message(.moved(from: scene.key("general", "a"), to: to, remoteTime: nil, by: nil)),
            .message(.stands(to, .version(scene.file("moved", "a", in: "random")))),
        ])
        let row = scene.row(.messages, "random", "a")
        #expect(row?["revisions"] == .int(1) && row?["compacted"] == .bool(true) && row?["content"] == .string("moved"))
        #expect(scene.history("random", "a") == ["compacted", "moved"])
        scene.apply(.message(.written(scene.file("edited", "a", in: "random"))))
        #expect(scene.row(.messages, "random", "a")?["revisions"] == .int(2))
        // A message that moves to the name of a dropped one brings its history.
        let name = scene.key("general", "b")
        scene.apply([.message(.moved(from: scene.key("general", "c"), to: name, remoteTime: nil, by: nil))])
        #expect(scene.history("general", "b") == ["compacted", "edited", "moved"])
        #expect(scene.row(.messages, "general", "b")?["compacted"] == .bool(true))
    }

    /// The facts of earlier programs name the ids alone.
    @Test func aDroppedMessageOfEarlierFactsIsLiveOnceALaterVersionComes() throws {
        let facts = #"[["7",["1","2"]],["8",["1"]]]"#
        let decision = CompactionDecision(head: SequenceNumber(10), clock: Timestamp(seconds: 50))
        var scene = ChatScene()
        try Array(facts.utf8).withUnsafeBytes {
            try scene.messages.load(compacted: $0, names: &scene.names, decision)
        }
        scene.apply(scene.message("from before", "1", edited: 60), at: 10)
        scene.apply(scene.message("older", "1", edited: 50))
        scene.apply(scene.message("first", "1"))
        #expect(scene.messages.state(of: scene.key("7", "1")) == .compacted)
        scene.apply(scene.message("newer", "1", edited: 51))
        scene.apply(.message(.written(scene.file("a commit's", "2", in: "7"))))
        #expect(Set(scene.ids(.messages)) == ["1", "2"])
    }

    @Test func droppedMessagesTakeSixteenBytes() {
        var scene = ChatScene()
        for id in 1...5_000 { scene.apply(scene.message("m", String(id), edited: id % 1_000 == 0 ? Int64(id) : nil)) }
        scene.retainMessages(RetentionPolicy(messagesPerChannel: 0))
        #expect(scene.messages.compacted.count == 5_000)
        #expect(scene.messages.compacted.byteCount < 5_000 * 16 + 500)
    }

    @Test func retainingTwiceDropsNothing() {
        var scene = ChatScene()
        for id in 1...9 { scene.apply(scene.message("m", String(id))) }
        scene.apply(scene.delete("4"))
        scene.retainMessages(RetentionPolicy(messagesPerChannel: 2))
        let once = scene.normalForm
        scene.retainMessages(RetentionPolicy(messagesPerChannel: 2))
        #expect(scene.normalForm == once)
    }

    @Test func aKeptMessageKeepsTheKeyThatItMovedFrom() throws {
        var scene = ChatScene()
        var stream: [(sequence: UInt64, changes: [Change])] = []
        func add(_ changes: [Change]) { stream.append((scene.apply(changes), changes)) }
        add([.message(.written(scene.file("hi", "a", date: 9)))])
        add([.message(.moved(from: scene.key("general", "a"), to: scene.key("random", "a"), remoteTime: nil, by: nil))])
        for id in ["b", "c"] { add([.message(.written(scene.file("m", id, date: 1)))]) }
        let (retained, refolded) = try scene.compacted(stream, keep: 1)
        #expect(retained.normalForm == refolded.normalForm)
        var result = refolded
        #expect(result.history("random", "a") == ["created", "moved"])
    }

    @Test func aCircleIsSaidAgainByTheEventThatClosedIt() throws {
        var scene = ChatScene()
        var stream: [(sequence: UInt64, changes: [Change])] = []
        func add(_ changes: [Change]) { stream.append((scene.apply(changes), changes)) }
        add([scene.message("re", "1", replyTo: "2")])
        add([scene.message("re", "2", replyTo: "1")])
        let (retained, refolded) = try scene.compacted(stream, keep: 1)
        #expect(retained.normalForm == refolded.normalForm)
        #expect(refolded.issues == scene.issues)
    }

    @Test(arguments: 1...24 as ClosedRange<UInt64>)
    func foldingFactsAndKeptEventsGivesTheRetainedState(seed: UInt64) throws {
        var stream = RandomChat(seed: seed)
        let events = stream.events(160)
        var scene = stream.scene
        for event in events.prefix(110) { scene.apply(event.changes, at: event.sequence) }
        let (retained, refolded) = try scene.compacted(Array(events.prefix(110)), keep: 3)
        #expect(retained.normalForm == refolded.normalForm, "seed \(seed)")
        #expect(retained.document == refolded.document, "seed \(seed)")
        #expect(retained.needed == refolded.needed, "seed \(seed)")
        #expect(retained.touchesNothingMore(than: refolded, tail: Array(events.suffix(50))), "seed \(seed)")
        let again = try refolded.compacted(Array(events.prefix(110)), keep: 3)
        #expect(again.refolded.normalForm == refolded.normalForm, "seed \(seed)")
    }

    @Test(arguments: 1...24 as ClosedRange<UInt64>)
    func anyOrderOfRepeatedFramesGivesTheSameState(seed: UInt64) {
        var stream = RandomChat(seed: seed, isGateway: true)
        let events = stream.events(60)
        var random = SeededGenerator(seed: seed ^ 77)
        var (first, second) = (stream.scene, stream.scene)
        for event in events { first.apply(event.changes) }
        for event in (events + events.prefix(30)).shuffled(using: &random) { second.apply(event.changes) }
        #expect(first.document == second.document, "seed \(seed)")
    }
}

extension ChatScene {
    /// Whether folding the same tail keeps two states the same.
    fileprivate func touchesNothingMore(than other: ChatScene, tail: [(sequence: UInt64, changes: [Change])]) -> Bool {
        var (left, right) = (self, other)
        for event in tail {
            left.apply(event.changes, at: event.sequence)
            right.apply(event.changes, at: event.sequence)
            guard left.document == right.document else { return false }
        }
        return left.normalForm == right.normalForm
    }
}

/// Random changes of a few channels and messages, several to an event now and then.
struct RandomChat {
    /// Gives handles to the ids; the states under test start from it.
    var scene = ChatScene()
    private var random: SeededGenerator
    private var isGateway: Bool

    init(seed: UInt64, isGateway: Bool = false) {
        random = SeededGenerator(seed: seed)
        self.isGateway = isGateway
        for number in 0..<40 { _ = scene.names.id("n\(number)") }
    }

    mutating func events(_ count: Int) -> [(sequence: UInt64, changes: [Change])] {
        (1...count).map { number in
            let several = Int.random(in: 0..<5, using: &random) == 0 ? 3 : 1
            return (UInt64(number), (0..<several).map { _ in change() })
        }
    }

    private mutating func change() -> Change {
        let channel = ["7", "8"].randomElement(using: &random) ?? "7"
        let id = String(Int.random(in: 1...20, using: &random))
        let user = String(Int.random(in: 1...3, using: &random))
        switch Int.random(in: 0..<(isGateway ? 40 : 48), using: &random) {
        case 0..<22: return write(id, channel)
        // A gateway's deletion of a message that is not known otherwise decides in which channel it is.
        case 22..<27: return scene.delete(id, in: isGateway ? (Int(id) ?? 0).isMultiple(of: 2) ? "7" : "8" : channel)
        case 27..<37:
            return isGateway
                ? write(id, channel) : scene.reaction("A", on: id, by: user, in: channel, Bool.random(using: &random))
        case 37: return scene.named(channel, guild: channel == "7" ? "3" : "4")
        case 38: return isGateway ? scene.deleteGuild("4") : scene.named("9")
        case 39: return isGateway ? scene.named("9") : scene.stated(channel, name: "n\(user)")
        case 40..<43: return .message(.written(scene.file("t\(user)", "f\(id)", in: "general", date: Int64(user) ?? 0)))
        case 43: return scene.delete("f\(id)", in: "general", .untilWritten)
        case 44, 45:
            let target = String(Int.random(in: 1...20, using: &random))
            return .message(
                .moved(
                    from: scene.key("general", "f\(id)"),
                    to: scene.key("general", "f\(target)"),
                    remoteTime: nil,
                    by: nil
                )
            )
        case 46: return Int.random(in: 0..<6, using: &random) == 0 ? scene.deleteChannel(channel) : scene.named("5")
        default: return scene.deleteChannel("general", .untilWritten)
        }
    }

    /// A version whose text follows from its id and version, as a remote's does.
    private mutating func write(_ id: String, _ channel: String) -> Change {
        let chosen = Int64.random(in: 0...3, using: &random) * 10
        let edited = chosen == 0 ? nil : chosen
        // The channel follows from them, too.
        let channel = isGateway ? ((Int(id) ?? 0) + Int(chosen) / 10).isMultiple(of: 3) ? "7" : "8" : channel
        let parent = (Int(id) ?? 0) % 3 == 0 ? String((Int(id) ?? 0) * 7 % 20 + 1) : nil
        return scene.message("text \(id) at \(edited ?? 0)", id, in: channel, edited: edited, replyTo: parent)
    }
}
