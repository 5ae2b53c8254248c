import EventLog
import Foundation
import TestSupport
import Testing

@testable import Ingest

/// Repositories whose owner wants their reader to run a program, to show another file, or to believe a false history.
@Suite struct GitClosedWorldTests {
    private func refusal(_ body: () throws -> Void) -> IngestError? {
        do {
            try body()
            return nil
        } catch {
            return error as? IngestError
        }
    }

    private func source(
        _ path: String,
        environment: [String: String]? = nil,
        allowsAlternates: Bool = false
    ) throws -> GitSource {
        GitSource(
            repository: path,
            name: try SourceName("vibe"),
            environment: environment,
            allowsAlternates: allowsAlternates,
            clock: { Timestamp(seconds: 1_767_300_000) }
        )
    }

    private func threeCommits() throws -> (scratch: GitScratch, ids: [String]) {
        let scratch = try GitScratch()
        let ids = try ["one", "two", "three"].map { text in
            try scratch.write("general/a.md", text)
            return try scratch.commit(text)
        }
        return (scratch, ids)
    }

    // MARK: - Programs

    @Test func noSettingOrHookOfARepositoryRunsAProgram() throws {
        let (scratch, _) = try threeCommits()
        try scratch.write(".gitattributes", "* diff=x filter=x merge=x\n")
        try scratch.commit("attributes")
        let trap = try Trap(in: scratch.directory)
        // The trap works, or its silence would prove nothing.
        _ = try? scratch.git("-c", "core.fsmonitor=\(trap.script)", "status")
        #expect(trap.wasSprung)
        try trap.reset()
        let plain = try GitSource(scratch).allDrafts()
        try trap.set(in: scratch)
        #expect(throws: (any Error).self) { try scratch.git("rev-parse", "HEAD") }
        #expect(try GitSource(scratch).allDrafts() == plain)
        #expect(plain.count == 4)
        #expect(!trap.wasSprung)
    }

