/// One page of an LMDB data file after the meta pages (`mdb.c`, `MDB_page` and `MDB_node`). It borrows its bytes and
/// copies none. Numbers are in the machine's own byte order.
struct DataPage {
    static let headerBytes = 16
    private static let nodeHeaderBytes = 8

    let bytes: UnsafeRawBufferPointer
    let number: UInt64

    /// One entry of a page.
    struct Node {
        let key: UnsafeRawBufferPointer
        /// The child page, in a branch page; otherwise 0.
        let child: UInt64
        /// The value's length, in the page or in overflow pages.
        let byteCount: Int
        /// The value if it lies in the page; otherwise empty.
        let value: UnsafeRawBufferPointer
        /// The first overflow page, if the value has any.
        let overflowPage: UInt64?
        /// The header of a table, if the value is one.
        let table: TreeHeader?
    }

    var hasOwnNumber: Bool { word(UInt64.self, 0) == number }
    var isBranch: Bool { flags == 1 }
    var isLeaf: Bool { flags == 2 }
    var isOverflow: Bool { flags == 4 }
    /// How many pages the large value takes that begins here.
    var overflowPages: UInt64 { UInt64(word(UInt32.self, 12)) }

    /// `P_BRANCH` 1, `P_LEAF` 2 or `P_OVERFLOW` 4; any other value is damage.
    private var flags: UInt16 { word(UInt16.self, 10) }

    @inline(__always)
    private func word<Number: FixedWidthInteger>(_ type: Number.Type, _ offset: Int) -> Number {
        bytes.loadUnaligned(fromByteOffset: offset, as: Number.self)
    }

    /// Passes the entries to `body` in the order of the page. Only after the last one is it certain that they fill the
    /// page without overlap.
    ///
    /// - Throws: `PageCheck.Damage` if an entry leaves the page or the entries do not fill it; what `body` throws.
    func forEachNode(_ body: (_ index: Int, Node) throws -> Void) throws {
        // `mp_lower` and `mp_upper` bound the free space between the offsets of the entries, after the header, and the
        // entries themselves, at the end of the page.
        let (lower, upper) = (Int(word(UInt16.self, 12)), Int(word(UInt16.self, 14)))
        guard word(UInt16.self, 8) == 0, lower >= Self.headerBytes, lower.isMultiple(of: 2), lower <= upper,
            upper <= bytes.count
        else { throw damaged("its header is altered") }
        let count = (lower - Self.headerBytes) / 2
        guard count >= (isBranch ? 2 : 1) else { throw damaged("it has too few entries") }
        var used = 0
        for index in 0..<count {
            let offset = Int(word(UInt16.self, Self.headerBytes + 2 * index))
            guard offset >= upper, offset.isMultiple(of: 2), offset + Self.nodeHeaderBytes <= bytes.count else {
                throw damaged("an entry lies outside")
            }
            try body(index, node(at: offset, &used))
        }
        guard used == bytes.count - upper else { throw damaged("its entries overlap or leave room") }
    }

    /// The entries in the order of the page.
    ///
    /// - Throws: as `forEachNode`.
    func nodes() throws -> [Node] {
        var nodes: [Node] = []
        try forEachNode { nodes.append($1) }
        return nodes
    }

    /// Reads one entry and adds the bytes that it takes to `used`.
    private func node(at offset: Int, _ used: inout Int) throws -> Node {
        assert(offset + Self.nodeHeaderBytes <= bytes.count, "an entry's header lies within the page")
        // `MDB_node`: the two halves of the value's size, flags, length of the key. A node of a branch page has no
        // value; size and flags are the 48 bits of the child's number.
        let (low, high) = (word(UInt16.self, offset), word(UInt16.self, offset + 2))
        let (flags, keyCount) = (word(UInt16.self, offset + 4), Int(word(UInt16.self, offset + 6)))
        let keyStart = offset + Self.nodeHeaderBytes
        let size = Int(low) | Int(high) << 16
        // Flag 1 (`F_BIGDATA`): the value is in overflow pages, and eight bytes here name the first. Flag 2
        // (`F_SUBDATA`): the value is an `MDB_db`.
        let inPage = isBranch ? 0 : flags & 1 != 0 ? 8 : size
        guard keyStart + keyCount + inPage <= bytes.count else { throw damaged("an entry leaves the page") }
        guard isBranch || [0, 1, 2].contains(flags), flags != 2 || size == TreeHeader.byteCount else {
            throw damaged("an entry has strange flags")
        }
        // LMDB begins each entry at an even offset.
        used += (Self.nodeHeaderBytes + keyCount + inPage + 1) & ~1
        let valueStart = keyStart + keyCount
        let valueEnd = valueStart + (flags == 1 || isBranch ? 0 : inPage)
        return Node(
            key: UnsafeRawBufferPointer(rebasing: bytes[keyStart..<valueStart]),
            child: isBranch ? UInt64(low) | UInt64(high) << 16 | UInt64(flags) << 32 : 0,
            byteCount: size,
            value: UnsafeRawBufferPointer(rebasing: bytes[valueStart..<valueEnd]),
            overflowPage: !isBranch && flags == 1 ? word(UInt64.self, valueStart) : nil,
            table: !isBranch && flags == 2 ? TreeHeader(bytes, at: valueStart) : nil
        )
    }

    private func damaged(_ reason: String) -> PageCheck.Damage {
        PageCheck.Damage(page: number, reason: reason)
    }
}
