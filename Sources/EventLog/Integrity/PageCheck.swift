/// Reads the pages of an LMDB data file past LMDB, which maps them without looking: metas, trees and free list (I7).
///
/// Layout as in `mdb.c` of LMDB 0.9 on a 64-bit machine. What it accepts, LMDB can walk over without leaving the file.
struct PageCheck {
    /// What is wrong with the file, and where.
    struct Damage: Error, Equatable {
        let page: UInt64
        let reason: String
    }

    private let file: DataFile
    private let meta: MetaPage
    /// How many pages the file has. The newest ones of a state may be free ones that were never written.
    private let filePages: UInt64
    private var seen: PageSet
    private var claimed: UInt64 = 0

    /// Checks the newest state of a file, or the state of one transaction.
    ///
    /// - Throws: `Damage`.
    static func run(_ file: DataFile, transaction: UInt64? = nil) throws {
        let metas = try checkedMetas(file)
        let wanted = transaction ?? max(metas.0.transaction, metas.1.transaction)
        guard let meta = [metas.0, metas.1].first(where: { $0.transaction == wanted }) else {
            throw Damage(page: 0, reason: "transaction \(wanted) has no meta page")
        }
        try checkLastFreed(file, metas)
        let filePages = try file.byteCount() / meta.pageSize
        let seen = PageSet(count: min(meta.lastPage + 1, filePages))
        var check = PageCheck(file: file, meta: meta, filePages: filePages, seen: seen)
        try check.walk()
    }

    /// Whether each meta page has the transaction that wrote it: a commit notes the pages that it frees under its own
    /// number. By this a number is found that was altered to one that would fit as well.
    static func checkLastFreed(_ file: DataFile, _ metas: (MetaPage, MetaPage)) throws {
        for meta in [metas.0, metas.1] where meta.transaction > 1 {
            let check = PageCheck(file: file, meta: meta, filePages: 0, seen: PageSet(count: 0))
            guard (try? check.lastFreed()) == meta.transaction else {
                throw Damage(page: meta.number, reason: "it was not written by transaction \(meta.transaction)")
            }
        }
    }

    /// The greatest transaction number in the list of free pages.
    private func lastFreed() throws -> UInt64? {
        var number = meta.freeTree.root
        for _ in 0..<64 {
            let page = try read(number)
            guard let last = try page.nodes().last else { return nil }
            if page.isLeaf {
                return last.key.withUnsafeBytes { $0.count == 8 ? $0.loadUnaligned(as: UInt64.self) : nil }
            }
            number = last.child
        }
        return nil
    }

    private init(file: DataFile, meta: MetaPage, filePages: UInt64, seen: PageSet) {
        self.file = file
        self.meta = meta
        self.filePages = filePages
        self.seen = seen
    }

    /// The two meta pages, where they fit each other: LMDB takes whichever has the greater transaction number.
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
        guard high - low <= 1, first.pageSize == second.pageSize else {
            throw Damage(page: first.transaction < second.transaction ? 0 : 1, reason: "the two meta pages do not fit")
        }
        return (first, second)
    }

    private mutating func walk() throws {
        guard meta.lastPage >= 1 else { throw Damage(page: 0, reason: "it names \(meta.lastPage) as the last page") }
        _ = seen.insert(0)
        _ = seen.insert(1)
        try walk(tree: meta.mainTree, role: .main, from: 0)
        try walk(tree: meta.freeTree, role: .free, from: 0)
        guard meta.lastPage < filePages || claimed + 2 == meta.lastPage + 1 else {
            throw Damage(page: filePages, reason: "the file ends before it, and nothing says that it is free")
        }
    }
}

// MARK: - Trees

extension PageCheck {
    private enum Role {
        case main, table, free
    }

    /// What a walk over one tree has counted.
    private struct Count {
        var branches: UInt64 = 0
        var leaves: UInt64 = 0
        var overflows: UInt64 = 0
        var entries: UInt64 = 0
    }

    /// Between which keys a page's entries lie: from `low` on, below `high`.
    private struct Bounds {
        var low: [UInt8]?
        var high: [UInt8]?
    }

    private mutating func walk(tree: TreeHeader, role: Role, from page: UInt64) throws {
        let expectedFlags: UInt16 = role == .free ? 8 : 0
        guard tree.flags == expectedFlags else { throw Damage(page: page, reason: "a tree has strange flags") }
        var count = Count()
        if tree.root == TreeHeader.noPage {
            guard tree.depth == 0 else { throw Damage(page: page, reason: "an empty tree has a depth") }
        } else {
            guard (1...64).contains(tree.depth) else { throw Damage(page: page, reason: "a tree has a strange depth") }
            try walk(tree.root, levelsLeft: Int(tree.depth), role, Bounds(), &count)
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
        _ count: inout Count
    ) throws {
        try claim(number)
        let page = try read(number)
        guard page.isBranch == (levelsLeft > 1) else { throw Damage(page: number, reason: "it is on a wrong level") }
        let nodes = try page.nodes()
        // The first key of a branch page is not looked at: what lies below begins where the page begins.
        try checkOrder(of: page.isBranch ? nodes.dropFirst() : nodes[...], number, role, bounds)
        guard page.isBranch else {
            count.leaves += 1
            for node in nodes { try look(at: node, number, role, &count) }
            return
        }
        count.branches += 1
        for (index, node) in nodes.enumerated() {
            let below = Bounds(
                low: index == 0 ? bounds.low : node.key,
                high: index + 1 < nodes.count ? nodes[index + 1].key : bounds.high
            )
            try walk(node.child, levelsLeft: levelsLeft - 1, role, below, &count)
        }
    }

    private func checkOrder(
        of nodes: ArraySlice<DataPage.Node>,
        _ number: UInt64,
        _ role: Role,
        _ bounds: Bounds
    ) throws {
        var last: [UInt8]?
        for node in nodes {
            let isAboveLast = last.map { Self.ascends($0, node.key, role) } ?? true
            let isAboveLow = bounds.low.map { $0 == node.key || Self.ascends($0, node.key, role) } ?? true
            let isBelowHigh = bounds.high.map { Self.ascends(node.key, $0, role) } ?? true
            guard (1...511).contains(node.key.count), isAboveLast, isAboveLow, isBelowHigh else {
                throw Damage(page: number, reason: "a key is out of order")
            }
            last = node.key
        }
    }

    private static func ascends(_ left: [UInt8], _ right: [UInt8], _ role: Role) -> Bool {
        if role == .free, left.count == 8, right.count == 8 {
            let numbers = [left, right].map { bytes in
                bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
            }
            return numbers[0] < numbers[1]
        }
        return left.lexicographicallyPrecedes(right)
    }
}

// MARK: - Leaves

extension PageCheck {
    private mutating func look(at node: DataPage.Node, _ number: UInt64, _ role: Role, _ count: inout Count) throws {
        count.entries += 1
        if let first = node.overflowPage {
            count.overflows += try claimOverflow(first, byteCount: node.byteCount, below: number)
        }
        switch (role, node.table) {
        case (.main, let table?): try walk(tree: table, role: .table, from: number)
        case (.table, nil): break
        case (.free, nil): try lookAtFreePages(node, number)
        default: throw Damage(page: number, reason: "a value is of a kind that its table does not have")
        }
    }

