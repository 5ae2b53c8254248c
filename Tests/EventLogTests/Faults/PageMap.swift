/// What every byte of an LMDB 0.9 data file is for, found out from the format alone (`mdb.c`: `MDB_page`, `MDB_node`,
/// `MDB_meta`, `MDB_db`), without the code under test.
struct PageMap {
    /// What a byte is for.
    enum Use: String, Hashable, CaseIterable {
        /// LMDB or the log reads it.
        case live
        /// A field that nothing reads in tables of this kind, or the odd byte behind an entry.
        case padding
        /// When pages were freed, how many, and which. Where it says fewer of them, or an earlier commit, pages lie idle or
        /// are used again sooner, which only a reader that has been open since before that commit could notice.
        case freeList
        /// Room in a page that nothing fills.
        case gap
        /// Only the state before the last commit has it, which nobody opens while the newer meta page is whole.
        case formerState
        /// A page that neither state refers to.
        case free
    }

    private(set) var uses: [Use]
    /// The pages that the newest state says to be free.
    private(set) var freePages: Set<UInt64> = []
    private let bytes: [UInt8]
    private let pageBytes: Int

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        uses = Array(repeating: .free, count: bytes.count)
        pageBytes = bytes.withUnsafeBytes { Int($0.loadUnaligned(fromByteOffset: 40, as: UInt32.self)) }
        let metas = [0, pageBytes].sorted { word($0 + 144) < word($1 + 144) }
        for meta in metas {
            walk(header: meta + 40, isFreeTree: true)
            walk(header: meta + 88, isFreeTree: false)
            guard meta == metas[0] else { continue }
            for place in uses.indices where uses[place] != .free { uses[place] = .formerState }
            freePages = []
        }
        markFormer(meta: metas[0])
        markNewest(meta: metas[1])
    }

    /// Of the older meta page LMDB reads what makes it one, and which commit wrote it.
    private mutating func markFormer(meta: Int) {
        mark(meta..<meta + 152, .formerState)
        mark(meta + 152..<meta + pageBytes, .gap)
        for range in [10..<12, 16..<24, 144..<152] { mark(range.lowerBound + meta..<range.upperBound + meta, .live) }
    }

    private mutating func markNewest(meta: Int) {
        mark(meta..<meta + 152, .live)
        mark(meta + 152..<meta + pageBytes, .gap)
        for range in [8..<10, 12..<16, 88..<92] { mark(range.lowerBound + meta..<range.upperBound + meta, .padding) }
    }

    private mutating func walk(header: Int, isFreeTree: Bool) {
        let root = word(header + 40)
        if root != UInt64.max { walk(page: Int(root), isFreeTree: isFreeTree) }
    }

    private mutating func walk(page: Int, isFreeTree: Bool) {
        let start = page * pageBytes
        let (flags, lower) = (half(start + 10), half(start + 12))
        mark(start..<start + pageBytes, .gap)
        mark(start..<start + lower, .live)
        for slot in stride(from: start + 16, to: start + lower, by: 2) {
            let node = start + half(slot)
            let value = node + 8 + half(node + 6)
            mark(node..<value, .live)
            if isFreeTree, flags & 1 == 0 { mark(node + 8..<value, .freeList) }
            if flags & 1 != 0 {
                walk(page: half(node) | half(node + 2) << 16 | half(node + 4) << 32, isFreeTree: isFreeTree)
            } else {
                markValue(at: value, count: half(node) | half(node + 2) << 16, flags: half(node + 4), isFreeTree)
            }
        }
    }

    private mutating func markValue(at place: Int, count: Int, flags: Int, _ isFreeTree: Bool) {
        guard flags & 1 == 0 else {
            mark(place..<place + 8, .live)
            let page = Int(word(place)) * pageBytes
            mark(page..<page + (16 + count + pageBytes - 1) / pageBytes * pageBytes, .gap)
            mark(page..<page + 16, .live)
            mark(page + 8..<page + 10, .padding)
            return markData(page + 16, count, isFreeTree)
        }
        if flags & 2 != 0 {
            mark(place..<place + 48, .live)
            mark(place..<place + 4, .padding)
            return walk(header: place, isFreeTree: false)
        }
        markData(place, count, isFreeTree)
    }

    /// A list of free pages says itself how many there are; it may stand in more room.
    private mutating func markData(_ place: Int, _ count: Int, _ isFreeTree: Bool) {
        guard isFreeTree else { return mark(place..<place + count, .live) }
        let end = place + 8 + 8 * Int(word(place))
        mark(place..<end, .freeList)
        mark(end..<place + count, .padding)
        for entry in stride(from: place + 8, to: end, by: 8) { freePages.insert(word(entry)) }
    }

    private mutating func mark(_ range: Range<Int>, _ use: Use) {
        for place in range { uses[place] = use }
    }

    private func word(_ place: Int) -> UInt64 {
        bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: UInt64.self) }
    }

    private func half(_ place: Int) -> Int {
        bytes.withUnsafeBytes { Int($0.loadUnaligned(fromByteOffset: place, as: UInt16.self)) }
    }
}
