import JSON

#if Recorders
import EventLog
import Logging

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Records one branch of a repository on GitHub. Used by one task.
///
/// Makes the events that `GitSource` makes from a clone, byte for byte: documents come from the same `GitDocument`, and
/// commits are ordered as git orders them. Blobs and proved commits are hashed, trees are not.
final class GitHubBranch {
    let client: GitHubClient
    let recording: Recording
    /// The path of the API's routes for the repository, which all targets begin with.
    let path: String
    /// The branch's name; `nil` until the default branch is known.
    private var branch: String?
    /// The tag of the last answer whose tip is recorded; `nil` to get a whole answer.
    private var etag: String?
    /// The tip up to which the log was recorded; `nil` if nothing was.
    private var tip: String?
    /// The ids of the commits that this run appended, which the log may not hold yet: appends are not waited for.
    private var appended: Set<String> = []
    /// Directories by id. A push changes few, and the next diff reads the same ones as its old side.
    private var trees = RecentValues<GitHubTree>(countMax: 256)
    /// The id of each commit's tree, by the commit's id.
    private var commitTrees = RecentValues<String>(countMax: 10_000)
    private var proof = GitHubCommitProof()

    init(_ repository: GitHubSource.Repository, client: GitHubClient, recording: Recording) throws {
        self.client = client
        self.recording = recording
        path = "/repos/\(repository.owner)/\(repository.name)"
        branch = repository.branch
        tip = try GitSource.recordedTip(recording.history)
    }

    /// Polls the branch's tip once, and records what is new.
    ///
    /// - Throws: as `GitHubClient.get`; with `isOnlyLook`, `IngestError` with code `noSuchBranch` if there is no such
    ///   branch.
    func look(isOnlyLook: Bool) async throws {
        let name = try await branchName()
        let target = "\(path)/git/ref/heads/\(UTF8Text.percentEncoded(name, keeping: "/"))"
        let asked = recording.clock.now()
        // Set by the check, so that the answer is parsed once.
        var read: String?
        let answer = try await client.get(target, etag: etag) { answer in
            read = Self.tip(in: answer.body)
            return read != nil
        }
        if answer.status == 304 { return try await client.caughtUp(tip, at: asked) }
        guard answer.status == 200, let new = read else {
            // A branch that is made again must not be answered with 304.
            etag = nil
            try await client.noteMissing(answer, target)
            guard isOnlyLook else { return }
            throw client.error(.noSuchBranch, "there is no branch \"\(name)\"", "use --branch with one that is there")
        }
        if new != tip { try await catchUp(to: new) }
        tip = new
        // Set only now: if catching up fails, the next poll must get the tip again, not a 304.
        etag = answer.headers["etag"]
        try await client.caughtUp(tip, at: asked)
    }

    /// The commit id in an answer of `git/ref`; `nil` if there is none.
    private static func tip(in body: [UInt8]) -> String? {
        let id = JSONValue(received: body)?["object"]?["sha"]?.string
        return id.flatMap { GitRepository.isObjectID($0) ? $0 : nil }
    }

    /// The branch's name. Without one, the repository's default branch, requested once.
    private func branchName() async throws -> String {
        if let branch { return branch }
        guard let name = try await client.value(path, { $0["default_branch"]?.string }) else {
            throw client.error(.refused, "there is no such repository", "check its name and the token's rights")
        }
        branch = name
        return name
    }
}

// MARK: - What is new

extension GitHubBranch {
    /// Records the commits behind a new tip, and the rewrite if they alone do not lead there.
    private func catchUp(to new: String) async throws {
        // Looked up before anything is appended. A tip that the log holds is not appended again (I4), so only a rewrite
        // leads there.
        let isNew = try !holds(new)
        let commits = try await newCommits(to: new)
        let isForward = try await leads(commits, to: new)
        let endsAtTip = isNew && isForward
        for commit in commits {
            let payload = try await document(commit)
            let isLast = endsAtTip && commit.id == new
            try await append(.gitCommit, key: commit.id, payload, bookmark: isLast ? new : nil)
            appended.insert(commit.id)
        }
        if !endsAtTip, let old = tip { try await rewrite(from: old, to: new) }
    }

