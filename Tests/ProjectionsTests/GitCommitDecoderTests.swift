import EventLog
import Testing

@testable import Projections

@Suite struct GitCommitDecoderTests {
    private let one = BranchScene.file("one")
    private let two = BranchScene.file("two", date: "2025-03-04T06:00:00Z")

    @Test func foldersAreChannelsAndFilesInThemMessages() {
        var branch = BranchScene()
        branch.commit(
            "a",
            [
                "README.md": one, "general/.gitkeep": "", "general/m1.md": one, "general/readme.md": one,
                "general/AGENT.md": one, "general/sub/m2.md": two, "general/x.MD": two, ".assets/m3.md": two,
                "random/.gitkeep": "", "random/.hidden.md": two, "random/a.mdx.md": one,
            ]
        )
        #expect(branch.scene.ids(.channels) == ["general", "random"])
        #expect(branch.scene.rows(.channels).first?["kind"] == .string("folder"))
        #expect(branch.scene.ids(.messages) == ["m1", "a.mdx", ".hidden"])
        #expect(branch.scene.issues.isEmpty)
    }

    /// `general/caf\xe9.md` and `general/caf%E9.md`: a document writes both alike, and marks the first. Each keeps a text of
    /// its own, also where facts stand for the commit that had the first.
    @Test(arguments: [false, true])
    func aByteThatIsNoTextIsAnotherNameThanItsEncoding(encodedIsFirst: Bool) throws {
        func document(_ id: String, _ parent: String?, _ body: String, isEncoded: Bool) -> JSONValue {
            let blob = "blob \(body)", text = BranchScene.file(body)
            var change: JSONObject = ["path": .string("caf%E9/caf%E9.md")]
            if isEncoded { change["encoded"] = .bool(true) }
            change["to"] = .object(["mode": .string("100644"), "blob": .string(blob)])
            let file: JSONObject = [
                "path": .string("x"), "blob": .string(blob), "size": .int(9), "text": .string(text),
            ]
            var entry: JSONObject = ["changes": .array([.object(change)])]
            if let parent { entry["commit"] = .string(parent) }
            return .object([
                "commit": .string(id), "author": .object(["name": .string("Ann")]),
                "parents": .array([.object(entry)]), "files": .array([.object(file)]),
            ])
        }
        var branch = BranchScene()
        branch.record(document("a", nil, "one", isEncoded: encodedIsFirst), "git.commit/1")
        branch.record(document("b", "a", "two", isEncoded: !encodedIsFirst), "git.commit/1")
        #expect(branch.scene.ids(.channels) == ["caf%25E9", "caf%E9"])
        #expect(branch.scene.ids(.messages) == ["caf%25E9", "caf%E9"])
        #expect(branch.scene.row(.messages, "caf%E9", "caf%E9")?["content"] == .string("one"))
        let facts = try #require(branch.decoder.spellings.facts)
        #expect(try GitSpellings(facts: facts).facts == facts)
        var spellings = try GitSpellings(facts: facts)
        var changes = [GitPathChange(path: "caf%E9/x%.md", isEncoded: encodedIsFirst, from: nil, to: nil)]
        changes.append(GitPathChange(path: "caf%E9/x%.md", isEncoded: !encodedIsFirst, from: nil, to: nil))
        spellings.spell(&changes)
        #expect(changes.map(\.path) == ["caf%E9/x%.md", "caf%25E9/x%.md"])
    }

    @Test func anEditADeleteAndAReturnAreHistory() {
        var branch = BranchScene()
        branch.commit("a", ["general/m.md": one])
        branch.commit("b", ["general/m.md": two], parents: ["a"], by: "Bob", at: 1_741_064_800)
        branch.commit("c", ["general/.gitkeep": ""], parents: ["b"], by: "Cy", at: 1_741_064_900)
        let row = branch.scene.row(.deletedMessages, "general", "m")
        #expect(row?["content"] == .string("two"))
        #expect(row?["deletedBy"] == .string("Cy"))
        #expect(row?["deletedAt"] == .string("2025-03-04T05:08:20.000000Z"))
        #expect(row?["sequence"] == .string("3"))
        branch.commit("d", ["general/m.md": one], parents: ["c"])
        #expect(branch.scene.history("general", "m") == ["created", "edited", "deleted", "restored"])
        #expect(branch.scene.entries("general", "m").map(\.by) == ["Ann Lee", "Bob", "Cy", "Ann Lee"])
        #expect(branch.scene.row(.messages, "general", "m")?["revisions"] == .int(3))
    }

