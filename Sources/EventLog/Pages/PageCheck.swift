import JSON

/// Checks the pages of an LMDB data file without LMDB, which maps them without validating them: meta pages, trees and
/// free list (I7, I24).
///
/// The layout is that of `mdb.c` in LMDB 0.9 on a 64-bit machine. The check accepts each state that LMDB commits
/// (`docs/format.md`, "The pages", names the function behind each rule), and LMDB can walk over any state that the check
/// accepts without leaving the file. Memory: some bits for each page in use, and a copy of one page for each level. Use
/// a value once, from one thread.
struct PageCheck {
    /// What is wrong with the file, and where.
    struct Damage: Error, Equatable {
        let page: UInt64
        let reason: String
    }

    /// Receives the entries of a table in key order. Key and value are borrowed until it returns.
    typealias Visit = (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Void

    /// Receives the number of bytes checked so far and the total.
    typealias Progress = @Sendable (_ done: UInt64, _ total: UInt64) -> Void

    /// How many pages are checked between two reports: a power of two, for the mask in `claim`.
    private static let pagesBetweenReports: UInt64 = 1 << 13

    private let reader: PageReader
    private let meta: MetaPage
    /// How many whole pages the file has. It may lack the last pages of a state if they are free: LMDB never wrote
    /// them.
    private let filePages: UInt64
    /// Whether nothing was ever removed from a table: then a branch page's key equals the first key of its child.
    private let isGrown: Bool
    /// Every page that was claimed, and the two meta pages.
    private var seen = PageSet()
    /// How many pages were claimed, without the two meta pages.
    private var claimed: UInt64 = 0
    /// Receives the number of bytes checked so far and the total.
    var progress: Progress?
    /// The table to check last. `tree` and `page`, the page that names it, are set once the main tree has been walked.
    private var deferred: (name: String, tree: TreeHeader?, page: UInt64)?

    /// Checks the newest state of a file.
    ///
    /// - Parameters:
    ///   - isGrown: Whether nothing was ever removed from a table. Then a branch page's key must equal the first key of
    ///     its child.
    ///   - name: A table to skip. Missing pages are then not found.
    /// - Throws: `Damage`.
    static func run(_ file: DataFile, isGrown: Bool = false, omitting name: String? = nil) throws {
        var check = try PageCheck(file, isGrown: isGrown)
        try check.begin(deferring: name)
        if name == nil { try check.finish { _, _ in } }
    }

    /// Checks the state of one transaction, whose pages must not be reused during the check.
    ///
    /// - Throws: `Damage`.
    static func run(_ file: DataFile, transaction: UInt64, isGrown: Bool, progress: Progress? = nil) throws {
        var check = try PageCheck(file, transaction: transaction, isGrown: isGrown)
        check.progress = progress
        try check.begin(deferring: nil)
        try check.finish { _, _ in }
    }

    /// Checks what LMDB trusts when it opens a file: the meta pages, and that the file is as long as they claim.
    /// Reading the map of a truncated file would end the process with SIGBUS.
    ///
    /// - Throws: `Damage`; `LMDBError` if the file cannot be read.
    static func checkBeforeOpening(_ file: DataFile) throws {
        for attempt in 0..<20 {
            do {
                let metas = try checkedMetas(file)
                try checkLastFreed(file, metas)
                let newest = metas.0.transaction > metas.1.transaction ? metas.0 : metas.1
                // A file may lack its last pages only if they are free, which the full check finds out.
                if try file.byteCount() < (newest.lastPage + 1) * newest.pageSize { try run(file) }
                return
            } catch let damage as Damage {
                // Another process may commit between the reads of the two meta pages.
                guard attempt < 19 else { throw damage }
                pause(milliseconds: 1)
            }
        }
    }

    /// Prepares the check of the newest state, or of one transaction's state.
    ///
    /// - Throws: `Damage` of the meta pages; `LMDBError` if the file cannot be read.
    init(_ file: DataFile, transaction: UInt64? = nil, isGrown: Bool) throws {
        let metas = try Self.checkedMetas(file)
        let wanted = transaction ?? max(metas.0.transaction, metas.1.transaction)
        guard let meta = [metas.0, metas.1].first(where: { $0.transaction == wanted }) else {
            throw Damage(page: 0, reason: "transaction \(wanted) has no meta page")
        }
        try Self.checkLastFreed(file, metas)
        self.init(file, meta, filePages: try file.byteCount() / meta.pageSize, isGrown: isGrown)
    }

    private init(_ file: DataFile, _ meta: MetaPage, filePages: UInt64, isGrown: Bool) {
        reader = PageReader(file, pageBytes: meta.pageSize)
        self.meta = meta
        self.filePages = filePages
        self.isGrown = isGrown
    }

    /// Checks everything but the table `name`, which `finish` checks. Afterwards LMDB may read all other tables.
    ///
    /// - Throws: `Damage`.
    mutating func begin(deferring name: String?) throws {
        deferred = name.map { ($0, nil, 0) }
        guard meta.lastPage >= 1 else { throw Damage(page: 0, reason: "it names \(meta.lastPage) as the last page") }
        _ = seen.insert(0)
        _ = seen.insert(1)
        try walk(tree: meta.mainTree, role: .main, from: 0) { _, _ in }
        try walk(tree: meta.freeTree, role: .free, from: 0) { _, _ in }
    }

    /// Checks the deferred table, passing its entries to `visit`, then that the file lacks no page in use.
    ///
    /// - Throws: `Damage`; what `visit` throws.
    mutating func finish(_ visit: Visit) throws {
        if let deferred, let tree = deferred.tree {
            try walk(tree: tree, role: .deferred, from: deferred.page, visit)
        }
        guard meta.lastPage < filePages || claimed + 2 == meta.lastPage + 1 else {
            throw Damage(page: filePages, reason: "the file ends before it, and nothing says that it is free")
        }
        assert(claimed < meta.lastPage, "each page from 2 to the last is claimed at most once")
        let byteCount = (meta.lastPage + 1) * meta.pageSize
        progress?(byteCount, byteCount)
    }

    /// Checks the transaction number of each meta page against its free list: a commit records the pages that it frees
    /// under its own number. This finds a number that was altered to another plausible one.
    ///
    /// - Throws: `Damage`.
    static func checkLastFreed(_ file: DataFile, _ metas: (MetaPage, MetaPage)) throws {
        for meta in [metas.0, metas.1] where meta.transaction > 1 {
            let check = PageCheck(file, meta, filePages: 0, isGrown: false)
            guard (try? check.lastFreed()) == meta.transaction else {
                throw Damage(page: meta.number, reason: "it was not written by transaction \(meta.transaction)")
            }
        }
    }

    /// The greatest transaction number in the free list; `nil` if the list is empty or malformed.
    private func lastFreed() throws -> UInt64? {
        var number = meta.freeTree.root
        // Bounded, since a damaged branch page may lead in a circle.
        for _ in 0..<64 {
            let page = try read(number)
            guard let last = try page.nodes().last else { return nil }
            if page.isLeaf { return last.key.count == 8 ? last.key.loadUnaligned(as: UInt64.self) : nil }
            number = last.child
        }
        return nil
    }

    /// The two meta pages, checked against each other. LMDB uses the one with the greater transaction number.
    ///
    /// - Throws: `Damage`.
    static func checkedMetas(_ file: DataFile) throws -> (MetaPage, MetaPage) {
        let metas = file.metaPages()
        guard let first = metas[0] else { throw Damage(page: 0, reason: "it is no meta page") }
        guard let second = metas[1] else { throw Damage(page: 1, reason: "it is no meta page") }
        for (number, meta) in [(UInt64(0), first), (1, second)] {
            guard meta.number == number, meta.transaction == 0 || meta.transaction & 1 == number else {
                throw Damage(page: number, reason: "its number or its transaction belongs to another place")
            }
            if let reason = meta.fault { throw Damage(page: number, reason: reason) }
        }
        let (low, high) = (min(first.transaction, second.transaction), max(first.transaction, second.transaction))
        guard high - low <= 1, first.pageSize == second.pageSize, first.freeTree.flags == second.freeTree.flags else {
            throw Damage(page: first.transaction < second.transaction ? 0 : 1, reason: "the two meta pages do not fit")
        }
        return (first, second)
    }
}

// MARK: - Trees

extension PageCheck {
    private enum Role {
        /// `main` names the tables; `table` is one of them; `deferred` is the one whose entries are visited; `free` is
        /// the free list.
        case main, table, deferred, free

