import Clients
import Testing

@testable import Projections

/// A client that is listed the first thousand files of a folder (VC-D58).
@Suite struct GitListingTests {
    private static let count = GitListing.entriesMax + 3
    /// `m1000` to `m2002`.
    private static let names = (0..<count).map { "m\(1000 + $0)" }

    private func tree(without gone: Set<String> = [], _ more: [String: String] = [:]) -> [String: String] {
        let files = Self.names.filter { !gone.contains($0) }.map { ("general/\($0).md", BranchScene.file($0)) }
        return Dictionary(uniqueKeysWithValues: files).merging(more) { $1 }
    }

    private func branch(_ rules: ReadingRules) -> BranchScene {
        var branch = BranchScene()
        branch.rules = rules
        branch.commit("a", tree())
        return branch
    }

    private func general(_ branch: BranchScene) -> Set<String> {
        Set(branch.scene.rows(.messages).filter { $0["channel"] == .string("general") }.compactMap { $0["id"]?.string })
    }

    @Test func theFirstThousandInTheOrderOfATreeAreThere() {
        #expect(general(branch([])) == Set(Self.names))
        #expect(Profile.vibechannelIOS.rules.contains(.foldersAreListedInPart))
        #expect(general(branch([.foldersAreListedInPart])) == Set(Self.names.dropLast(3)))
    }

    @Test func whatGoesMakesRoomAndWhatComesPushesOut() {
        var branch = branch([.foldersAreListedInPart])
        branch.commit("b", tree(without: ["m1000", "m1500"]), parents: ["a"])
        #expect(general(branch) == Set(Self.names.dropLast()).subtracting(["m1000", "m1500"]))
        #expect(branch.scene.ids(.deletedMessages) == ["m1000", "m1500"])
        branch.commit("c", tree(without: ["m1500"], ["general/a.md": BranchScene.file("a")]), parents: ["b"])
        #expect(general(branch) == Set(Self.names.dropLast(3) + ["a"]).subtracting(["m1500"]))
        #expect(branch.scene.history("general", "m1000") == ["created", "deleted", "restored"])
        #expect(branch.scene.history("general", "m2000") == ["created"])
        branch.commit("d", tree(without: ["m1500"]), parents: ["c"])
        let row = branch.scene.row(.messages, "general", "m2000")
        #expect(row?["revisions"] == .int(1))
        #expect(branch.scene.history("general", "m2000") == ["created", "unselected", "restored"])
    }

    @Test func nothingIsToldOfAFileThatIsNotListed() {
        var branch = branch([.foldersAreListedInPart])
        branch.commit("b", tree(["general/m2002.md": BranchScene.file("edited")]), parents: ["a"])
        branch.commit("c", tree(without: ["m2001"], ["general/m2002.md": BranchScene.file("edited")]), parents: ["b"])
        #expect(general(branch) == Set(Self.names.dropLast(3)))
        #expect(branch.scene.ids(.deletedMessages).isEmpty)
        branch.commit("d", tree(without: ["m1000", "m1001", "m2001"]), parents: ["c"])
        #expect(general(branch) == Set(Self.names).subtracting(["m1000", "m1001", "m2001"]))
        #expect(branch.scene.row(.messages, "general", "m2002")?["content"] == .string("m2002"))
    }

    @Test func aFileThatIsEditedAsItComesIntoSightIsNewOnce() {
        var branch = branch([.foldersAreListedInPart])
        let edited = ["general/m2002.md": BranchScene.file("edited")]
        branch.commit("b", tree(without: ["m1000", "m1001", "m1002"], edited), parents: ["a"], by: "Bob")
        let row = branch.scene.row(.messages, "general", "m2002")
        #expect(row?["content"] == .string("edited"))
        #expect(row?["revisions"] == .int(1))
        #expect(branch.scene.entries("general", "m2002").map(\.by) == ["Bob"])
    }

    @Test func movesIntoSightAndOutOfIt() {
        var branch = branch([.foldersAreListedInPart])
        let hidden = BranchScene.file("m2002")
        branch.commit("b", tree(without: ["m2002"], ["random/x.md": hidden]), parents: ["a"])
        #expect(branch.scene.row(.messages, "random", "x")?["content"] == .string("m2002"))
        branch.commit("c", tree(), parents: ["b"])
        #expect(branch.scene.row(.messages, "random", "x") == nil)
        #expect(general(branch) == Set(Self.names.dropLast(3)))
    }

    @Test func anotherTipHasAListingOfItsOwn() {
        var branch = branch([.foldersAreListedInPart])
        branch.commit("b", ["general/m1000.md": BranchScene.file("m1000")], parents: ["a"])
        #expect(general(branch) == ["m1000"])
        branch.rewrite(from: "b", to: "a")
        #expect(general(branch) == Set(Self.names.dropLast(3)))
    }
}
