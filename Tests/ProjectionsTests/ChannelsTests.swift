import EventLog
import Testing

@testable import Projections

@Suite struct ChannelsTests {
    private func history(_ scene: ChatScene, _ channel: String) -> [String] {
        var scene = scene
        let key = EntityKey(.channels, scene.names.id(channel))
        return scene.channels.history(of: key, context: scene.context)?.map(\.change) ?? []
    }

    @Test func aChannelThatIsOnlyNamedExistsWithWhatIsKnown() {
        var scene = ChatScene()
        scene.apply(scene.message("hi", "1"))
        scene.apply(scene.named("7", guild: "3"))
        #expect(scene.rows(.channels) == [.object(["id": .string("7"), "guild": .string("3")])])
        #expect(history(scene, "7") == ["created", "edited"])
    }

    @Test func aStatementReplacesWhatWasKnownButNotTheGuild() {
        var scene = ChatScene()
        scene.apply(scene.named("7", guild: "3"))
        scene.apply(scene.stated("7", name: "general"))
        scene.apply(scene.stated("7", name: "general"))
        #expect(scene.rows(.channels).first?["guild"] == .string("3"))
        #expect(scene.rows(.channels).first?["name"] == .string("general"))
        #expect(history(scene, "7") == ["created", "edited"])
    }

    /// `é` as one code point and as two look alike, and are two names.
    @Test func aNameOfOtherBytesIsAnotherName() {
        var scene = ChatScene()
        scene.apply(scene.stated("7", name: "caf\u{E9}"))
        scene.apply(scene.stated("7", name: "cafe\u{301}"))
        #expect(scene.rows(.channels).first?["name"]?.string.map { Array($0.utf8) } == Array("cafe\u{301}".utf8))
        #expect(history(scene, "7") == ["created", "edited"])
    }

    @Test func aDeletedChannelStaysDeletedWhateverArrives() {
        var scene = ChatScene()
        scene.apply(scene.stated("7", name: "general"))
        scene.apply(scene.deleteChannel("7"))
        scene.apply(scene.stated("7", name: "again"))
        scene.apply(scene.named("7"))
        scene.apply(scene.message("hi", "1"))
        #expect(scene.rows(.channels).isEmpty)
        #expect(history(scene, "7") == ["created", "deleted"])
    }

    @Test func aFolderLivesAgainWhenItIsWrittenAgain() {
        var scene = ChatScene()
        scene.apply(scene.stated("general", name: "general"))
        scene.apply(scene.deleteChannel("general", .untilWritten))
        #expect(scene.rows(.channels).isEmpty)
        scene.apply(scene.named("general"))
        #expect(scene.rows(.channels).isEmpty)
        scene.apply(scene.stated("general", name: "general"))
        #expect(scene.ids(.channels) == ["general"])
        #expect(history(scene, "general") == ["created", "deleted", "restored"])
    }

    @Test func aGuildsChannelsAreKnown() {
        var scene = ChatScene()
        for id in ["9", "8"] { scene.apply(scene.named(id, guild: "3")) }
        #expect(scene.channels.channels(inGuild: scene.names.id("3")).map { scene.names.text($0) } == ["9", "8"])
        scene.apply(scene.deleteGuild("3"))
        #expect(scene.rows(.channels).isEmpty)
    }

    @Test func channelsStandByTheBytesOfTheirIds() {
        var scene = ChatScene()
        for id in ["9", "10", "b", "é", "e\u{301}"] { scene.apply(scene.named(id)) }
        #expect(scene.rows(.channels).count == 5)
        #expect(
            scene.ids(.channels).map { Array($0.utf8) } == ["10", "9", "b", "e\u{301}", "é"].map { Array($0.utf8) }
        )
    }

    @Test func namesAreFactsAndNoEventIsKeptForThem() throws {
        var scene = ChatScene()
        let change = scene.named("7", guild: "3")
        let sequence = scene.apply(change)
        #expect(scene.needed.isEmpty)
        let (retained, refolded) = try scene.compacted([(sequence, [change])], keep: 1)
        #expect(retained.normalForm == refolded.normalForm)
        #expect(history(refolded, "7") == ["created"])
    }
}