        var isTable: Bool { self == .table || self == .deferred }
    }

    /// Pages and entries met in the walk over one tree; they must equal those in its header.
    private struct Count {
        var branches: UInt64 = 0
        var leaves: UInt64 = 0
        var overflows: UInt64 = 0
        var entries: UInt64 = 0
    }

    /// The key range of a page: from `low`, inclusive, to `high`, exclusive; `nil` means unbounded.
    private struct Bounds {
        var low: [UInt8]?
        var high: [UInt8]?
    }

    /// Walks over one tree from its root, and compares the counts with its header. `page` is the page that names the
    /// tree, for messages.
    private mutating func walk(tree: TreeHeader, role: Role, from page: UInt64, _ visit: Visit) throws {
        // Those of the free tree are checked with the meta pages.
        guard role == .free || tree.flags == 0 else { throw Damage(page: page, reason: "a tree has strange flags") }
        var count = Count()
        if tree.root == TreeHeader.noPage {
            guard tree.depth == 0 else { throw Damage(page: page, reason: "an empty tree has a depth") }
        } else {
            guard (1...64).contains(tree.depth) else { throw Damage(page: page, reason: "a tree has a strange depth") }
            try walk(tree.root, levelsLeft: Int(tree.depth), role, Bounds(), &count, visit)
        }
        guard count.branches == tree.branchPages, count.leaves == tree.leafPages,
            count.overflows == tree.overflowPages, count.entries == tree.entries
        else { throw Damage(page: page, reason: "a tree has other numbers of pages or entries than it says") }
    }