    @Test func theEnvironmentAndRelativeFoldersOfTheSearchPathAreNotPassedOn() throws {
        let (scratch, _) = try threeCommits()
        let plain = try GitSource(scratch).allDrafts()
        let trap = try Trap(in: scratch.directory)
        var environment = [
            "PATH": ".:bin::\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")", "HOME": scratch.path,
            "XDG_CONFIG_HOME": scratch.path, "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor",
            "GIT_CONFIG_VALUE_0": trap.script, "GIT_DIR": "/nonexistent", "GIT_TRACE": trap.marker,
        ]
        for name in ["EXTERNAL_DIFF", "PAGER", "SSH", "ASKPASS", "EDITOR", "EXEC_PATH", "PROXY_COMMAND", "SSH_COMMAND"]
        {
            environment["GIT_\(name)"] = trap.script
        }
        #expect(try source(scratch.path, environment: environment).allDrafts() == plain)
        #expect(!trap.wasSprung)
    }

    @Test func whatAPartialCloneLacksIsNotFetched() throws {
        let (scratch, _) = try threeCommits()
        try scratch.git("config", "uploadpack.allowFilter", "true")
        let clone = scratch.directory.path("partial")
        try GitScratch.run(["clone", "-q", "--no-checkout", "--filter=blob:none", "file://\(scratch.path)", clone])
        let trap = try Trap(in: scratch.directory)
        for (name, value) in [("remote.origin.url", "ext::\(trap.script)"), ("protocol.allow", "always")] {
            try GitScratch.run(["-C", clone, "config", name, value])
        }
        let error = refusal { _ = try source(clone).allDrafts() }
        #expect(error?.code == .brokenRepository)
        #expect(!trap.wasSprung)
    }

    // MARK: - False histories

    @Test func graftsAndReplacementsMakeNoFalseParents() throws {
        let (scratch, ids) = try threeCommits()
        let plain = try GitSource(scratch).allDrafts()
        let lie = "\(ids[2]) \(ids[0])"
        try scratch.write(".git/info/grafts", lie + "\n")
        #expect(try scratch.git("rev-list", "--parents", "-1", "HEAD") == lie)
        #expect(try GitSource(scratch).allDrafts() == plain)
        try FileManager.default.removeItem(atPath: scratch.path + "/.git/info/grafts")
        try scratch.git("replace", "--graft", ids[2], ids[0])
        #expect(try scratch.git("rev-list", "--parents", "-1", "HEAD") == lie)
        #expect(try GitSource(scratch).allDrafts() == plain)
    }

    @Test func aLyingCommitGraphMakesNoFalseParents() throws {
        let (scratch, ids) = try threeCommits()
        let plain = try GitSource(scratch).allDrafts()
        try scratch.git("commit-graph", "write", "--reachable")
        let path = scratch.path + "/.git/objects/info/commit-graph"
        var graph = try Array(Data(contentsOf: URL(fileURLWithPath: path)))
        try CommitGraph.setParent(of: ids[2], to: ids[0], in: &graph)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        try Data(graph).write(to: URL(fileURLWithPath: path))
        #expect(try scratch.git("rev-list", "--parents", "-1", "HEAD") == "\(ids[2]) \(ids[0])")
        #expect(try GitSource(scratch).allDrafts() == plain)
    }

    @Test func aCommitUnderAnothersIdIsRefused() throws {
        let (scratch, ids) = try threeCommits()
        func path(_ id: String) -> String { "\(scratch.path)/.git/objects/\(id.prefix(2))/\(id.dropFirst(2))" }
        try FileManager.default.removeItem(atPath: path(ids[1]))
        try FileManager.default.copyItem(atPath: path(ids[0]), toPath: path(ids[1]))
        let error = refusal { _ = try GitSource(scratch).allDrafts() }
        #expect(error?.code == .brokenRepository)
        #expect(error?.reason.contains(ids[1]) == true)
    }

    @Test func aListOfShallowCommitsThatLiesHidesNoParent() throws {
        let (scratch, ids) = try threeCommits()
        try scratch.write(".git/shallow", ids[2] + "\n")
        let drafts = try GitSource(scratch).allDrafts()
        #expect(drafts.compactMap(\.key?.rawValue) == [ids[2]])
        #expect(try drafts.first?.object()["missingParents"] as? [String] == [ids[1]])
    }

    @Test func parentsAreThoseThatGitReads() throws {
        let (scratch, ids) = try threeCommits()
        let tree = try scratch.git("rev-parse", "HEAD^{tree}")
        let person = "A <a> 1 +0000"
        let object = """
            tree \(tree)
            parent \(ids[2])
            parent \(ids[2])
            author \(person)
            parent \(ids[0])
            committer \(person)
            parent \(ids[1])

            m
            """
        let id = try scratch.git(
            "hash-object",
            "-t",
            "commit",
            "-w",
            "--literally",
            "--stdin",
            input: Array(object.utf8)
        )
        try scratch.git("update-ref", "refs/heads/main", id)
        let drafts = try GitSource(scratch).allDrafts()
        #expect(drafts.count == 4)
        let parents = try #require(try drafts.last?.object()["parents"] as? [[String: Any]])
        #expect(parents.map { $0["commit"] as? String } == [ids[2], ids[2]])
    }

    // MARK: - Other folders

    @Test func whatLeadsOutsideIsReadOnlyWhereItIsAllowed() throws {
        let (scratch, _) = try threeCommits()
        try scratch.git("repack", "-q", "-a", "-d")
        let plain = try GitSource(scratch).allDrafts()
        for (name, path) in try Outside.all(of: scratch) {
            let error = refusal { _ = try source(path).allDrafts() }
            #expect(error?.code == .leadsOutside, "\(name)")
            #expect(error?.advice.contains("--allow-alternates") == true)
            #expect(error?.reason.contains(scratch.path) == false)
            #expect(try source(path, allowsAlternates: true).allDrafts() == plain, "\(name)")
        }
    }

    @Test func aGitFileAndAlternatesWithinTheFolderAreFine() throws {
        let (scratch, _) = try threeCommits()
        let plain = try GitSource(scratch).allDrafts()
        let path = scratch.path
        try FileManager.default.moveItem(atPath: path + "/.git", toPath: path + "/inner")
        try Data("gitdir: inner\n".utf8).write(to: URL(fileURLWithPath: path + "/.git"))
        #expect(try GitSource(scratch).allDrafts() == plain)
        try FileManager.default.moveItem(atPath: path + "/inner/objects", toPath: path + "/more")
        for folder in ["inner/objects/info", "inner/objects/pack"] {
            try FileManager.default.createDirectory(atPath: "\(path)/\(folder)", withIntermediateDirectories: true)
        }
        try Data("../../more\n".utf8).write(to: URL(fileURLWithPath: path + "/inner/objects/info/alternates"))
        #expect(try GitSource(scratch).allDrafts() == plain)
    }

    @Test func whatIsNoPlainFileIsNeitherWaitedForNorRead() throws {
        let names = [
            "HEAD", "config", "packed-refs", "shallow", "refs/heads/x", "objects/pack/pack-x.pack", "objects/ab/cd",
            "objects/info/alternates",
        ]
        for name in names {
            let (scratch, _) = try threeCommits()
            let path = "\(scratch.path)/.git/\(name)"
            try? FileManager.default.removeItem(atPath: path)
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            #expect(mkfifo(path, 0o600) == 0)
            #expect(refusal { _ = try GitSource(scratch).allDrafts() }?.code == .brokenRepository, "\(name)")
        }
    }

    @Test func errorsShowNothingOfFiles() throws {
        let secret = "hunter2"
        let settings = [
            ("config", "[include]\n\tpath = SECRET\n[core\n\(secret)\n"), ("config", "[extensions]\n\t\(secret) = 1\n"),
            ("packed-refs", "\(secret)\n"), ("HEAD", "\(secret)\n"), ("shallow", "\(secret)\n"),
            ("refs/heads/main", "\(secret)\n"), ("refs/heads/\(secret)", "\(secret)\n"),
        ]
        for (name, text) in settings {
            let (scratch, _) = try threeCommits()
            try scratch.write("secret", secret + "\n")
            if name == "packed-refs" {
                try? FileManager.default.removeItem(atPath: scratch.path + "/.git/refs/heads/main")
            }
            try scratch.write(".git/\(name)", text.replacing("SECRET", with: scratch.path + "/secret"))
            let error = refusal { _ = try GitSource(scratch).allDrafts() }
            #expect(error?.description.contains(secret) != true, "\(name): \(String(describing: error))")
            #expect(error != nil || name == "refs/heads/\(secret)")
        }
        let (scratch, _) = try threeCommits()
        try FileManager.default.removeItem(atPath: scratch.path + "/.git")
        try scratch.write(".git", "\(secret)\n")
        let error = refusal { _ = try GitSource(scratch).allDrafts() }
        #expect(error?.code == .notARepository)
        #expect(error?.description.contains(secret) == false)
    }

    @Test func nothingIsLeftBehindAndNothingIsWrittenInTheRepository() throws {
        let (scratch, _) = try threeCommits()
        let before = try FileManager.default.subpathsOfDirectory(atPath: scratch.path).sorted()
        var repository: GitRepository? = try GitRepository(
            at: scratch.path,
            environment: ProcessInfo.processInfo.environment
        )
        let folder = try #require(repository?.program.directory.path)
        #expect(FileManager.default.fileExists(atPath: folder))
        let modes = try FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions] as? Int
        #expect(modes == 0o700)
        _ = try GitSource(scratch).allDrafts()
        repository = nil
        #expect(!FileManager.default.fileExists(atPath: folder))
        #expect(try FileManager.default.subpathsOfDirectory(atPath: scratch.path).sorted() == before)
    }
}

