import EventLog
import Foundation
import TestSupport
import Testing

@testable import Ingest

@Suite struct GitOddRepositoryTests {
    private func document(_ draft: DraftEvent?) throws -> [String: Any] {
        try #require(try draft?.object())
    }

    private func error(_ body: () throws -> Void) -> IngestError? {
        do {
            try body()
            return nil
        } catch {
            return error as? IngestError
        }
    }

    /// Stores a commit object as given and points the branch at it.
    private func store(_ object: [UInt8], in scratch: GitScratch) throws -> String {
        let id = try scratch.git("hash-object", "-t", "commit", "-w", "--literally", "--stdin", input: object)
        try scratch.git("update-ref", "refs/heads/main", id)
        return id
    }

    private func commitObject(_ scratch: GitScratch, author: [UInt8], headers: String = "", message: [UInt8]) throws
        -> [UInt8]
    {
        let tree = try scratch.git("mktree")
        return Array("tree \(tree)\nauthor ".utf8) + author + Array("\ncommitter ".utf8) + author
            + Array("\n\(headers)\n".utf8) + message
    }

    @Test func headersBesideTheUsualOnesAreNoPartOfTheMessage() throws {
        let scratch = try GitScratch()
        let signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n author Eve <e@x> 1 +0000\n -----END-----\n"
        let object = try commitObject(
            scratch,
            author: Array("J\u{F6}rg <j@x> 12 +0000".utf8),
            headers: "encoding ISO-8859-1\nmergetag object x\n type commit\n\(signature)",
            message: [0x67, 0x72, 0xFC, 0xDF, 0x00, 0x0A]
        )
        let id = try store(object, in: scratch)
        let draft = try #require(try GitSource(scratch).allDrafts().first)
        #expect(draft.key?.rawValue == id)
        #expect(draft.text.contains(#""message":"gr%FC%DF\u0000\n""#))
        #expect(draft.text.contains(#""author":{"name":"Jörg","email":"j@x","time":12}"#))
    }