    private mutating func walk(
        _ number: UInt64,
        levelsLeft: Int,
        _ role: Role,
        _ bounds: Bounds,
        _ count: inout Count,
        _ visit: Visit
    ) throws {
        try claim(number)
        let page = try read(number)
        // The depth in the header bounds the recursion, whatever the pages say.
        guard page.isBranch == (levelsLeft > 1) else { throw Damage(page: number, reason: "it is on a wrong level") }
        // Below a leaf of a table only large values are read, and those reads leave the borrowed page as it is.
        if page.isLeaf && role.isTable { return try walk(leaf: page, role, bounds, &count, visit) }
        // Copied, because reading child pages or the trees of tables reuses the borrowed buffer.
        let copy = Array(page.bytes)
        try copy.withUnsafeBytes { bytes in
            let page = DataPage(bytes: bytes, number: number)
            guard page.isBranch else { return try walk(leaf: page, role, bounds, &count, visit) }
            try walk(branch: page, levelsLeft: levelsLeft, role, bounds, &count, visit)
        }
    }

    private mutating func walk(
        leaf page: DataPage,
        _ role: Role,
        _ bounds: Bounds,
        _ count: inout Count,
        _ visit: Visit
    ) throws {
        count.leaves += 1
        var order = KeyOrder(bounds.low, isNumeric: role == .free, beginsAtLow: isGrown && role.isTable)
        try page.forEachNode { _, node in
            guard order.accepts(node.key) else { throw Damage(page: page.number, reason: "a key is out of order") }
            try look(at: node, page.number, role, &count, visit)
        }
        guard order.endsBefore(bounds.high) else { throw Damage(page: page.number, reason: "a key is out of order") }
    }

