import EventLog
import TestSupport
import Testing

@testable import Projections

/// A message that was written once lies in its cell, and is in everything as the record that the general way makes (I18).
@Suite struct WrittenMessageTests {
    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func isAsItsRecord(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var scene = ChatScene()
        var forced = scene
        for number in 1...60 as ClosedRange<UInt64> {
            let change = Self.change(&scene, &random)
            forced.names = scene.names
            scene.apply(change, at: number)
            forced.apply(change, at: number)
            for place in 0..<forced.messages.store.count { forced.messages.store.change(at: place) { _ in } }
        }
        let forms = (0..<scene.messages.store.count).map { scene.messages.store.cells[$0].form }
        #expect(forms.contains(.written) && forms.contains(.record))
        #expect(scene.messages.messageLines(scene.names) == forced.messages.messageLines(forced.names))
        #expect(Self.hashes(scene) == Self.hashes(forced))
        #expect(scene.document == forced.document)
        #expect(scene.touched == forced.touched)
        #expect(scene.issues == forced.issues)
        #expect(scene.needed == forced.needed)
        for channel in scene.messages.channels(scene.names) {
            let own = scene.messages.sortedLive(in: channel, scene.names)
            #expect(own == forced.messages.sortedLive(in: channel, forced.names))
            #expect(scene.messages.store.firstOrder(in: channel) == forced.messages.store.firstOrder(in: channel))
        }
    }

    @Test func staysARecordIfItsCellHasNoRoom() throws {
        var scene = ChatScene()
        var late = scene.file("late", "a")
        late.remoteTime = Timestamp(seconds: 99_000_000_000)
        var other = scene.file("other", "b")
        other.version = Timestamp(seconds: 5)
        var far = scene.file("far", "c")
        far.order = .at(1 << 40)
        for write in [late, other, far] { scene.apply(.message(.written(write))) }
        for place in 0..<3 { #expect(scene.messages.store.cells[place].form == .record) }
        #expect(scene.messages.store.record(at: 0).entries.first?.remoteTime == late.remoteTime)
    }

    @Test func aDeletionThatAnEntryHasNoRoomForMakesARecord() {
        var scene = ChatScene()
        for id in ["late", "other"] { scene.apply(.message(.written(scene.file("a", id)))) }
        let late = Timestamp(seconds: 99_000_000_000)
        let deletion = MessageDeletion(key: scene.key("general", "late"), permanence: .forever, deletedAt: late)
        scene.apply(.message(.deleted(deletion)))
        scene.apply(scene.delete("other", in: "general"))
        #expect(scene.messages.store.cells[0].form == .record)
        #expect(scene.messages.store.record(at: 0).entries.last?.remoteTime == late)
        #expect(scene.messages.store.cells[1].form == .written && scene.messages.state(at: 1) == .deleted)
    }

    /// Mostly first versions of messages of all orders, and now and then anything else.
    private static func change(_ scene: inout ChatScene, _ random: inout SeededGenerator) -> Change {
        let id = String(Int.random(in: 1...40, using: &random)) + (Bool.random(using: &random) ? "" : "x")
        let channel = ["7", "general", "gone"][Int.random(in: 0...2, using: &random)]
        switch Int.random(in: 0...9, using: &random) {
        case 0, 3:
            var deletion = MessageDeletion(
                key: scene.key(channel, id),
                permanence: Bool.random(using: &random) ? .forever : .untilWritten
            )
            deletion.deletedAt = time(&random)
            deletion.deletedBy = [nil, "bob", "e\u{301}"].randomElement(using: &random)!
            return .message(.deleted(deletion))
        case 1: return scene.reaction("+1", on: id, by: "1", in: channel)
        case 2 where Int.random(in: 0...9, using: &random) == 0:
            return .channel(.deleted(scene.names.id("gone"), cause: .channelDeleted, permanence: .forever))
        default: break
        }
        var write = scene.file(["", "a", "\u{1F30A} \"b\"\n"][Int.random(in: 0...2, using: &random)], id, in: channel)
        write.order = [.byID, .byCreation, .at(Int.random(in: 0...9, using: &random))].randomElement(using: &random)!
        write.revisesByArrival = .random(using: &random)
        write.saying.createdAt = time(&random)
        write.saying.editedAt = time(&random)
        write.remoteTime = time(&random)
        write.version = [nil, write.remoteTime, write.saying.editedAt].randomElement(using: &random)!
        write.by = [nil, "ann", "e\u{301}", "\u{e9}"].randomElement(using: &random)!
        write.saying.authorName = [nil, "", "Ann"].randomElement(using: &random)!
        write.saying.replyTo = Bool.random(using: &random) ? scene.names.id("3") : nil
        write.saying.tags = [nil, [], ["a", ""]].randomElement(using: &random)!
        write.saying.files = [nil, ["f"]].randomElement(using: &random)!
        write.saying.images = [nil, ["i"]].randomElement(using: &random)!
        write.saying.attachments = [nil, [], [.object(["n": .int(1)])]].randomElement(using: &random)!
        write.saying.extra = [[:], ["k": .bool(true)]].randomElement(using: &random)!
        write.saying.form = [nil, 1].randomElement(using: &random)!
        return .message(.written(write))
    }

    private static func time(_ random: inout SeededGenerator) -> Timestamp? {
        guard Bool.random(using: &random) else { return nil }
        let nanoseconds = UInt32(Bool.random(using: &random) ? 0 : 123_000_000)
        return Timestamp(seconds: .random(in: -9...9, using: &random), nanoseconds: nanoseconds)
    }

    private static func hashes(_ scene: ChatScene) -> [UInt128] {
        scene.messages.store.normalFormHashes(scene.names).sorted()
    }
}

/// A packed content comes back as it was, and any other bytes do no harm.
@Suite struct MessageSayingPackingTests {
    static let saying = MessageSaying(
        text: MessageText("the text"),
        author: "ann",
        authorName: "",
        createdAt: Timestamp(seconds: -1, nanoseconds: 999_999_999),
        editedAt: Timestamp(seconds: .max),
        replyTo: EntityID(number: 77),
        tags: ["a", ""],
        files: [],
        images: ["i"],
        attachments: [.null, .string("x")],
        extra: ["k": .array([.int(1)])],
        form: 7 << 60
    )