    @Test func oddPathsAreKept() throws {
        let scratch = try GitScratch()
        let blob = try scratch.git("hash-object", "-w", "--stdin", input: Array("x".utf8))
        var listing: [UInt8] = []
        for path in ["new\nline", "quote\"back\\slash", "tab\t", "ü", "-rf", " "].map({ Array($0.utf8) }) + [
            [0x66, 0xFF]
        ] {
            listing += Array("100644 blob \(blob)\t".utf8) + path + [0]
        }
        let tree = try scratch.git("mktree", "-z", input: listing)
        let object = "tree \(tree)\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\n\nm"
        _ = try store(Array(object.utf8), in: scratch)
        let draft = try #require(try GitSource(scratch).allDrafts().first)
        let files = try #require(try draft.object()["files"] as? [[String: Any]])
        #expect(
            files.compactMap { $0["path"] as? String }
                == [" ", "-rf", "f%FF", "new\nline", "quote\"back\\slash", "tab\t", "ü"]
        )
        #expect(draft.text.contains(#""path":"f%FF","encoded":true,"to":"#))
        #expect(draft.text.contains(#""path":"f%FF","encoded":true,"blob":"#))
    }

    @Test func linksSubmodulesBinariesAndModesAreListed() throws {
        let scratch = try GitScratch()
        try scratch.write("binary", [0x50, 0x4E, 0x00])
        try scratch.write("latin", [0xFC])
        try scratch.write("run", "#!/bin/sh\n")
        try FileManager.default.createSymbolicLink(atPath: scratch.path + "/link", withDestinationPath: "run")
        try scratch.git("add", "-A")
        let other = String(repeating: "5", count: 40)
        try scratch.git("update-index", "--add", "--cacheinfo", "160000,\(other),module")
        try scratch.git("commit", "-q", "-m", "one")
        try scratch.write(".gitmodules", "[submodule \"module\"]\n\tpath = module\n\turl = ./x\n\tignore = all\n")
        try scratch.git("add", ".gitmodules")
        try scratch.git("update-index", "--cacheinfo", "160000,\(String(repeating: "6", count: 40)),module")
        try scratch.git("update-index", "--chmod=+x", "run")
        try scratch.git("commit", "-q", "-m", "two")
        let drafts = try GitSource(scratch).allDrafts()
        let first = try #require(try document(drafts.first)["files"] as? [[String: Any]])
        #expect(first.compactMap { $0["path"] as? String } == ["binary", "latin", "link", "module", "run"])
        #expect(first.map { $0["text"] as? String } == [nil, nil, "run", nil, "#!/bin/sh\n"])
        #expect(first.map { $0["size"] as? Int } == [3, 1, 3, nil, 10])
        #expect(first[3]["blob"] as? String == other)
        let second = try #require(try document(drafts.last)["parents"] as? [[String: Any]])
        let changes = try #require(second[0]["changes"] as? [[String: Any]])
        #expect(changes.compactMap { $0["path"] as? String } == [".gitmodules", "module", "run"])
        #expect((changes[2]["to"] as? [String: Any])?["mode"] as? String == "100755")
    }

    @Test func emptyCommitsSeveralRootsAndOctopusMergesAreListed() throws {
        let scratch = try GitScratch()
        try scratch.commit("empty root")
        try scratch.commit("")
        for name in ["a", "b"] {
            try scratch.git("checkout", "-q", "--orphan", name)
            try scratch.git("reset", "-q", "--hard")
            try scratch.write(name, name)
            try scratch.commit(name)
        }
        try scratch.git("checkout", "-q", "main")
        let tree = try scratch.git("merge-base", "main", "main")
        let octopus = try scratch.git(
            "commit-tree",
            "b^{tree}",
            "-p",
            tree,
            "-p",
            "a",
            "-p",
            "b",
            "-m",
            "octopus"
        )
        try scratch.git("update-ref", "refs/heads/main", octopus)
        let drafts = try GitSource(scratch).allDrafts()
        #expect(drafts.count == 5)
        let last = try document(drafts.last)
        let parents = try #require(last["parents"] as? [[String: Any]])
        #expect(parents.map { ($0["changes"] as? [Any])?.count } == [1, 2, 0])
        let empty = drafts.filter { $0.text.contains(#""subject":"","message":"","parents""#) }
        #expect(empty.count == 1)
        #expect(empty[0].text.hasSuffix(#""changes":[]}],"files":[]}"#))
    }

    @Test func aFileOverTheLimitHasNoTextAndSmallerOnesDo() throws {
        let scratch = try GitScratch()
        try scratch.write("a-large", [UInt8](repeating: 0x61, count: EnvelopeLimits.payloadBytesMax + 1))
        try scratch.write("b-nearly", [UInt8](repeating: 0x62, count: EnvelopeLimits.payloadBytesMax - 4_000))
        try scratch.write("c-too-much", [UInt8](repeating: 0x63, count: 8_000))
        try scratch.write("d-small", "small")
        try scratch.commit("sizes")
        let draft = try #require(try GitSource(scratch).allDrafts().first)
        #expect(draft.kind == .gitCommit)
        #expect(draft.payload.count <= EnvelopeLimits.payloadBytesMax)
        let files = try #require(try draft.object()["files"] as? [[String: Any]])
        #expect(
            files.map { ($0["text"] as? String)?.utf8.count } == [nil, EnvelopeLimits.payloadBytesMax - 4_000, nil, 5]
        )
        #expect(files[0]["size"] as? Int == EnvelopeLimits.payloadBytesMax + 1)
    }

    @Test func aMessageOverTheLimitLeavesLengthAndHash() throws {
        let scratch = try GitScratch()
        let object = try commitObject(
            scratch,
            author: Array("A <a> 1 +0000".utf8),
            message: [UInt8](repeating: 0x61, count: EnvelopeLimits.payloadBytesMax)
        )
        let id = try store(object, in: scratch)
        let draft = try #require(try GitSource(scratch).allDrafts().first)
        #expect(draft.kind == .recorderOversize)
        #expect(draft.key?.rawValue == id)
        #expect(draft.attributes["of"] == "git.commit/1")
    }

    @Test func aShallowCloneBeginsWithWhatItHas() throws {
        let scratch = try GitScratch()
        for text in ["1", "2", "3"] {
            try scratch.write("a", text)
            try scratch.commit(text)
        }
        let path = scratch.directory.path("shallow")
        try GitScratch.run(["clone", "-q", "--depth", "2", "file://\(scratch.path)", path])
        let source = GitSource(repository: path, name: try SourceName("s"), clock: { Timestamp(seconds: 0) })
        let drafts = try source.allDrafts()
        let whole = try GitSource(scratch).allDrafts()
        #expect(drafts.compactMap(\.key) == whole.suffix(2).compactMap(\.key))
        #expect(drafts.last?.payload == whole.last?.payload)
        let oldest = try document(drafts.first)
        #expect(oldest["missingParents"] as? [String] == [try #require(whole.first?.key).rawValue])
        let parents = try #require(oldest["parents"] as? [[String: Any]])
        #expect(parents.count == 1)
        #expect(parents[0]["commit"] == nil)
        #expect((parents[0]["changes"] as? [Any])?.count == 1)
    }

    @Test func bareAndSHA256RepositoriesAreRead() throws {
        let scratch = try GitScratch(arguments: ["-b", "main", "--object-format=sha256"])
        try scratch.write("a", "1")
        let id = try scratch.commit("one")
        try scratch.write("a", "2")
        try scratch.commit("two")
        #expect(id.count == 64)
        let drafts = try GitSource(scratch).allDrafts()
        #expect(drafts.count == 2)
        #expect(drafts.first?.key?.rawValue == id)
        let bare = scratch.directory.path("bare.git")
        try GitScratch.run(["clone", "-q", "--bare", scratch.path, bare])
        let source = GitSource(
            repository: bare,
            name: try SourceName("vibe"),
            clock: { Timestamp(seconds: 1_767_300_000) }
        )
        #expect(try source.allDrafts() == drafts)
    }

    @Test func branchesAreFoundLocallyAndThenAtTheOrigin() throws {
        let scratch = try GitScratch()
        let main = try scratch.commit("main")
        try scratch.git("checkout", "-q", "-b", "chat/ünï")
        let chat = try scratch.commit("chat")
        try scratch.git("checkout", "-q", "main")
        let clone = scratch.directory.path("clone")
        try GitScratch.run(["clone", "-q", scratch.path, clone])
        func tip(_ branch: String?) throws -> String? {
            let source = GitSource(
                repository: clone,
                branch: branch,
                name: try SourceName("s"),
                clock: { Timestamp(seconds: 0) }
            )
            return try source.allDrafts().last?.key?.rawValue
        }
        #expect(try tip(nil) == main)
        #expect(try tip("main") == main)
        #expect(try tip("chat/ünï") == chat)
        #expect(try tip("origin/chat/ünï") == chat)
        #expect(try tip("refs/remotes/origin/main") == main)
        try GitScratch.run(["-C", clone, "checkout", "-q", "--detach", chat])
        #expect(try tip(nil) == chat)
    }

    @Test(arguments: ["none", "main~1", "main^{tree}", "--all", "-h", "", "HEAD", "main:a", "ma*", "../main", "a\nb"])
    func whatIsNoBranchIsRefused(branch: String) throws {
        let scratch = try GitScratch()
        try scratch.commit("one")
        try scratch.commit("two")
        let error = error { _ = try GitSource(scratch, branch: branch).allDrafts() }
        #expect(error?.code == .noSuchBranch)
        #expect(error?.advice.contains("main") == true)
    }

    @Test func whatIsNoRepositoryIsRefused() throws {
        let scratch = try GitScratch()
        #expect(error { _ = try GitSource(scratch).allDrafts() }?.code == .noSuchBranch)
        try scratch.write("folder/a", "1")
        try scratch.commit("one")
        for path in [scratch.path + "/folder", scratch.path + "/folder/a", scratch.directory.path("none"), "", "-x"] {
            let source = GitSource(repository: path, name: try SourceName("s"), clock: { Timestamp(seconds: 0) })
            #expect(error { _ = try source.allDrafts() }?.code == .notARepository, "\(path)")
        }
        let source = GitSource(
            repository: scratch.path,
            name: try SourceName("s"),
            environment: ["PATH": "/nonexistent"],
            clock: { Timestamp(seconds: 0) }
        )
        #expect(error { _ = try source.allDrafts() }?.code == .gitMissing)
    }

    @Test func aMissingObjectIsNamed() throws {
        let scratch = try GitScratch()
        try scratch.write("a", "1")
        try scratch.commit("one")
        let blob = try scratch.git("rev-parse", "HEAD:a")
        let object = "\(scratch.path)/.git/objects/\(blob.prefix(2))/\(blob.dropFirst(2))"
        try FileManager.default.removeItem(atPath: object)
        #expect(error { _ = try GitSource(scratch).allDrafts() }?.code == .brokenRepository)
        try Data("garbage".utf8).write(to: URL(fileURLWithPath: object))
        #expect(error { _ = try GitSource(scratch).allDrafts() }?.code == .brokenRepository)
        let tree = try scratch.git("rev-parse", "HEAD^{tree}")
        try FileManager.default.removeItem(
            atPath: "\(scratch.path)/.git/objects/\(tree.prefix(2))/\(tree.dropFirst(2))"
        )
        let broken = error { _ = try GitSource(scratch).allDrafts() }
        #expect(broken?.code == .brokenRepository)
        #expect(broken?.advice.contains("fsck") == true)
    }

    /// Also while git still writes another file, larger than a pipe holds.
    @Test(arguments: [0, 1 << 20])
    func aMissingFileIsNamedWithTheWayOut(otherBytes: Int) throws {
        let scratch = try GitScratch()
        try scratch.write("general/a.md", "a")
        if otherBytes > 0 { try scratch.write("general/b.md", String(repeating: "b", count: otherBytes)) }
        let commit = try scratch.commit("one")
        let blob = try scratch.git("rev-parse", "HEAD:general/a.md")
        try FileManager.default.removeItem(
            atPath: "\(scratch.path)/.git/objects/\(blob.prefix(2))/\(blob.dropFirst(2))"
        )
        let broken = try #require(error { _ = try GitSource(scratch).allDrafts() })
        #expect(broken.reason == "read a file of commit \(commit): object \(blob) is missing")
        #expect(broken.advice.contains("fetch --refetch"))
    }

    /// No log needs such a commit, and whoever made the repository must not choose how much memory is used (C17).
    @Test func aCommitThatIsTooLargeIsNamed() throws {
        let scratch = try GitScratch()
        let head = try scratch.commit("one")
        let text = Array(try scratch.git("cat-file", "commit", head).utf8)
        let id = try store(text + [UInt8](repeating: 0x78, count: GitObjectReader.sizeMax), in: scratch)
        try scratch.git("update-ref", "refs/heads/main", id)
        let broken = try #require(error { _ = try GitSource(scratch).allDrafts() })
        let count = text.count + GitObjectReader.sizeMax
        #expect(broken.reason == "commit \(id) has \(count) bytes, at most 67108864 are read")
        #expect(broken.advice == "record a branch without it, or rewrite its message")
    }

    @Test func theRepositorysConfigurationChangesNothing() throws {
        let scratch = try GitScratch()
        try scratch.write("general/a.md", String(repeating: "line\n", count: 50))
        try scratch.commit("one")
        try scratch.git("mv", "general/a.md", "general/ü.md")
        try scratch.commit("two")
        let plain = try GitSource(scratch).allDrafts()
        let settings = [
            ("diff.renames", "copies"), ("core.quotePath", "true"), ("diff.noprefix", "true"),
            ("log.showRoot", "false"),
            ("core.abbrev", "4"), ("diff.external", "false"), ("core.pager", "false"),
            ("diff.orderFile", "/nonexistent"),
            ("diff.relative", "true"), ("diff.ignoreSubmodules", "all"), ("color.ui", "always"),
            ("core.fsmonitor", "false"),
        ]
        for (name, value) in settings { try scratch.git("config", name, value) }
        try scratch.write(".git/info/attributes", "*.md diff=x\n")
        try scratch.git("config", "diff.x.textconv", "false")
        #expect(try GitSource(scratch).allDrafts() == plain)
        #expect(plain.count == 2)
        let changes = try #require(
            (try document(plain.last)["parents"] as? [[String: Any]])?.first?["changes"] as? [[String: Any]]
        )
        #expect(changes.count == 2)
    }

    @Test func manyCommitsCrossWindowsInOrder() throws {
        let scratch = try GitScratch()
        var stream = ""
        for number in 1...400 {
            let message = "message \(number)"
            stream += "commit refs/heads/main\nmark :\(number)\ncommitter A <a@b> \(number) +0000\n"
            stream += "data \(message.utf8.count)\n\(message)\n"
            stream += "M 100644 inline general/\(number % 7).md\ndata \(message.utf8.count)\n\(message)\n\n"
        }
        try scratch.git("fast-import", "--quiet", input: Array(stream.utf8))
        let drafts = try GitSource(scratch).allDrafts()
        let subjects = try drafts.map { try $0.object()["subject"] as? String }
        #expect(subjects == (1...400).map { "message \($0)" })
        #expect(try drafts.allSatisfy { ((try $0.object()["files"] as? [Any])?.count ?? 0) == 1 })
    }

    @Test func aSourceThatIsDroppedHalfWayEndsItsPrograms() throws {
        let scratch = try GitScratch()
        try scratch.write("large", [UInt8](repeating: 0x61, count: 4 << 20))
        try scratch.commit("one")
        try scratch.write("large", [UInt8](repeating: 0x62, count: 4 << 20))
        try scratch.commit("two")
        for _ in 0..<5 {
            var drafts = try GitSource(scratch).drafts(after: .empty)
            _ = try drafts.next()
        }
    }

    @Test(.needs(shared: "data/vibechannel.bundle"))
    func theChatBranchIsReadWhole() throws {
        let bundle = try #require(PackageRoot.shared("data/vibechannel.bundle")).path
        let directory = try TemporaryDirectory()
        try GitScratch.run(["clone", "-q", "-b", "vibechannel", bundle, directory.path("V")])
        let source = GitSource(
            repository: directory.path("V"),
            branch: "vibechannel",
            name: try SourceName("vibe"),
            clock: { Timestamp(seconds: 0) }
        )
        let drafts = try source.allDrafts()
        #expect(drafts.count == 31)
        #expect(drafts.last?.key?.rawValue.hasPrefix("6e44b3b") == true)
        #expect(drafts.allSatisfy { $0.kind == .gitCommit })
    }

    private static let repositories =
        [".build-tests/repositories", ".build/repositories"].map { PackageRoot.url.appendingPathComponent($0) }
        .first { FileManager.default.fileExists(atPath: $0.path) } ?? PackageRoot.url
    private static let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil
    /// Of the dependencies those with short histories; `EVENTLOG_LONG_TESTS` has all.
    private static let names = ((try? FileManager.default.contentsOfDirectory(atPath: repositories.path)) ?? [])
        .filter { name in isLong || ["swift-log-", "swift-system-", "swift-atomics-"].contains { name.hasPrefix($0) } }

    @Test(.enabled(if: !names.isEmpty, "it reads the repositories of the last build"))
    func theRepositoriesOfTheDependenciesAreRead() throws {
        for name in Self.names.sorted() {
            let source = GitSource(
                repository: Self.repositories.appendingPathComponent(name).path,
                name: try SourceName(name),
                clock: { Timestamp(seconds: 0) }
            )
            #expect(try source.allDrafts().isEmpty == false, "\(name)")
        }
    }
}
