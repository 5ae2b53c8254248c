import JSON

#if Recorders
/// One entry of a tree in git's database.
struct GitHubTreeEntry: Equatable {
    /// In octal with six digits, as `git diff-tree` prints it.
    let mode: String
    let id: String
    /// The size of a blob, in bytes; `nil` for other entries.
    let size: Int?

    /// True for a directory, false for a file, a link or a submodule.
    var isTree: Bool { mode == "040000" }
    var entry: GitChange.Entry { GitChange.Entry(mode: mode, object: id) }
}

/// One directory: its entries by the bytes of their names.
typealias GitHubTree = [[UInt8]: GitHubTreeEntry]

extension GitHubTreeEntry {
    /// Reads an answer of `git/trees`; `nil` if it is malformed or truncated.
    static func tree(_ json: JSONValue) -> GitHubTree? {
        guard let elements = json["tree"]?.array, json["truncated"] != .bool(true) else { return nil }
        var tree: GitHubTree = [:]
        for element in elements {
            guard let name = element["path"]?.string, let mode = element["mode"]?.string,
                let id = element["sha"]?.string
            else { return nil }
            let size = element["size"]?.number?.int64.flatMap { Int(exactly: $0) }
            tree[Array(name.utf8)] = GitHubTreeEntry(mode: mode, id: id, size: size)
        }
        return tree
    }
}

/// The difference of two trees, found by reading only the directories that differ.
struct GitHubTreeDiff {
    private(set) var changes: [GitChange] = []
    /// The sizes of the new blobs, in bytes, by id.
    private(set) var sizes: [String: Int] = [:]

    /// Compares two trees. `changes` is sorted by the bytes of the paths, as git sorts them. Cost: a `read` for each
    /// directory that differs, on either side.
    ///
    /// - Parameters:
    ///   - old: the old tree's id; `nil` for the empty tree.
    ///   - read: returns a directory by its id.
    init(from old: String?, to new: String, read: (String) async throws -> GitHubTree) async throws {
        try await compare(old, new, prefix: [], read: read)
        changes.sort { $0.path.lexicographicallyPrecedes($1.path) }
    }

    /// Adds the differences of two directories; `nil` is one that does not exist.
    private mutating func compare(
        _ old: String?,
        _ new: String?,
        prefix: [UInt8],
        read: (String) async throws -> GitHubTree
    ) async throws {
        guard old != new else { return }
        let before = if let old { try await read(old) } else { GitHubTree() }
        let after = if let new { try await read(new) } else { GitHubTree() }
        for name in Set(before.keys).union(after.keys) where before[name] != after[name] {
            let (from, to) = (before[name], after[name])
            // Sizes are no difference: equal ids are equal contents.
            guard from?.mode != to?.mode || from?.id != to?.id else { continue }
            let path = prefix + name
            add(path, from: from, to: to)
            // A file that a directory replaces, or the other way round, is a change of the file and of all files below.
            let (oldTree, newTree) = (from.flatMap { $0.isTree ? $0.id : nil }, to.flatMap { $0.isTree ? $0.id : nil })
            try await compare(oldTree, newTree, prefix: path + [0x2F], read: read)
        }
    }

    /// Adds the change of a file, link or submodule; directories themselves are no changes.
    private mutating func add(_ path: [UInt8], from: GitHubTreeEntry?, to: GitHubTreeEntry?) {
        let (old, new) = (from.flatMap { $0.isTree ? nil : $0 }, to.flatMap { $0.isTree ? nil : $0 })
        guard old != nil || new != nil else { return }
        changes.append(GitChange(path: path, from: old?.entry, to: new?.entry))
        if let new, let size = new.size { sizes[new.id] = size }
    }
}
#endif