/// A program that leaves a mark, and all the places of a repository that could name it.
private struct Trap {
    let script: String
    let marker: String

    init(in directory: TemporaryDirectory) throws {
        script = directory.path("trap.sh")
        marker = directory.path("marker")
        try Data("#!/bin/sh\necho \"$0 $*\" >> '\(marker)'\n".utf8).write(to: URL(fileURLWithPath: script))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
    }

    var wasSprung: Bool { FileManager.default.fileExists(atPath: marker) }

    func reset() throws {
        try FileManager.default.removeItem(atPath: marker)
    }

    func set(in scratch: GitScratch) throws {
        let included = "[core]\n\tfsmonitor = \(script)\n[diff]\n\texternal = \(script)\n"
        try scratch.write(".git/included", included)
        try scratch.write(".git/config.worktree", included)
        try scratch.write(".git/info/attributes", "* diff=x filter=x merge=x\n")
        for hook in Self.hooks {
            let path = scratch.path + "/.git/hooks/\(hook)"
            try? FileManager.default.removeItem(atPath: path)
            try FileManager.default.createDirectory(
                atPath: scratch.path + "/.git/hooks",
                withIntermediateDirectories: true
            )
            try FileManager.default.copyItem(atPath: script, toPath: path)
        }
        let path = URL(fileURLWithPath: scratch.path + "/.git/config")
        let own = try String(contentsOf: path, encoding: .utf8)
        try Data((own + (try settings())).utf8).write(to: path)
    }

    /// Every setting that git knows, whatever it is for, naming the script.
    private func settings() throws -> String {
        let keys = try GitScratch.run(["help", "--config"]).split(separator: "\n").filter { $0.contains(".") }
        #expect(keys.count > 500)
        var text = "[include]\n\tpath = included\n[alias]\n\tx = !\(script)\n[credential]\n\thelper = !\(script)\n"
        text += "[remote \"origin\"]\n\turl = ext::\(script)\n\tpromisor = true\n[core]\n\tworktree = \(script)\n"
        for key in keys where !key.hasPrefix("extensions.") && key.lowercased() != "core.repositoryformatversion" {
            let parts = key.split(separator: ".", omittingEmptySubsequences: false).map { $0.contains("<") ? "x" : $0 }
            guard parts.count > 1, let section = parts.first, let name = parts.last, name != "*", !name.contains("_")
            else { continue }
            let middle = parts.dropFirst().dropLast().joined(separator: ".")
            text += middle.isEmpty ? "[\(section)]\n" : "[\(section) \"\(middle)\"]\n"
            text += "\t\(name == "x" ? "name" : name) = \(script)\n"
        }
        return text
    }

