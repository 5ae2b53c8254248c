import EventLog

/// Turns a list of commits into their documents, one at a time, while `git` works ahead on the next ones.
///
/// Three programs run as long as the reader: one lists commits, one compares trees, one reads objects. Requests are
/// sent a window ahead, and answers are read in the order of the requests. No answer may be skipped, even if it is not
/// needed, because nothing else says which request it belongs to. Used by one thread at a time; after an error the
/// reader is not used again.
final class GitCommitReader {
    /// One commit's document.
    struct Document {
        let commit: String
        let payload: [UInt8]
    }

    /// A line of `git rev-list --parents`.
    private struct Listed {
        let id: String
        /// The parents that the repository has; empty for the oldest commits of a shallow clone.
        let parents: [String]
    }

    private struct Compared {
        let commit: Listed
        /// One for each parent, in the commit's order; one with the empty tree if there is no parent.
        let comparisons: [GitDocument.Comparison]
        /// The files whose blobs were requested, in this order; submodules are among them but have no request.
        let files: [GitChange]
    }

    /// The number of commits requested together: enough to keep three programs busy, few enough to bound memory.
    private static let windowSize = 128

    private let repository: GitRepository
    private let list: GitProcess
    private let diffs: GitProcess
    private let objects: GitProcess
    /// False once the list of commits has ended and its status was checked.
    private var listIsOpen = true
    /// Commits whose comparisons were requested but not read yet.
    private var ahead: [Listed] = []
    /// Commits that were compared and whose objects were requested.
    private var ready: ArraySlice<Compared> = []

    /// Starts the programs and requests the first window.
    ///
    /// - Parameter old: a commit that the repository has; it and its ancestors are left out.
    init(_ repository: GitRepository, to tip: String, excluding old: String?) throws {
        self.repository = repository
        list = try repository.listCommits(to: tip, excluding: old)
        diffs = try repository.startDiffs()
        objects = try repository.startObjects()
        try requestDiffs()
    }

    /// The next commit's document, parents before children; `nil` at the tip.
    ///
    /// - Throws: `IngestError` with code `brokenRepository` if an object is missing or cannot be read.
    func next() throws -> Document? {
        if ready.isEmpty { try advance() }
        guard let compared = ready.popFirst() else { return nil }
        // While this window's documents are made, the programs already work on the next one.
        return Document(commit: compared.commit.id, payload: try document(compared))
    }

    /// Reads the comparisons of the window ahead, requests its objects, and then requests the comparisons of the next.
    private func advance() throws {
        guard !ahead.isEmpty else { return }
        assert(ready.isEmpty, "a window's documents are read before the next window's")
        let window = ahead
        ready = try window.map(readDiffs)[...]
        // The `.` that `requestDiffs` sent behind the window: proof that no answer came too few or too many.
        guard try diffs.output.read(upTo: 0x0A) == [0x2E] else { throw failure(of: diffs, "git diff-tree") }
        requestObjects(ready)
        try requestDiffs()
    }
}

extension GitCommitReader {
    /// Requests the comparisons of the next window; at the end of the list closes the input of `git diff-tree`.
    private func requestDiffs() throws {
        ahead = try readList()
        guard !ahead.isEmpty else { return diffs.finishInput() }
        var lines = ""
        for commit in ahead {
            if commit.parents.isEmpty { lines += "\(commit.id)\n" }
            for parent in commit.parents { lines += "\(commit.id) \(parent)\n" }
        }
        // `git diff-tree` buffers its output; the line `.` makes it print the rest of the window.
        diffs.submit(Array("\(lines).\n".utf8))
    }

    private func readList() throws -> [Listed] {
        var window: [Listed] = []
        // Blocks until the window is full or the list ends. `rev-list --reverse` prints nothing before it has walked
        // all.
        while listIsOpen, window.count < Self.windowSize {
            guard let line = try list.output.read(upTo: 0x0A) else {
                listIsOpen = false
                let ending = list.finish()
                if ending.status != 0 { throw repository.broken(ending.reason) }
                break
            }
            let ids = line.split(separator: 0x20).map { String(decoding: $0, as: UTF8.self) }
            guard let id = ids.first, ids.allSatisfy(GitRepository.isObjectID) else {
                throw repository.broken("git rev-list gave a line that is no list of commits")
            }
            window.append(Listed(id: id, parents: Array(ids.dropFirst())))
        }
        return window
    }