    @Test func comesBackWithEachMember() throws {
        for without in 0..<13 {
            let saying = Self.without(without)
            var bytes: [UInt8] = []
            try saying.pack(into: &bytes)
            bytes.withUnsafeBytes { bytes in
                #expect(MessageSaying(packed: bytes) == saying)
                #expect(MessageSaying.createdAt(packed: bytes) == saying.createdAt)
                #expect(MessageSaying.text(packed: bytes).map { Array($0) } == Array(saying.text.string.utf8))
            }
        }
    }

    @Test func anyBytesAreReadToTheirEnd() throws {
        var random = SeededGenerator(seed: 3)
        var whole: [UInt8] = []
        try Self.saying.pack(into: &whole)
        for _ in 0..<2000 {
            PlainTraffic.mutated(whole, &random).withUnsafeBytes { bytes in
                let isRead = MessageSaying(packed: bytes) != nil
                if isRead { #expect(MessageSaying.text(packed: bytes) != nil) }
            }
        }
        for count in 0..<whole.count {
            whole[..<count].withUnsafeBytes { _ = MessageSaying(packed: $0) }
        }
    }

    /// The content without one of its members; with all for 12.
    private static func without(_ number: Int) -> MessageSaying {
        var saying = saying
        switch number {
        case 0: saying.author = nil
        case 1: saying.authorName = nil
        case 2: saying.createdAt = nil
        case 3: saying.editedAt = nil
        case 4: saying.replyTo = nil
        case 5: saying.tags = nil
        case 6: saying.files = nil
        case 7: saying.images = nil
        case 8: saying.attachments = nil
        case 9: saying.extra = [:]
        case 10: saying.form = nil
        case 11: saying.text = MessageText("")
        default: break
        }
        return saying
    }
}