    private mutating func walk(
        branch page: DataPage,
        levelsLeft: Int,
        _ role: Role,
        _ bounds: Bounds,
        _ count: inout Count,
        _ visit: Visit
    ) throws {
        assert(levelsLeft > 1, "a branch page has a level below it")
        count.branches += 1
        let nodes = try page.nodes()
        var order = KeyOrder(bounds.low, isNumeric: role == .free, beginsAtLow: false)
        // The first key of a branch page has no meaning: its child begins where the page itself begins.
        guard nodes.dropFirst().allSatisfy({ order.accepts($0.key) }), order.endsBefore(bounds.high) else {
            throw Damage(page: page.number, reason: "a key is out of order")
        }
        for (index, node) in nodes.enumerated() {
            let below = Bounds(
                low: index == 0 ? bounds.low : Array(node.key),
                high: index + 1 < nodes.count ? Array(nodes[index + 1].key) : bounds.high
            )
            try walk(node.child, levelsLeft: levelsLeft - 1, role, below, &count, visit)
        }
    }
}

// MARK: - Leaves

extension PageCheck {
    /// Checks one entry of a leaf: claims the pages of a large value, then does what the tree is for.
    private mutating func look(
        at node: DataPage.Node,
        _ number: UInt64,
        _ role: Role,
        _ count: inout Count,
        _ visit: Visit
    ) throws {
        count.entries += 1
        if let first = node.overflowPage {
            count.overflows += try claimOverflow(first, byteCount: node.byteCount, below: number)
        }
        switch (role, node.table) {
        case (.main, let table?): try lookAtTable(table, node.key, number)
        case (.table, nil): break
        case (.deferred, nil): try lend(node, visit)
        case (.free, nil): try lookAtFreePages(node, number)
        default: throw Damage(page: number, reason: "a value is of a kind that its table does not have")
        }
    }

    /// Walks over the tree of a table, or notes it for `finish`.
    private mutating func lookAtTable(_ tree: TreeHeader, _ name: UnsafeRawBufferPointer, _ number: UInt64) throws {
        if let wanted = deferred?.name, name.elementsEqual(wanted.utf8) {
            deferred = (wanted, tree, number)
        } else {
            try walk(tree: tree, role: .table, from: number) { _, _ in }
        }
    }

    /// Passes an entry to `visit`; copies a large value, whose pages need not be in the buffer.
    private func lend(_ node: DataPage.Node, _ visit: Visit) throws {
        guard node.overflowPage != nil else { return try visit(node.key, node.value) }
        try value(of: node, 0..<node.byteCount).withUnsafeBytes { try visit(node.key, $0) }
    }

    /// Checks one entry of the free list and claims its pages. The key is the transaction that freed them; the value is
    /// a count and that many page numbers, descending. All are in native byte order.
    private mutating func lookAtFreePages(_ node: DataPage.Node, _ number: UInt64) throws {
        let freed = node.key.count == 8 ? node.key.loadUnaligned(as: UInt64.self) : .max
        guard freed <= meta.transaction else {
            throw Damage(page: number, reason: "pages were freed by a transaction that is still to come")
        }
        // `mdb_freelist_save` reserves room before it knows how many pages are left to note, so the value may have more
        // words than its list. Only the count of an empty list is set, and whatever lies behind a list is undefined.
        let words = node.byteCount / 8
        let length = try words == 0 ? .max : numbers(of: node, 0..<1)[0]
        guard length < words else {
            throw Damage(page: number, reason: "a list of free pages is longer than its value")
        }
        var last = UInt64.max
        for start in stride(from: 0, to: Int(length), by: Self.freePagesAtOnce) {
            let end = min(start + Self.freePagesAtOnce, Int(length))
            for page in try numbers(of: node, start + 1..<end + 1) {
                guard page < last else { throw Damage(page: number, reason: "a list of free pages does not descend") }
                last = page
                try claim(page)
            }
        }
    }

    /// A list of free pages may be as long as a large value, so it is read piece by piece.
    private static let freePagesAtOnce = 4_096

    /// Some of the 64-bit numbers in a value.
    private func numbers(of node: DataPage.Node, _ range: Range<Int>) throws -> [UInt64] {
        try value(of: node, range.lowerBound * 8..<range.upperBound * 8).withUnsafeBytes { bytes in
            range.indices.map { bytes.loadUnaligned(fromByteOffset: ($0 - range.lowerBound) * 8, as: UInt64.self) }
        }
    }