    /// True if the new tip descends from the old one, or there is no old one.
    private func leads(_ commits: [GitHubCommit], to new: String) async throws -> Bool {
        guard let old = tip else { return true }
        // Saves a request in the usual case: a new commit directly on the old tip.
        if commits.contains(where: { $0.parents.contains(old) }) { return true }
        let target = "\(path)/compare/\(old)...\(new)?per_page=1"
        return try await client.value(target) { $0["status"]?.string } == "ahead"
    }

    /// True if the log holds the commit or will hold it.
    private func holds(_ id: String) throws -> Bool {
        try appended.contains(id) || recording.history.holds(EventKey(id))
    }

    /// Records that the branch moved in a way that new commits do not show.
    private func rewrite(from old: String, to new: String) async throws {
        let oldTree = try await commit(old)?.tree
        let diff = try await GitHubTreeDiff(from: oldTree, to: tree(of: new), read: readTree)
        var document = GitDocument()
        document.addRewrite(from: old, to: new, fromIsMissing: oldTree == nil, changes: diff.changes)
        try await addFiles(diff.changes.filter { $0.to != nil }, sizes: diff.sizes, to: &document)
        // The keys are looked up in the log, so an earlier rewrite of this run must be stored.
        try await recording.flush()
        var number = 1
        while try recording.history.holds(EventKey("rewrite/\(old)/\(new)/\(number)")) { number += 1 }
        try await append(.gitRewrite, key: "rewrite/\(old)/\(new)/\(number)", document.bytes, bookmark: new)
    }

    /// Appends one event.
    ///
    /// - Parameter bookmark: the tip that is valid once the event is stored; `nil` leaves the bookmark as it is.
    private func append(_ kind: EventKind, key: String, _ payload: [UInt8], bookmark: String?) async throws {
        let time = recording.clock.now()
        let frame = FrameDraft(recordedAt: time, source: recording.source, kind: kind, key: key)
        try await recording.append([
            .draft(try frame.draft(payload: payload), bookmark: bookmark.map { Array($0.utf8) })
        ])
    }
}

// MARK: - Commits

extension GitHubBranch {
    /// The commits behind a tip that the log does not hold, parents first, in git's topological order.
    ///
    /// Lists pages of 100 until every parent is listed or held; a list saves a request for each commit. Cost: memory
    /// for all commits of the pages.
    private func newCommits(to new: String) async throws -> [GitHubCommit] {
        var found: [String: GitHubCommit] = [:]
        // The commits that are known to be missing, and not found yet.
        var wanted: Set<String> = try holds(new) ? [] : [new]
        var page = 1
        while !wanted.isEmpty, let listed = try await list(from: new, page: page) {
            for commit in listed where found[commit.id] == nil { found[commit.id] = commit }
            try settle(&wanted, found)
            page += 1
        }
        // Fetches the commits that the list does not reach: it is sorted by date, and dates may be wrong.
        while let id = wanted.first {
            guard let commit = try await commit(id) else {
                throw client.error(.brokenRepository, "commit \(id) cannot be read", "try again later")
            }
            found[id] = commit
            try settle(&wanted, found)
        }
        for commit in found.values { commitTrees[commit.id] = commit.tree }
        // The list may go on into commits that the log already holds.
        return CommitOrder.parentsFirst(from: new, in: try found.filter { try !holds($0.key) })
    }

    /// One commit; `nil` if it does not exist.
    private func commit(_ id: String) async throws -> GitHubCommit? {
        try await client.value("\(path)/git/commits/\(id)") { GitHubCommit($0) }
    }

    /// Removes the commits that were found from `wanted`, and inserts their ancestors that are neither found nor in the
    /// log.
    private func settle(_ wanted: inout Set<String>, _ found: [String: GitHubCommit]) throws {
        var stack = wanted.filter { found[$0] != nil }
        var seen = stack
        while let id = stack.popFirst() {
            wanted.remove(id)
            for parent in found[id]?.parents ?? [] where seen.insert(parent).inserted {
                if try holds(parent) { continue }
                if found[parent] != nil { stack.insert(parent) } else { wanted.insert(parent) }
            }
        }
    }

    /// A page of the list, newest first; `nil` after the last one.
    private func list(from new: String, page: Int) async throws -> [GitHubCommit]? {
        let target = "\(path)/commits?sha=\(new)&per_page=100&page=\(page)"
        guard let elements = try await client.value(target, { $0.array }), !elements.isEmpty else { return nil }
        return elements.compactMap { GitHubCommit($0) }
    }