    /// Free pages: a count and page numbers that descend, in the machine's own byte order.
    private mutating func lookAtFreePages(_ node: DataPage.Node, _ number: UInt64) throws {
        let freed = node.key.withUnsafeBytes { $0.count == 8 ? $0.loadUnaligned(as: UInt64.self) : .max }
        guard freed <= meta.transaction else {
            throw Damage(page: number, reason: "pages were freed by a transaction that is still to come")
        }
        let bytes = try value(of: node)
        let words = bytes.withUnsafeBytes { raw in
            (0..<raw.count / 8).map { raw.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self) }
        }
        guard let length = words.first, length < words.count else {
            throw Damage(page: number, reason: "a list of free pages is longer than its value")
        }
        var last = UInt64.max
        for page in words.dropFirst().prefix(Int(length)) {
            guard page < last else { throw Damage(page: number, reason: "a list of free pages does not descend") }
            last = page
            try claim(page)
        }
    }

    private func value(of node: DataPage.Node) throws -> [UInt8] {
        guard let first = node.overflowPage else { return node.value }
        var bytes = [UInt8](repeating: 0, count: node.byteCount)
        let isRead = bytes.withUnsafeMutableBytes { file.read($0, at: first * meta.pageSize + 16) }
        guard isRead else { throw Damage(page: first, reason: "it lies behind the end of the file") }
        return bytes
    }

    private mutating func claimOverflow(_ first: UInt64, byteCount: Int, below number: UInt64) throws -> UInt64 {
        let pages = (15 + UInt64(byteCount)) / meta.pageSize + 1
        guard first < filePages, pages <= filePages - first, first + pages <= meta.lastPage + 1 else {
            throw Damage(page: number, reason: "a large value lies behind the last page")
        }
        let header = try readHeader(first)
        guard header.isOverflow, header.overflowPages == pages else {
            throw Damage(page: first, reason: "it does not begin a value of \(byteCount) bytes")
        }
        for page in first..<first + pages { try claim(page) }
        return pages
    }
}

// MARK: - Pages

extension PageCheck {
    private mutating func claim(_ number: UInt64) throws {
        guard number >= 2, number <= meta.lastPage else {
            throw Damage(page: number, reason: "something refers to it, but there are pages 2 to \(meta.lastPage)")
        }
        claimed += 1
        guard seen.insert(number) else { throw Damage(page: number, reason: "it is in use twice, or free and in use") }
    }

    private func read(_ number: UInt64) throws -> DataPage {
        guard number <= meta.lastPage else { throw Damage(page: number, reason: "there is no such page") }
        var bytes = [UInt8](repeating: 0, count: Int(meta.pageSize))
        guard bytes.withUnsafeMutableBytes({ file.read($0, at: number * meta.pageSize) }) else {
            throw Damage(page: number, reason: "it lies behind the end of the file")
        }
        let page = DataPage(bytes: bytes, number: number)
        guard page.hasOwnNumber, page.isBranch || page.isLeaf else {
            throw Damage(page: number, reason: "it is not the page that belongs there")
        }
        return page
    }

    private func readHeader(_ number: UInt64) throws -> DataPage {
        var bytes = [UInt8](repeating: 0, count: DataPage.headerBytes)
        guard bytes.withUnsafeMutableBytes({ file.read($0, at: number * meta.pageSize) }) else {
            throw Damage(page: number, reason: "it lies behind the end of the file")
        }
        let page = DataPage(bytes: bytes, number: number)
        guard page.hasOwnNumber else { throw Damage(page: number, reason: "it is not the page that belongs there") }
        return page
    }
}

/// A set of page numbers, one bit each.
private struct PageSet {
    private var words: [UInt64]

    init(count: UInt64) {
        words = Array(repeating: 0, count: Int(clamping: count / 64 + 1))
    }

    /// False where it was in the set already. Numbers behind the file's end are not remembered.
    mutating func insert(_ number: UInt64) -> Bool {
        let bit: UInt64 = 1 << (number & 63)
        guard let place = Int(exactly: number / 64), place < words.count else { return true }
        guard words[place] & bit == 0 else { return false }
        words[place] |= bit
        return true
    }
}
