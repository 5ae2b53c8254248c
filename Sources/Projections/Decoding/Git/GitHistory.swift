import EventLog

/// The trees of all commits of one branch, as far as a chat needs them: message files, tombstones, and the number of
/// files in each top-level folder.
///
/// A commit stores its differences from its first known parent, so memory grows with the changes, not with the trees.
/// One tree is checked out. To check out another one applies and takes back the differences on the path between them.
///
/// The bases form a tree of commits whose root is the empty tree. It is not git's graph of parents: a merge has one
/// basis. A basis always comes before its commit, so paths end.
///
/// Commits, files and differences lie packed in pages: a commit that changes one file takes about 115 bytes, the tables
/// that find its ids and its path included.
struct GitHistory: Codable, Sendable {
    /// A message file in a tree.
    struct File: BitwiseCopyable, Codable, Hashable, Sendable {
        /// The content's place in `GitHistory.blobs`; `GitCommitDecoder.readings` has the message that it contains, if
        /// it is one.
        let blob: UInt32
        /// `UInt32.max` for none.
        private var lastMessage: UInt32
        /// The sequence of the event that made this content. A merge that takes another parent's file keeps that file's
        /// sequence.
        let since: UInt64

        init(blob: UInt32, usable: UInt32?, since: UInt64) {
            self.blob = blob
            lastMessage = usable ?? .max
            self.since = since
        }

        /// The last blob under this path, in this line of history, that was a message; `nil` if none was.
        var usable: UInt32? {
            get { lastMessage == .max ? nil : lastMessage }
            set { lastMessage = newValue ?? .max }
        }

        /// Whether the file is a message.
        var isMessage: Bool { lastMessage == blob }
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
        var usable: UInt32
        /// Whether the message moved to another path and is not deleted.
        var isMoved = false
    }

