import EventLog

/// The trees of all commits of one branch, as far as a chat needs them: message files, tombstones, and the number of
/// files in each top-level folder.
///
/// A commit stores its differences from its first known parent, so memory grows with the changes, not with the trees.
/// One tree is checked out. To check out another one applies and takes back the differences on the path between them.
///
/// The bases form a tree of commits whose root is the empty tree. It is not git's graph of parents: a merge has one
/// basis. A basis always comes before its commit in `nodes`, so paths end.
struct GitHistory: Codable, Sendable {
    /// A message file in a tree.
    struct File: Codable, Hashable, Sendable {
        /// The id of the content; `GitCommitDecoder.readings` has the message that it contains, if it is one.
        var blob: String
        /// The last blob under this path, in this line of history, that was a message; `nil` if none was.
        var usable: String?
        /// The sequence of the event that made this content. A merge that takes another parent's file keeps that file's
        /// sequence.
        var since: UInt64

        /// Whether the file is a message.
        var isMessage: Bool { usable == blob }
    }

    /// The remains of a message that an ancestor had and a tree lacks. A key has a file or a grave in a tree, never
    /// both.
    struct Grave: Codable, Hashable, Sendable {
        /// The event that deleted the message.
        var since: EventReference
        /// The commit's time and author; `nil` where the commit states none.
        var deletedAt: Timestamp?
        var deletedBy: String?
        /// The last blob that was a message.
        var usable: String
        /// Whether the message moved to another path and is not deleted.
        var isMoved = false
    }

    /// A value before and after a commit.
    struct Difference<Value: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
        var before: Value?
        var after: Value?
    }

    /// One commit.
    struct Node: Codable, Sendable {
        var commit: String
        var sequence: UInt64
        /// The index of the commit that the differences start from; `nil` for the empty tree. Always less than the
        /// commit's own index.
        var basis: Int?
        /// The number of commits on its chain of bases; `add` sets it.
        var depth = 0
        /// The differences from the basis. A key without a difference is absent.
        var files: [MessageKey: Difference<File>] = [:]
        var graves: [MessageKey: Difference<Grave>] = [:]
        /// How many more files each top-level folder has than at the basis; negative for fewer.
        var folders: [EntityID: Int] = [:]
    }

    /// A dropped commit, known from facts, until the replay reaches its place in the log.
    struct Awaited: Codable, Sendable {
        var node: Node
        var basis: String?
    }

    /// In log order. Indexes are stable: no commit is ever removed.
    private(set) var nodes: [Node] = []
    /// In reverse order: the next one to admit is the last.
    private var awaited: [Awaited] = []
    /// The index in `nodes` of each commit, by its id.
    private var indexes: [String: Int] = [:]
    /// The commit that is checked out; `nil` for the empty tree. `files`, `graves` and `folders` are its tree.
    private(set) var tip: Int?
    private(set) var files: [MessageKey: File] = [:]
    private(set) var graves: [MessageKey: Grave] = [:]
    /// How many files each top-level folder has, messages or not; a folder without files is absent, as in git.
    private(set) var folders: [EntityID: Int] = [:]

    /// The index of a commit; `nil` if no event up to now contained it.
    func index(of commit: String) -> Int? { indexes[commit] }

    /// Adds a commit without checking it out, and returns its index. Its basis must be in `nodes`.
    mutating func add(_ node: Node) -> Int {
        var node = node
        node.depth = node.basis.map { nodes[$0].depth + 1 } ?? 0
        indexes[node.commit] = nodes.count
        nodes.append(node)
        return nodes.count - 1
    }

    /// Takes the commits whose events were dropped, in order of their sequences. `admit` adds each in its place.
    mutating func expect(_ commits: [Awaited]) {
        awaited += commits.reversed()
    }

    /// Adds the expected commits that came before an event.
    mutating func admit(before sequence: UInt64) {
        while let next = awaited.last, next.node.sequence < sequence {
            awaited.removeLast()
            var node = next.node
            node.basis = next.basis.flatMap { indexes[$0] }
            _ = add(node)
        }
    }

    /// Checks out a commit, or the empty tree. Cost: that of the span between the two.
    mutating func checkOut(_ target: Int?) {
        apply(span(from: tip, to: target))
        tip = target
    }

    /// The differences between two commits, collected on the path through their common basis. A key that changes on the
    /// way and back again stays in the span, with equal sides.
    ///
    /// Cost: O(changes of the commits on that path).
    func span(from start: Int?, to end: Int?) -> GitSpan {
        var (here, there) = (start, end)
        var span = GitSpan()
        var redo: [Int] = []
        while here != there {
            // The deeper end moves to its basis, so both meet at the deepest common one.
            if depth(here) >= depth(there), let index = here {
                span.takeBack(nodes[index])
                here = nodes[index].basis
            } else if let index = there {
                redo.append(index)
                there = nodes[index].basis
            }
        }
        // The way down was collected from its end.
        for index in redo.reversed() { span.add(nodes[index]) }
        return span
    }

    /// A commit's depth; -1 for the empty tree, which is above all roots.
    private func depth(_ index: Int?) -> Int {
        index.map { nodes[$0].depth } ?? -1
    }

    /// Applies a span that starts at the tip. A difference without an `after` removes the key.
    private mutating func apply(_ span: GitSpan) {
        for (key, difference) in span.files { files[key] = difference.after }
        for (key, difference) in span.graves { graves[key] = difference.after }
        for (folder, count) in span.folders {
            let sum = (folders[folder] ?? 0) + count
            folders[folder] = sum == 0 ? nil : sum
        }
    }
}

/// The differences between two trees; `folders` are changes in the number of files.
struct GitSpan: Codable, Sendable {
    private(set) var files: [MessageKey: GitHistory.Difference<GitHistory.File>] = [:]
    private(set) var graves: [MessageKey: GitHistory.Difference<GitHistory.Grave>] = [:]
    private(set) var folders: [EntityID: Int] = [:]

    /// Extends the span forward by one commit.
    mutating func add(_ node: GitHistory.Node) {
        for (key, difference) in node.files {
            files[key, default: .init(before: difference.before)].after = difference.after
        }
        for (key, difference) in node.graves {
            graves[key, default: .init(before: difference.before)].after = difference.after
        }
        for (folder, count) in node.folders { folders[folder, default: 0] += count }
    }

    /// Extends the span backward by one commit.
    mutating func takeBack(_ node: GitHistory.Node) {
        for (key, difference) in node.files {
            files[key, default: .init(before: difference.after)].after = difference.before
        }
        for (key, difference) in node.graves {
            graves[key, default: .init(before: difference.after)].after = difference.before
        }
        for (folder, count) in node.folders { folders[folder, default: 0] -= count }
    }
}