    /// The commit's document, as `GitCommitReader` makes it from a clone.
    private func document(_ commit: GitHubCommit) async throws -> [UInt8] {
        let (object, isProved) = proof.object(commit)
        if !isProved {
            recording.log.debug("a commit's bytes could not be proved", metadata: ["commit": "\(commit.id)"])
        }
        var comparisons: [GitDocument.Comparison] = []
        var sizes: [String: Int] = [:]
        for parent in commit.parents.isEmpty ? [nil] : commit.parents.map(Optional.some) {
            let parentTree = if let parent { try await tree(of: parent) } else { String?.none }
            let diff = try await GitHubTreeDiff(from: parentTree, to: commit.tree, read: readTree)
            comparisons.append(GitDocument.Comparison(parent: parent, changes: diff.changes))
            // One id has one size, whichever parent it differs from.
            sizes.merge(diff.sizes) { first, _ in first }
        }
        var document = GitDocument()
        document.addCommit(commit.id, object)
        document.addParents(comparisons, missing: [])
        try await addFiles(GitCommitReader.files(of: comparisons), sizes: sizes, to: &document)
        return document.bytes
    }
}

// MARK: - Trees and blobs

extension GitHubBranch {
    /// The id of a commit's tree; requests the commit if the cache lacks it.
    private func tree(of commit: String) async throws -> String {
        if let tree = commitTrees[commit] { return tree }
        guard let found = try await self.commit(commit) else {
            throw client.error(.brokenRepository, "commit \(commit) cannot be read", "try again later")
        }
        commitTrees[commit] = found.tree
        return found.tree
    }

    /// A directory, by its id; from the cache if it was read lately. An answer that is truncated is an error: a
    /// document with missing files would be wrong for ever.
    private func readTree(_ id: String) async throws -> GitHubTree {
        if let tree = trees[id] { return tree }
        let json = try await client.value("\(path)/git/trees/\(id)") { $0["tree"]?.array == nil ? nil : $0 }
        guard let tree = json.flatMap({ GitHubTreeEntry.tree($0) }) else {
            throw client.error(.brokenRepository, "directory \(id) cannot be read whole", "record a clone: ingest git")
        }
        trees[id] = tree
        return tree
    }

    /// Fetches the blobs for which the document has room, by the document's own measure, and adds the files to it.
    private func addFiles(_ files: [GitChange], sizes: [String: Int], to document: inout GitDocument) async throws {
        var blobs: [String: [UInt8]] = [:]
        // A file that is no text, or did not fit, will not fit later either: the room only shrinks.
        var left: Set<String> = []
        var room = document.textRoom(beside: files)
        for entry in files.compactMap(\.to) where !entry.isSubmodule && !left.contains(entry.object) {
            guard let size = sizes[entry.object], size <= room.bytes else { continue }
            let known = blobs[entry.object]
            let bytes = if let known { known } else { try await blob(entry.object) }
            if room.take(bytes) { blobs[entry.object] = bytes } else { left.insert(entry.object) }
        }
        // `addFiles` calls once for each file that is no submodule, in the order of `files`.
        var entries = files.compactMap(\.to).filter { !$0.isSubmodule }[...]
        try document.addFiles(files) { _, sizeMax in
            let entry = entries.popFirst()
            let size = entry.flatMap { sizes[$0.object] } ?? 0
            return (size, size > sizeMax ? nil : entry.flatMap { blobs[$0.object] })
        }
    }

    /// The bytes of a blob, proved by its id.
    private func blob(_ id: String) async throws -> [UInt8] {
        let json = try await client.value("\(path)/git/blobs/\(id)") { $0["encoding"] == nil ? nil : $0 }
        let text = json?["encoding"]?.string == "base64" ? json?["content"]?.string : nil
        if let data = text.flatMap({ Data(base64Encoded: $0, options: .ignoreUnknownCharacters) }) {
            let bytes = Array(data)
            if GitObjectHash.id(type: "blob", bytes) == id { return bytes }
        }
        throw client.error(.brokenRepository, "file \(id) cannot be read whole", "try again later")
    }
}
#endif