    /// A value before and after a commit.
    struct Difference<Value: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
        var before: Value?
        var after: Value?
    }

    /// One commit, unpacked.
    struct Node: Codable, Sendable {
        var commit: String
        var sequence: UInt64
        /// The index of the commit that the differences start from; `nil` for the empty tree. Always less than the
        /// commit's own index.
        var basis: Int?
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

    /// The ids of all commits, in log order. A commit's place is its index, which is stable: no commit is ever removed.
    private var commits = GitIDs()
    /// The ids of all contents that a message path had.
    var blobs = GitIDs()
    /// By index.
    private var nodes = Pages<PackedNode>()
    /// The differences of the commits, commit by commit, and the files and graves on both sides of them.
    private var differences = Pages<PackedDifference>()
    private var versions = Pages<PackedFile>()
    private var graves: [Grave] = []
    /// The versions that are not packed, by place.
    private var rareVersions: [UInt32: File] = [:]
    /// How many more files the folders have than the differences tell, by the index of the commit. Most commits lack this.
    private var extraCounts: [UInt32: [FolderCount]] = [:]
    /// In reverse order: the next one to admit is the last.
    private var awaited: [Awaited] = []
    /// The commit that is checked out; `nil` for the empty tree. `tree` and `folders` are its tree.
    private(set) var tip: Int?
    private var tree = GitTree()
    /// How many files each top-level folder has, messages or not; a folder without files is absent, as in git.
    private(set) var folders: [EntityID: Int] = [:]

    init() {}

    /// How many commits there are.
    var count: Int { nodes.count }

    /// The index of a commit; `nil` if no event up to now contained it.
    func index(of commit: String) -> Int? { commits.find(commit).map { Int($0) } }

    /// The id of the commit at an index.
    func commit(at index: Int) -> String { commits.text(UInt32(truncatingIfNeeded: index)) }

    /// The sequence of the event that has the commit at an index.
    func sequence(at index: Int) -> UInt64 { nodes[index].sequence }

    /// The file under a key in the tree that is checked out.
    func file(at key: MessageKey) -> File? { tree.version(at: key).flatMap { file($0) } }

    /// The grave under a key in the tree that is checked out.
    func grave(at key: MessageKey) -> Grave? { tree.version(at: key).flatMap { grave($0) } }

    /// Adds a commit without checking it out, and returns its index. Its basis must be in the history, the commit itself
    /// must not.
    mutating func add(_ node: Node) -> Int {
        let index = nodes.count
        var extra = node.folders
        for (key, files) in node.files {
            let count = addDifference(files, node.graves[key], at: key)
            if count != 0 { extra[key.channel, default: 0] -= count }
        }
        for (key, graves) in node.graves where node.files[key] == nil { _ = addDifference(nil, graves, at: key) }
        let counts = extra.filter { $0.value != 0 }.map { FolderCount(folder: $0.key, count: $0.value) }
        if !counts.isEmpty { extraCounts[UInt32(truncatingIfNeeded: index)] = counts }
        nodes.append(PackedNode(sequence: node.sequence, basis: node.basis, end: differences.count))
        let place = commits.add(node.commit)
        assert(Int(place) == index, "a commit is added once")
        return index
    }

    /// Adds what changed under a key; how many files more its folder has.
    private mutating func addDifference(
        _ files: Difference<File>?,
        _ graves: Difference<Grave>?,
        at key: MessageKey
    ) -> Int {
        let path = tree.addedPath(of: key)
        let packed = PackedDifference(
            path: path,
            before: added(files?.before, graves?.before, at: path),
            after: added(files?.after, graves?.after, at: path)
        )
        differences.append(packed)
        return packed.count
    }

    /// The version that a file, else a grave is. Adds it unless the tree that is checked out has it.
    private mutating func added(_ file: File?, _ grave: Grave?, at path: UInt32) -> UInt32 {
        if let file {
            if let known = tree.version(at: path), self.file(known) == file { return known }
            let place = UInt32(truncatingIfNeeded: versions.count)
            let packed = PackedFile(file)
            versions.append(packed)
            if packed.isRare { rareVersions[place] = file }
            return place
        }
        guard let grave else { return PackedDifference.none }
        if let known = tree.version(at: path), self.grave(known) == grave { return known }
        // By a quarter and not by double, as the memory of very many graves counts.
        if graves.count == graves.capacity { graves.reserveCapacity(graves.count + graves.count / 4 + 8) }
        graves.append(grave)
        return PackedDifference.graveBit | UInt32(truncatingIfNeeded: graves.count - 1)
    }

    /// Takes the commits whose events were dropped, in order of their sequences. `admit` adds each in its place.
    mutating func expect(_ commits: [Awaited]) {
        awaited += commits.reversed()
    }

    /// Adds the expected commits that came before an event. Of two with one id, the first counts.
    mutating func admit(before sequence: UInt64) {
        while let next = awaited.last, next.node.sequence < sequence {
            awaited.removeLast()
            guard index(of: next.node.commit) == nil else { continue }
            var node = next.node
            node.basis = next.basis.flatMap { index(of: $0) }
            _ = add(node)
        }
    }

    /// The commit at an index.
    func node(at index: Int) -> Node {
        let packed = nodes[index]
        var node = Node(commit: commit(at: index), sequence: packed.sequence, basis: packed.basisIndex)
        forEachFile(ofNode: index) { node.files[$0] = $1 }
        forEachGrave(ofNode: index) { node.graves[$0] = $1 }
        forEachFolder(ofNode: index) { node.folders[$0, default: 0] += $1 }
        node.folders = node.folders.filter { $0.value != 0 }
        return node
    }

    /// Checks out a commit, or the empty tree. Cost: O(changes of the commits on the path between the two).
    mutating func checkOut(_ target: Int?) {
        let path = path(from: tip, to: target)
        for index in path.back { takeBack(index) }
        for index in path.forth { apply(index) }
        tip = target
    }

    /// The commits between two: those to take back, then those to apply, each in order.
    private func path(from start: Int?, to end: Int?) -> (back: [Int], forth: [Int]) {
        var (here, there) = (start, end)
        var path: (back: [Int], forth: [Int]) = ([], [])
        while here != there {
            // The later commit moves to its basis, which is earlier, so both meet at the last common one.
            if let index = here, index > there ?? -1 {
                path.back.append(index)
                here = nodes[index].basisIndex
            } else if let index = there {
                path.forth.append(index)
                there = nodes[index].basisIndex
            }
        }
        // The way down was collected from its end.
        path.forth.reverse()
        return path
    }

    /// The differences between two commits, collected on the path through their common basis. A key that changes on the
    /// way and back again stays in the span, with equal sides.
    ///
    /// Cost: O(changes of the commits on that path).
    func span(from start: Int?, to end: Int?) -> GitSpan {
        var span = GitSpan()
        let path = path(from: start, to: end)
        for index in path.back { takeBack(index, in: &span) }
        for index in path.forth { add(index, to: &span) }
        return span
    }

    private func add(_ index: Int, to span: inout GitSpan) {
        forEachFile(ofNode: index) { span.add($1, at: $0) }
        forEachGrave(ofNode: index) { span.add($1, at: $0) }
        forEachFolder(ofNode: index) { span.count($1, in: $0) }
    }

    private func takeBack(_ index: Int, in span: inout GitSpan) {
        forEachFile(ofNode: index) { span.takeBack($1, at: $0) }
        forEachGrave(ofNode: index) { span.takeBack($1, at: $0) }
        forEachFolder(ofNode: index) { span.count(-$1, in: $0) }
    }

    private func forEachFile(ofNode index: Int, _ body: (MessageKey, Difference<File>) -> Void) {
        for place in places(ofNode: index) {
            let packed = differences[place]
            let difference = Difference(before: file(packed.before), after: file(packed.after))
            if difference.before == nil, difference.after == nil { continue }
            body(tree.key(ofPath: packed.path), difference)
        }
    }

    private func forEachGrave(ofNode index: Int, _ body: (MessageKey, Difference<Grave>) -> Void) {
        for place in places(ofNode: index) {
            let packed = differences[place]
            guard PackedDifference.isGrave(packed.before) || PackedDifference.isGrave(packed.after) else { continue }
            let difference = Difference(before: grave(packed.before), after: grave(packed.after))
            body(tree.key(ofPath: packed.path), difference)
        }
    }

    /// Calls a closure with the numbers of files that a commit adds to folders; a folder may come several times.
    private func forEachFolder(ofNode index: Int, _ body: (EntityID, Int) -> Void) {
        for place in places(ofNode: index) where differences[place].count != 0 {
            body(tree.key(ofPath: differences[place].path).channel, differences[place].count)
        }
        for extra in extraCounts(at: index) { body(extra.folder, extra.count) }
    }

    /// The places of a commit's differences.
    private func places(ofNode index: Int) -> Range<Int> {
        (index == 0 ? 0 : Int(nodes[index - 1].end))..<Int(nodes[index].end)
    }

    private func extraCounts(at index: Int) -> [FolderCount] {
        extraCounts.isEmpty ? [] : extraCounts[UInt32(truncatingIfNeeded: index)] ?? []
    }

    /// The file that a version is; `nil` for a grave or none.
    private func file(_ version: UInt32) -> File? {
        guard PackedDifference.isFile(version) else { return nil }
        let packed = versions[Int(version)]
        return packed.isRare ? rareVersions[version] : packed.file
    }

    /// The grave that a version is; `nil` for a file or none.
    private func grave(_ version: UInt32) -> Grave? {
        PackedDifference.isGrave(version) ? graves[Int(version & ~PackedDifference.graveBit)] : nil
    }

    /// Applies a commit whose basis is checked out.
    private mutating func apply(_ index: Int) {
        for place in places(ofNode: index) {
            let difference = differences[place]
            tree.set(difference.after, at: difference.path)
            count(difference.count, in: tree.key(ofPath: difference.path).channel)
        }
        for extra in extraCounts(at: index) { count(extra.count, in: extra.folder) }
    }

    /// Takes back the commit that is checked out.
    private mutating func takeBack(_ index: Int) {
        for place in places(ofNode: index) {
            let difference = differences[place]
            tree.set(difference.before, at: difference.path)
            count(-difference.count, in: tree.key(ofPath: difference.path).channel)
        }
        for extra in extraCounts(at: index) { count(-extra.count, in: extra.folder) }
    }

    private mutating func count(_ count: Int, in folder: EntityID) {
        if count == 0 { return }
        let sum = (folders[folder] ?? 0) + count
        folders[folder] = sum == 0 ? nil : sum
    }
}