    @Test func aChangeOfFrontMatterAloneIsLinkedAndARevision() {
        var branch = BranchScene()
        branch.commit("a", ["general/m.md": one])
        let linked = BranchScene.file(
            "one",
            date: "2025-03-04T05:06:07.000Z",
            ["github_issue: 'https://h/o/r/issues/7'"]
        )
        branch.commit("b", ["general/m.md": linked], parents: ["a"])
        branch.commit("c", ["general/m.md": linked + "\n"], parents: ["b"])
        #expect(branch.scene.history("general", "m") == ["created", "linked"])
        #expect(branch.scene.row(.messages, "general", "m")?["revisions"] == .int(2))
        #expect(
            branch.scene.row(.messages, "general", "m")?["extra"]?["github_issue"] == .string("https://h/o/r/issues/7")
        )
    }

    @Test func theSameContentUnderAnotherPathIsAMove() {
        var branch = BranchScene()
        branch.commit("a", ["general/m.md": one, "general/.gitkeep": ""])
        branch.commit("b", ["random/n.md": one, "general/.gitkeep": ""], parents: ["a"])
        #expect(branch.scene.history("random", "n") == ["created", "moved"])
        #expect(branch.scene.ids(.messages) == ["n"])
        #expect(branch.scene.ids(.deletedMessages).isEmpty)
        branch.commit("c", ["random/n.md": one, "general/m.md": two], parents: ["b"])
        #expect(branch.scene.ids(.messages) == ["m", "n"])
    }

    @Test func ambiguousMovesArePairedInPathOrder() {
        var branch = BranchScene()
        branch.commit("a", ["general/a.md": one, "general/b.md": one, "general/c.md": one])
        branch.commit("b", ["general/y.md": one, "general/z.md": one], parents: ["a"])
        #expect(branch.scene.entries("general", "y").last?.fields["from"]?["id"] == .string("a"))
        #expect(branch.scene.entries("general", "z").last?.fields["from"]?["id"] == .string("b"))
        #expect(branch.scene.ids(.deletedMessages) == ["c"])
    }

    @Test func aFileWithoutFrontMatterIsAnIssueAndItsEarlierVersionStaysInTheHistory() {
        var branch = BranchScene()
        branch.commit("a", ["general/m.md": one, "general/x.md": "hello"])
        #expect(
            branch.scene.issues.map(\.reason) == [
                "\"general/x.md\" is no message: it has no front matter between two lines ---"
            ]
        )
        branch.commit("b", ["general/m.md": "gone wrong", "general/x.md": "hello"], parents: ["a"])
        #expect(branch.scene.ids(.messages).isEmpty && branch.scene.ids(.deletedMessages).isEmpty)
        #expect(branch.scene.history("general", "m") == ["created", "unreadable"])
        branch.commit("c", ["general/.gitkeep": ""], parents: ["b"])
        #expect(branch.scene.ids(.deletedMessages) == ["m"])
        #expect(branch.scene.row(.deletedMessages, "general", "m")?["content"] == .string("one"))
        #expect(branch.scene.issues.count == 2)
    }

    @Test func aFileWithoutTextIsAnIssue() {
        var branch = BranchScene()
        branch.commit("a", ["general/m.md": "---\u{0}"])
        #expect(branch.scene.issues.first?.reason.contains("holds no text of it") == true)
    }

    @Test func aMergeTellsOnlyWhatIsNoneOfItsParents() {
        var branch = BranchScene()
        branch.commit("a", ["general/m.md": one])
        branch.commit("b", ["general/m.md": one, "general/b.md": two], parents: ["a"])
        branch.commit("c", ["general/m.md": two], parents: ["a"])
        #expect(branch.scene.ids(.messages) == ["m"])
        #expect(branch.scene.ids(.deletedMessages).isEmpty)
        branch.commit("d", ["general/m.md": two, "general/b.md": two], parents: ["b", "c"])
        #expect(branch.scene.ids(.messages) == ["b", "m"])
        #expect(branch.scene.history("general", "m") == ["created", "edited"])
        #expect(branch.scene.history("general", "b") == ["created"])
    }

    @Test func aDeleteOnTheMergedBranchIsThatBranchs() {
        var branch = BranchScene()
        branch.commit("a", ["general/m.md": one, "general/k.md": two])
        branch.commit("b", ["general/k.md": two], parents: ["a"], by: "Bob")
        branch.commit(
            "c",
            ["general/m.md": one, "general/k.md": two, "general/n.md": BranchScene.file("n")],
            parents: ["a"]
        )
        #expect(branch.scene.ids(.messages).contains("m"))
        branch.commit(
            "d",
            ["general/k.md": two, "general/n.md": BranchScene.file("n")],
            parents: ["c", "b"],
            by: "Cy"
        )
        let row = branch.scene.row(.deletedMessages, "general", "m")
        #expect(row?["deletedBy"] == .string("Bob") && row?["sequence"] == .string("2"))
        #expect(branch.scene.history("general", "m") == ["created", "deleted"])
    }

    @Test func aMergeThatTakesNothingOfABranchDeletesItsMessages() {
        var branch = BranchScene()
        branch.commit("a", ["general/m.md": one])
        branch.commit("b", ["general/m.md": one, "general/b.md": two], parents: ["a"])
        branch.commit("c", ["general/m.md": one, "general/c.md": BranchScene.file("c")], parents: ["a"])
        branch.commit(
            "d",
            ["general/m.md": one, "general/c.md": BranchScene.file("c")],
            parents: ["c", "b"],
            by: "Cy"
        )
        let row = branch.scene.row(.deletedMessages, "general", "b")
        #expect(row?["deletedBy"] == .string("Cy") && row?["sequence"] == .string("4"))
        #expect(row?["content"] == .string("two"))
        #expect(branch.scene.history("general", "b") == ["created", "deleted"])
    }

    @Test func aRewrittenBranchDeletesWhatTheNewTipLacks() {
        var branch = BranchScene()
        branch.commit("a", ["general/m.md": one])
        branch.commit("b", ["general/m.md": two, "general/b.md": two], parents: ["a"])
        branch.commit("c", ["general/m.md": one, "general/c.md": BranchScene.file("c")], parents: ["a"])
        #expect(branch.scene.ids(.deletedMessages).isEmpty)
        branch.rewrite(from: "b", to: "c")
        #expect(branch.scene.ids(.messages) == ["c", "m"])
        let row = branch.scene.row(.deletedMessages, "general", "b")
        #expect(row?["sequence"] == .string("4") && row?["content"] == .string("two"))
        #expect(row?["deletedBy"] == nil)
        #expect(branch.scene.history("general", "m") == ["created", "edited", "edited"])
        branch.commit("d", ["general/m.md": one], parents: ["c"])
        #expect(branch.scene.ids(.deletedMessages) == ["b", "c"])
        branch.commit("e", ["general/m.md": one, "general/b.md": two], parents: ["d"])
        #expect(branch.scene.history("general", "b") == ["created", "deleted", "restored"])
    }

    @Test func aBranchThatIsSetForwardAgainRestoresWhatItBringsBack() {
        var branch = BranchScene()
        branch.commit("a", ["general/m.md": one])
        branch.commit("b", ["general/m.md": one, "general/b.md": one], parents: ["a"])
        branch.commit("c", ["general/m.md": one, "general/b.md": two], parents: ["b"])
        branch.rewrite(from: "c", to: "a")
        branch.rewrite(from: "a", to: "b")
        #expect(branch.scene.ids(.messages) == ["b", "m"])
        #expect(branch.scene.history("general", "b") == ["created", "edited", "deleted", "restored"])
        #expect(branch.scene.row(.messages, "general", "b")?["revisions"] == .int(3))
    }

    @Test func aRewriteDeletesWhatACommitBehindTheNewTipHadDeletedBefore() {
        var branch = BranchScene()
        branch.commit("a", ["general/m.md": one, "general/b.md": one])
        branch.commit("b", ["general/m.md": one], parents: ["a"], by: "Cy")
        branch.commit("c", ["general/m.md": one, "general/b.md": two], parents: ["b"])
        branch.rewrite(from: "c", to: "b")
        let row = branch.scene.row(.deletedMessages, "general", "b")
        #expect(row?["content"] == .string("two") && row?["deletedBy"] == nil && row?["sequence"] == .string("4"))
        #expect(branch.scene.history("general", "b") == ["created", "deleted", "restored", "deleted"])
    }

    /// Whether the branch comes to a tip from another that has deleted the message, or by one that never had it.
    @Test(arguments: [false, true]) func theTombstoneIsThatOfTheTipsOwnHistory(isByAnother: Bool) {
        var branch = BranchScene()
        let other = BranchScene.file("other")
        branch.commit("a", ["general/m.md": one])
        branch.commit("b", ["general/x.md": other], parents: ["a"], by: "Bo")
        branch.rewrite(from: "b", to: "a")
        branch.commit("o", ["general/m.md": two], parents: ["a"])
        branch.commit("p", ["general/x.md": other], parents: ["o"], by: "Cy")
        if isByAnother {
            branch.commit("z", ["general/y.md": other])
            branch.rewrite(from: "p", to: "z")
        }
        let left = branch.scene.row(.deletedMessages, "general", "m")
        #expect(left?["content"] == .string("two") && left?["sequence"] == .string("5"))
        branch.rewrite(from: isByAnother ? "z" : "p", to: "b")
        let row = branch.scene.row(.deletedMessages, "general", "m")
        #expect(row?["content"] == .string("one") && row?["deletedBy"] == .string("Bo"))
        #expect(row?["sequence"] == .string("2"))
    }

    @Test func aBranchBornAgainHasNothingInCommonWithTheOldOne() {
        var branch = BranchScene()
        branch.commit("a", ["general/m.md": one])
        branch.commit("z", ["random/n.md": two])
        branch.rewrite(from: "a", to: "z")
        #expect(branch.scene.ids(.channels) == ["random"])
        #expect(branch.scene.ids(.messages) == ["n"])
        #expect(branch.scene.ids(.deletedMessages) == ["m"])
    }

    @Test func aShallowCloneIsReadAsFarAsItGoes() {
        var branch = BranchScene()
        branch.commit("b", ["general/m.md": one], parents: ["unknown"])
        branch.commit("c", ["general/m.md": two], parents: ["b"])
        #expect(branch.scene.ids(.messages) == ["m"])
        #expect(branch.scene.issues.map(\.sequence.rawValue) == [1])
    }

    @Test func aChannelGoesWithItsLastFileAndComesBack() {
        var branch = BranchScene()
        branch.commit("a", ["general/m.md": one, "x": ""])
        branch.commit("b", ["x": ""], parents: ["a"])
        #expect(branch.scene.ids(.channels).isEmpty)
        #expect(branch.scene.row(.deletedMessages, "general", "m")?["cause"] == .string("deleted"))
        branch.commit("c", ["x": "", "general/.gitkeep": ""], parents: ["b"])
        #expect(branch.scene.ids(.channels) == ["general"])
    }

    @Test func repliesNameFilesWithOrWithoutSuffix() {
        var branch = BranchScene()
        branch.commit(
            "a",
            [
                "general/m.md": one, "general/n.md": BranchScene.file("n", replyTo: "m.md"),
                "general/o.md": BranchScene.file("o", replyTo: "n"),
                "general/p.md": BranchScene.file("p", replyTo: "nobody.md"),
            ]
        )
        let states = ["n", "o", "p"].map { branch.scene.row(.messages, "general", $0)?["replyTo"]?["state"]?.string }
        #expect(states == ["live", "live", "unknown"])
    }

    @Test(arguments: ["", "{", "[]", "{}", "{\"commit\":\"a\"}", "{\"commit\":\"a\",\"parents\":[{}]}", "\u{0}"])
    func whatIsNoCommitIsAnIssue(payload: String) {
        var branch = BranchScene()
        branch.record(Array(payload.utf8), "git.commit/1")
        branch.record(Array(payload.utf8), "git.rewrite/1")
        #expect(branch.scene.issues.count == 2)
    }

    @Test func aCommitGivenTwiceChangesNothing() {
        var branch = BranchScene()
        branch.commit("a", ["general/m.md": one])
        branch.commit("b", ["general/m.md": two], parents: ["a"])
        let before = branch.scene.document
        branch.commit("a", ["general/m.md": one])
        #expect(branch.scene.document == before)
    }
}
