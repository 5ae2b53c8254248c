/// A path whose mode or object differs between two trees.
struct GitChange: Equatable {
    /// A tree's entry at a path.
    struct Entry: Equatable {
        /// The mode in octal, such as `100644`.
        let mode: String
        /// The full id of the blob, or of a submodule's commit.
        let object: String

        /// True if the object is a commit of another repository.
        var isSubmodule: Bool { mode == "160000" }
    }

    /// The path's bytes, in any encoding.
    let path: [UInt8]
    /// The entry before the change; `nil` if the path is new.
    let from: Entry?
    /// The entry after the change; `nil` if the path is gone.
    let to: Entry?

    init(path: [UInt8], from: Entry?, to: Entry?) {
        self.path = path
        self.from = from
        self.to = to
    }

    /// Reads one raw entry of `git diff-tree`: `MODE MODE ID ID STATUS`, without the leading colon. Mode `000000` means
    /// that the path has no entry on that side.
    init?(rawEntry: [UInt8], path: [UInt8]) {
        let fields = rawEntry.split(separator: 0x20).map { String(decoding: $0, as: UTF8.self) }
        guard fields.count == 5 else { return nil }
        self.path = path
        from = fields[0] == "000000" ? nil : Entry(mode: fields[0], object: fields[2])
        to = fields[1] == "000000" ? nil : Entry(mode: fields[1], object: fields[3])
    }
}

extension PipeReader {
    /// The changes that `git diff-tree --stdin -z` prints for one line of input; `nil` if the output does not begin
    /// with `header` or ends early.
    func readDiff(header: String) throws(IngestError) -> [GitChange]? {
        guard let found = try read(upTo: 0), found.elementsEqual(header.utf8) else { return nil }
        return try readChanges()
    }

    /// The changes that `git diff-tree -z` prints for one pair of trees, sorted by the bytes of their paths; `nil` if
    /// an entry is incomplete or malformed.
    func readChanges() throws(IngestError) -> [GitChange]? {
        var changes: [GitChange] = []
        // Each entry begins with a colon. What follows the entries begins with a hex digit (the next header), with `.`,
        // or not at all.
        while try peek() == 0x3A {
            guard let entry = try read(upTo: 0), let path = try read(upTo: 0),
                let change = GitChange(rawEntry: Array(entry.dropFirst()), path: path)
            else { return nil }
            changes.append(change)
        }
        // git walks trees in the order of full paths, unless a tree in the repository is malformed. The document's
        // order must not depend on that.
        let isSorted = zip(changes, changes.dropFirst()).allSatisfy { $0.path.lexicographicallyPrecedes($1.path) }
        return isSorted ? changes : changes.sorted { $0.path.lexicographicallyPrecedes($1.path) }
    }
}