// MARK: - Packed commits

extension GitHistory {
    /// A commit without its id and its differences. Words of 32 bits leave no padding.
    private struct PackedNode: BitwiseCopyable {
        private let high: UInt32
        private let low: UInt32
        /// Counted from 1; 0 for the empty tree.
        private let basis: UInt32
        /// The place behind its last difference; the first one follows the last of the commit before.
        let end: UInt32

        init(sequence: UInt64, basis: Int?, end: Int) {
            high = UInt32(truncatingIfNeeded: sequence >> 32)
            low = UInt32(truncatingIfNeeded: sequence)
            self.basis = UInt32(truncatingIfNeeded: basis.map { $0 + 1 } ?? 0)
            self.end = UInt32(truncatingIfNeeded: end)
        }

        var sequence: UInt64 { UInt64(high) << 32 | UInt64(low) }
        var basisIndex: Int? { basis == 0 ? nil : Int(basis) - 1 }
    }

    /// A file in twelve bytes, unless it is rare: it is no message and one was there before, or its sequence is very great.
    private struct PackedFile: BitwiseCopyable {
        private enum Kind: UInt32 {
            case message, none, rare
        }

        private let blob: UInt32
        private let low: UInt32
        /// Two bits of `Kind` below the upper bits of the sequence.
        private let high: UInt32

        init(_ file: File) {
            var kind = file.isMessage ? Kind.message : file.usable == nil ? .none : .rare
            if file.since >> 62 > 0 { kind = .rare }
            blob = file.blob
            low = UInt32(truncatingIfNeeded: file.since)
            high = UInt32(truncatingIfNeeded: file.since >> 32) << 2 | kind.rawValue
        }

        var isRare: Bool { high & 3 == Kind.rare.rawValue }

        var file: File {
            let since = UInt64(high >> 2) << 32 | UInt64(low)
            return File(blob: blob, usable: high & 3 == Kind.message.rawValue ? blob : nil, since: since)
        }
    }

    /// What changed under one path: its place, and a version before and after, either of which may be none.
    private struct PackedDifference: BitwiseCopyable {
        /// No file and no grave.
        static let none = UInt32.max
        /// The bit of a version that is the place of a grave; without it, it is the place of a file.
        static let graveBit: UInt32 = 1 << 31

        let path: UInt32
        let before: UInt32
        let after: UInt32

        static func isFile(_ version: UInt32) -> Bool { version & graveBit == 0 }
        static func isGrave(_ version: UInt32) -> Bool { version & graveBit != 0 && version != none }

        /// How many files the difference adds to the folder: 1, 0 or -1.
        var count: Int { (Self.isFile(after) ? 1 : 0) - (Self.isFile(before) ? 1 : 0) }
    }

    private struct FolderCount: Codable {
        var folder: EntityID
        var count: Int
    }
}
