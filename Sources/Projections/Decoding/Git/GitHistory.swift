import EventLog

/// The trees of all commits of one branch, as far as they matter to a chat: message files, tombstones, and how many
/// files each top-level folder holds.
///
/// Each commit holds what differs from its first known parent, so that any number of commits costs what they changed.
/// One tree is checked out; moving to another applies and takes back differences along the way between the two.
struct GitHistory: Codable, Sendable {
    /// A message file in a tree.
    struct File: Codable, Hashable, Sendable {
        var blob: String
        /// The last blob under this path, in this line of history, that was a message; `nil` where none was.
        var usable: String?
        /// The event whose own change this content is.
        var since: UInt64

        /// Whether the file is a message.
        var isMessage: Bool { usable == blob }
    }

    /// What is left of a message that a tree lacks and an ancestor had.
    struct Grave: Codable, Hashable, Sendable {
        var since: EventReference
        var deletedAt: Timestamp?
        var deletedBy: String?
        /// The last blob that was a message.
        var usable: String
        /// It stands elsewhere and is not deleted.
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
        /// The commit that the differences are from; `nil` for the empty tree.
        var basis: Int?
        var depth = 0
        var files: [MessageKey: Difference<File>] = [:]
        var graves: [MessageKey: Difference<Grave>] = [:]
        var folders: [EntityID: Int] = [:]
    }

    /// A commit known from facts, until its place in the log is reached.
    struct Awaited: Codable, Sendable {
        var node: Node
        var basis: String?
    }

    /// In log order.
    private(set) var nodes: [Node] = []
    /// The last first.
    private var awaited: [Awaited] = []
    private var indexes: [String: Int] = [:]
    /// The commit that is checked out, and its tree.
    private(set) var tip: Int?
    private(set) var files: [MessageKey: File] = [:]
    private(set) var graves: [MessageKey: Grave] = [:]
    private(set) var folders: [EntityID: Int] = [:]

    /// The place of a commit; `nil` for one that no event told of so far.
    func index(of commit: String) -> Int? { indexes[commit] }

    /// Adds a commit without checking it out.
    mutating func add(_ node: Node) -> Int {
        var node = node
        node.depth = node.basis.map { nodes[$0].depth + 1 } ?? 0
        indexes[node.commit] = nodes.count
        nodes.append(node)
        return nodes.count - 1
    }

    /// Takes over commits whose events are not kept, in the order of their sequences.
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

    /// Checks out a commit, or the empty tree.
    mutating func checkOut(_ target: Int?) {
        apply(span(from: tip, to: target))
        tip = target
    }

    /// What differs between two commits, found along the way between them.
    func span(from start: Int?, to end: Int?) -> GitSpan {
        var (here, there) = (start, end)
        var span = GitSpan()
        var redo: [Int] = []
        while here != there {
            if depth(here) >= depth(there), let index = here {
                span.takeBack(nodes[index])
                here = nodes[index].basis
            } else if let index = there {
                redo.append(index)
                there = nodes[index].basis
            }
        }
        for index in redo.reversed() { span.add(nodes[index]) }
        return span
    }

    private func depth(_ index: Int?) -> Int {
        index.map { nodes[$0].depth } ?? -1
    }

    private mutating func apply(_ span: GitSpan) {
        for (key, difference) in span.files { files[key] = difference.after }
        for (key, difference) in span.graves { graves[key] = difference.after }
        for (folder, count) in span.folders {
            let sum = (folders[folder] ?? 0) + count
            folders[folder] = sum == 0 ? nil : sum
        }
    }
}

/// What differs between two trees.
struct GitSpan: Codable, Sendable {
    private(set) var files: [MessageKey: GitHistory.Difference<GitHistory.File>] = [:]
    private(set) var graves: [MessageKey: GitHistory.Difference<GitHistory.Grave>] = [:]
    private(set) var folders: [EntityID: Int] = [:]

    /// Goes one commit on.
    mutating func add(_ node: GitHistory.Node) {
        for (key, difference) in node.files {
            files[key, default: .init(before: difference.before)].after = difference.after
        }
        for (key, difference) in node.graves {
            graves[key, default: .init(before: difference.before)].after = difference.after
        }
        for (folder, count) in node.folders { folders[folder, default: 0] += count }
    }

    /// Goes one commit back.
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