    private static let hooks = [
        "applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg",
        "commit-msg", "post-commit", "pre-rebase", "post-checkout", "post-merge", "pre-push", "pre-receive", "update",
        "proc-receive", "post-receive", "post-update", "reference-transaction", "push-to-checkout", "pre-auto-gc",
        "post-rewrite", "sendemail-validate", "fsmonitor-watchman", "post-index-change", "query-watchman",
    ]
}

/// Repositories whose parts lie in the one they were made of.
private enum Outside {
    static func all(of scratch: GitScratch) throws -> [(name: String, path: String)] {
        let directory = scratch.directory
        let files = FileManager.default
        func fresh(_ name: String) throws -> String {
            try GitScratch.run(["clone", "-q", "--no-hardlinks", "file://\(scratch.path)", directory.path(name)])
            return directory.path(name)
        }
        try GitScratch.run(["clone", "-q", "--shared", scratch.path, directory.path("shared")])
        try scratch.git("worktree", "add", "-q", "--detach", directory.path("worktree"))
        let file = directory.path("file")
        try files.createDirectory(atPath: file, withIntermediateDirectories: true)
        try Data("gitdir: ../repository/.git\n".utf8).write(to: URL(fileURLWithPath: file + "/.git"))
        let link = directory.path("link")
        try files.createDirectory(atPath: link, withIntermediateDirectories: true)
        try files.createSymbolicLink(atPath: link + "/.git", withDestinationPath: scratch.path + "/.git")
        for part in ["objects", "refs", "packed-refs", "HEAD", "config", "objects/pack"] {
            let path = try fresh("linked-" + part.replacing("/", with: "-"))
            var original = scratch.path + "/.git/" + part
            if part == "packed-refs" {
                original = directory.path(part)
                try Data("# pack-refs with: peeled fully-peeled sorted \n".utf8).write(
                    to: URL(fileURLWithPath: original)
                )
            }
            try? files.removeItem(atPath: path + "/.git/" + part)
            try files.createSymbolicLink(atPath: path + "/.git/" + part, withDestinationPath: original)
        }
        let pack = try fresh("linked-pack-file") + "/.git/objects/pack"
        for name in try files.contentsOfDirectory(atPath: pack) { try files.removeItem(atPath: "\(pack)/\(name)") }
        let packs = scratch.path + "/.git/objects/pack"
        for name in try files.contentsOfDirectory(atPath: packs) {
            try files.createSymbolicLink(atPath: "\(pack)/\(name)", withDestinationPath: "\(packs)/\(name)")
        }
        let linked = ["objects", "refs", "packed-refs", "HEAD", "config", "objects-pack", "pack-file"].map {
            "linked-" + $0
        }
        return (["shared", "worktree", "file", "link"] + linked).map { ($0, directory.path($0)) }
            + [("folder of a work tree", scratch.path + "/.git/worktrees/worktree")]
    }
}

/// A commit-graph file (gitformat-commit-graph): a table of chunks, sorted ids, and for each its tree and parents.
private enum CommitGraph {
    struct Malformed: Error {}

    static func setParent(of commit: String, to parent: String, in graph: inout [UInt8]) throws {
        let ids = try chunk("OIDL", in: graph)
        let data = try chunk("CDAT", in: graph)
        let count = (data.upperBound - data.lowerBound) / 36
        func place(of id: String) throws -> Int {
            let bytes = stride(from: 0, to: 40, by: 2).compactMap { UInt8(id.dropFirst($0).prefix(2), radix: 16) }
            let start = ids.lowerBound
            guard let place = (0..<count).first(where: { Array(graph[(start + $0 * 20)...].prefix(20)) == bytes })
            else {
                throw Malformed()
            }
            return place
        }
        let at = try data.lowerBound + place(of: commit) * 36 + 20
        let target = try place(of: parent)
        for (offset, shift) in [24, 16, 8, 0].enumerated() { graph[at + offset] = UInt8(target >> shift & 0xFF) }
    }

    private static func chunk(_ name: String, in graph: [UInt8]) throws -> Range<Int> {
        func number(_ at: Int) -> Int { graph[at..<at + 8].reduce(0) { $0 << 8 | Int($1) } }
        for entry in stride(from: 8, to: 8 + Int(graph[6]) * 12, by: 12)
        where Array(graph[entry..<entry + 4]) == Array(name.utf8) {
            return number(entry + 4)..<number(entry + 16)
        }
        throw Malformed()
    }
}