    /// Some bytes of a value, copied. A large value begins after the 16 bytes of its first page's header; the pages
    /// after that have no headers.
    private func value(of node: DataPage.Node, _ range: Range<Int>) throws -> [UInt8] {
        assert(range.upperBound <= node.byteCount, "the value has the bytes that are read")
        guard let first = node.overflowPage else { return Array(node.value[range]) }
        guard let bytes = reader.bytes(range.count, at: first * meta.pageSize + 16 + UInt64(range.lowerBound)) else {
            throw Damage(page: first, reason: "it lies behind the end of the file")
        }
        return bytes
    }

    /// Checks and claims the pages of a large value. Returns their number.
    ///
    /// It may have more than it needs, even none of them full: `mdb_cursor_put` writes a value in place of one of the
    /// same transaction if that has pages enough, and leaves their number as it was. All of them belong to the value:
    /// the tree counts them (`mdb_page_new`), and `mdb_ovpage_free` frees them together.
    private mutating func claimOverflow(_ first: UInt64, byteCount: Int, below number: UInt64) throws -> UInt64 {
        // `OVPAGES` of `mdb.c`: the page header's 16 bytes and the value, rounded up to pages.
        let needed = (15 + UInt64(byteCount)) / meta.pageSize + 1
        let pages = try overflowPages(at: first, atLeast: needed, byteCount, below: number)
        for page in first..<first + pages { try claim(page) }
        return pages
    }
}

// MARK: - Pages

extension PageCheck {
    /// Records that one thing refers to a page; a second claim is damage.
    private mutating func claim(_ number: UInt64) throws {
        guard number >= 2, number <= meta.lastPage else {
            throw Damage(page: number, reason: "something refers to it, but there are pages 2 to \(meta.lastPage)")
        }
        claimed += 1
        if claimed & (Self.pagesBetweenReports - 1) == 0 {
            progress?(claimed * meta.pageSize, (meta.lastPage + 1) * meta.pageSize)
        }
        guard seen.insert(number) else { throw Damage(page: number, reason: "it is in use twice, or free and in use") }
    }

    /// A branch or leaf page. Its bytes are borrowed until the next page is read.
    private func read(_ number: UInt64) throws -> DataPage {
        Steps.count(1)
        guard number <= meta.lastPage else { throw Damage(page: number, reason: "there is no such page") }
        guard let bytes = reader.page(number) else {
            throw Damage(page: number, reason: "it lies behind the end of the file")
        }
        let page = DataPage(bytes: bytes, number: number)
        guard page.hasOwnNumber, page.isBranch || page.isLeaf else {
            throw Damage(page: number, reason: "it is not the page that belongs there")
        }
        return page
    }

    /// How many pages the large value takes that begins at `first`, by that page's own header. `number` is the page that
    /// names the value.
    private func overflowPages(
        at first: UInt64,
        atLeast needed: UInt64,
        _ byteCount: Int,
        below number: UInt64
    ) throws -> UInt64 {
        func isWithinFile(_ pages: UInt64) -> Bool {
            first < filePages && pages <= filePages - first && first + pages <= meta.lastPage + 1
        }
        guard isWithinFile(needed) else {
            throw Damage(page: number, reason: "a large value lies behind the last page")
        }
        guard let header = reader.header(of: first) else {
            throw Damage(page: first, reason: "it lies behind the end of the file")
        }
        return try header.withUnsafeBytes { bytes in
            let page = DataPage(bytes: bytes, number: first)
            guard page.hasOwnNumber else { throw Damage(page: first, reason: "it is not the page that belongs there") }
            guard page.isOverflow, page.overflowPages >= needed else {
                throw Damage(page: first, reason: "it does not begin a value of \(byteCount) bytes")
            }
            guard isWithinFile(page.overflowPages) else {
                throw Damage(page: first, reason: "its value has pages behind the last page")
            }
            return page.overflowPages
        }
    }
}
