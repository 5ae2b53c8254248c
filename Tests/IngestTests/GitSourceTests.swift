import EventLog
import Foundation
import TestSupport
import Testing

@testable import Ingest

@Suite struct GitSourceTests {
    @Test func aCommitIsADeterministicDocument() throws {
        let scratch = try GitScratch()
        try scratch.write("general/a.md", "hi \"there\"\n")
        let root = try scratch.commit("Message from ada\n\nbody line\n")
        let drafts = try GitSource(scratch).allDrafts()
        let blob = try scratch.git("rev-parse", "HEAD:general/a.md")
        let time = try scratch.git("show", "-s", "--format=%at", "HEAD")
        let committed = try scratch.git("show", "-s", "--format=%ct", "HEAD")
        #expect(drafts.count == 1)
        #expect(drafts[0].kind.rawValue == "git.commit/1")
        #expect(drafts[0].key?.rawValue == root)
        #expect(drafts[0].recordedAt == Timestamp(seconds: 1_767_300_000))
        #expect(
            drafts[0].text
                == #"{"commit":"\#(root)","author":{"name":"Ada","email":"ada@example.org","time":\#(time)},"#
                + #""committer":{"name":"Bo","email":"bo@example.org","time":\#(committed)},"#
                + #""subject":"Message from ada","message":"Message from ada\n\nbody line\n","#
                + #""parents":[{"changes":[{"path":"general/a.md","to":{"mode":"100644","blob":"\#(blob)"}}]}],"#
                + #""files":[{"path":"general/a.md","blob":"\#(blob)","size":11,"text":"hi \"there\"\n"}]}"#
        )
        #expect(try GitSource(scratch).allDrafts() == drafts)
    }

    @Test func commitsComeParentsFirstAndMergesCompareWithEachParent() throws {
        let scratch = try GitScratch()
        try scratch.write("a", "1")
        let root = try scratch.commit("root")
        try scratch.git("checkout", "-q", "-b", "side")
        try scratch.write("b", "2")
        let side = try scratch.commit("side")
        try scratch.git("checkout", "-q", "main")
        try scratch.write("c", "3")
        let main = try scratch.commit("main")
        try scratch.git("merge", "-q", "--no-ff", "-m", "merge", "side")
        let merge = try scratch.git("rev-parse", "HEAD")
        let drafts = try GitSource(scratch).allDrafts()
        #expect(drafts.first?.key?.rawValue == root)
        #expect(drafts.last?.key?.rawValue == merge)
        #expect(Set(drafts.compactMap(\.key?.rawValue)) == [root, side, main, merge])
        let document = try #require(try drafts.last?.object())
        let parents = try #require(document["parents"] as? [[String: Any]])
        #expect(parents.map { $0["commit"] as? String } == [main, side])
        let paths = parents.map { ($0["changes"] as? [[String: Any]] ?? []).compactMap { $0["path"] as? String } }
        #expect(paths == [["b"], ["c"]])
        let files = try #require(document["files"] as? [[String: Any]])
        #expect(files.compactMap { $0["text"] as? String } == ["2", "3"])
    }

    @Test func aMergeThatKeepsOneSideStillComparesWithBoth() throws {
        let scratch = try GitScratch()
        try scratch.write("a", "1")
        try scratch.commit("root")
        try scratch.git("checkout", "-q", "-b", "side")
        try scratch.write("b", "2")
        try scratch.commit("side")
        try scratch.git("checkout", "-q", "main")
        try scratch.write("c", "3")
        try scratch.commit("main")
        try scratch.git("merge", "-q", "-s", "ours", "-m", "ours", "side")
        let document = try #require(try GitSource(scratch).allDrafts().last?.object())
        let parents = try #require(document["parents"] as? [[String: Any]])
        let changes = parents.map { $0["changes"] as? [[String: Any]] ?? [] }
        #expect(changes[0].isEmpty)
        #expect(changes[1].compactMap { $0["path"] as? String } == ["b", "c"])
        #expect(changes[1][0]["to"] == nil)
    }

    @Test func aLaterRunTakesOnlyWhatIsNew() throws {
        let scratch = try GitScratch()
        try scratch.write("a", "1")
        try scratch.commit("one")
        let first = try GitSource(scratch).all()
        guard case .draft(_, let bookmark?)? = first.last else {
            Issue.record("the last draft has no bookmark")
            return
        }
        let held = try GitSource(scratch).allDrafts()
        let past = history(of: held, bookmark: String(decoding: bookmark, as: UTF8.self))
        #expect(try GitSource(scratch).all(after: past).isEmpty)
        try scratch.write("a", "2")
        let second = try scratch.commit("two")
        #expect(try GitSource(scratch).allDrafts(after: past).compactMap(\.key?.rawValue) == [second])
        // Without the bookmark the log itself says where it stands.
        #expect(try GitSource(scratch).allDrafts(after: history(of: held)).compactMap(\.key?.rawValue) == [second])
    }

    @Test func aForcePushGivesTheNewCommitsAndThenARewrite() throws {
        let scratch = try GitScratch()
        try scratch.write("general/a.md", "1")
        try scratch.commit("root")
        try scratch.write("general/b.md", "old")
        let old = try scratch.commit("old")
        let held = try GitSource(scratch).allDrafts()
        try scratch.git("reset", "-q", "--hard", "HEAD~1")
        try scratch.write("general/c.md", "new")
        let new = try scratch.commit("new")
        let drafts = try GitSource(scratch).allDrafts(after: history(of: held, bookmark: old))
        #expect(drafts.compactMap(\.key?.rawValue) == [new, "rewrite/\(old)/\(new)/1"])
        let document = try #require(try drafts.last?.object())
        #expect(document["from"] as? String == old)
        #expect(document["to"] as? String == new)
        let changes = try #require(document["changes"] as? [[String: Any]])
        #expect(changes.compactMap { $0["path"] as? String } == ["general/b.md", "general/c.md"])
        let files = try #require(document["files"] as? [[String: Any]])
        #expect(files.compactMap { $0["text"] as? String } == ["new"])
        #expect(try GitSource(scratch).allDrafts(after: history(of: held + drafts)).isEmpty)
    }

    @Test func settingTheTipBackAndForthIsRecordedEachTime() throws {
        let scratch = try GitScratch()
        try scratch.write("a", "1")
        let one = try scratch.commit("one")
        try scratch.write("a", "2")
        let two = try scratch.commit("two")
        var held = try GitSource(scratch).allDrafts()
        for (number, tip) in [one, two, one, two].enumerated() {
            try scratch.git("reset", "-q", "--hard", tip)
            let drafts = try GitSource(scratch).allDrafts(after: history(of: held))
            let from = tip == one ? two : one
            let key = "rewrite/\(from)/\(tip)/\(number / 2 + 1)"
            let rewrites = drafts.filter { $0.kind.rawValue == "git.rewrite/1" }
            #expect(rewrites.compactMap(\.key?.rawValue) == [key])
            #expect(drafts.last == rewrites.last)
            held += rewrites
        }
    }

    @Test func aRewriteFromATipThatIsGoneComparesWithNothing() throws {
        let scratch = try GitScratch()
        try scratch.write("a", "1")
        let tip = try scratch.commit("one")
        let gone = String(repeating: "ab", count: 20)
        let drafts = try GitSource(scratch).allDrafts(after: history(of: [], bookmark: gone))
        #expect(drafts.compactMap(\.key?.rawValue) == [tip, "rewrite/\(gone)/\(tip)/1"])
        let document = try #require(try drafts.last?.object())
        #expect(document["fromMissing"] as? Bool == true)
        #expect((document["changes"] as? [[String: Any]])?.count == 1)
    }

    @Test func aBranchMadeAgainWithoutCommonHistoryIsARewrite() throws {
        let scratch = try GitScratch()
        try scratch.write("general/a.md", "1")
        let old = try scratch.commit("old")
        let held = try GitSource(scratch).allDrafts()
        try scratch.git("checkout", "-q", "--orphan", "fresh")
        try scratch.git("rm", "-q", "-r", "--force", ".")
        try scratch.write("general/b.md", "2")
        let root = try scratch.commit("root")
        try scratch.write("general/b.md", "3")
        let new = try scratch.commit("new")
        try scratch.git("branch", "-q", "-M", "fresh", "main")
        let drafts = try GitSource(scratch).allDrafts(after: history(of: held, bookmark: old))
        #expect(drafts.compactMap(\.key?.rawValue) == [root, new, "rewrite/\(old)/\(new)/1"])
        let changes = try #require(try drafts.last?.object()["changes"] as? [[String: Any]])
        #expect(changes.compactMap { $0["path"] as? String } == ["general/a.md", "general/b.md"])
        #expect(changes[0]["to"] == nil)
    }
}