    private func readDiffs(of commit: Listed) throws -> Compared {
        let parents: [String?] = commit.parents.isEmpty ? [nil] : commit.parents
        let comparisons = try parents.map { parent in
            guard let changes = try diffs.output.readDiff(header: commit.id) else {
                throw failure(of: diffs, "compare commit \(commit.id)")
            }
            return GitDocument.Comparison(parent: parent, changes: changes)
        }
        return Compared(commit: commit, comparisons: comparisons, files: Self.files(of: comparisons))
    }

    /// Each path that exists after the commit and differs from a parent, once, sorted by the bytes of the path.
    static func files(of comparisons: [GitDocument.Comparison]) -> [GitChange] {
        if comparisons.count == 1 { return comparisons[0].changes.filter { $0.to != nil } }
        var files: [[UInt8]: GitChange] = [:]
        for change in comparisons.lazy.flatMap(\.changes) where change.to != nil { files[change.path] = change }
        return files.values.sorted { $0.path.lexicographicallyPrecedes($1.path) }
    }

    /// Requests for each commit the commit itself and then its files, which is the order in which `document` reads.
    private func requestObjects(_ window: ArraySlice<Compared>) {
        var lines = ""
        for compared in window {
            lines += "\(compared.commit.id)\n"
            for file in compared.files {
                if let entry = file.to, !entry.isSubmodule { lines += "\(entry.object)\n" }
            }
        }
        objects.submit(Array(lines.utf8))
    }

    private func document(_ compared: Compared) throws -> [UInt8] {
        let id = compared.commit.id
        let reader = GitObjectReader(output: objects.output)
        guard let header = try reader.header(), header.type == "commit" else {
            throw failure(of: objects, "read commit \(id)", missing: id)
        }
        guard header.size <= GitObjectReader.sizeMax else {
            throw repository.broken(
                "commit \(id) has \(header.size) bytes, at most \(GitObjectReader.sizeMax) are read",
                advice: "record a branch without it, or rewrite its message"
            )
        }
        guard let bytes = try reader.bytes(header) else { throw failure(of: objects, "read commit \(id)", missing: id) }
        let commit = GitCommitObject(bytes)
        try check(compared.commit, bytes, commit)
        var document = GitDocument()
        document.addCommit(id, commit)
        document.addParents(
            compared.comparisons,
            // Listed without parents, but naming some: the history is cut off here (a shallow clone).
            missing: compared.commit.parents.isEmpty ? commit.parents : []
        )
        try document.addFiles(compared.files) { object, sizeMax in
            guard let blob = try reader.blob(sizeMax: sizeMax) else {
                throw failure(of: objects, "read a file of commit \(id)", missing: object)
            }
            return blob
        }
        return document.bytes
    }

    /// Checks that the commit's bytes hash to its id, and that git listed the parents that the commit names, so that no
    /// false commit or parent is recorded under an id (I28). Only a commit on the repository's own list of cuts may be
    /// listed without its parents.
    private func check(_ listed: Listed, _ bytes: [UInt8], _ commit: GitCommitObject) throws {
        guard GitObjectHash.id(type: "commit", bytes, isLong: listed.id.utf8.count == 64) == listed.id else {
            throw repository.broken("object \(listed.id) holds another commit than its id says")
        }
        let isCut = listed.parents.isEmpty && repository.shallowCommits.contains(listed.id)
        guard isCut || listed.parents == commit.parents else {
            throw repository.broken("commit \(listed.id) is listed with other parents than it names")
        }
    }

    /// The error for an answer that is missing or incomplete. Ends the program to learn its status.
    private func failure(of process: GitProcess, _ what: String, missing object: String? = nil) -> IngestError {
        let ending = process.finish()
        let missing = object.map { "object \($0) is missing" } ?? "an object is missing"
        return repository.broken("\(what): \(ending.status == 0 || ending.isCutOff ? missing : ending.reason)")
    }
}
