/// One of the two meta pages of an LMDB 0.9 data file of a 64-bit machine (`mdb.c`, `MDB_meta`). Numbers are in the
/// machine's own byte order.
struct MetaPage: Equatable {
    /// The page's header of 16 bytes, then `MDB_meta`: magic, data version, address, map size, two `MDB_db`, last page
    /// and transaction.
    static let byteCount = 152
    private static let magic: UInt32 = 0xBEEF_C0DE
    private static let dataVersion: UInt32 = 1
    /// The page's own flags (`P_META`).
    private static let pageFlags: UInt16 = 8

    /// The page number: 0 or 1.
    let number: UInt64
    /// In bytes. LMDB stores it in the first field of the free tree's `MDB_db` (`md_pad`).
    let pageSize: UInt64
    /// The B-tree of free pages and the main B-tree.
    let freeTree: TreeHeader
    let mainTree: TreeHeader
    /// The greatest page number in use.
    let lastPage: UInt64
    /// The number of the commit that wrote this page.
    let transaction: UInt64
    /// The address at which the map must begin; zero leaves that to the system.
    private let address: UInt64
    /// The greatest size that the map of a writer has had, in bytes.
    private let mapBytes: UInt64

    /// Reads the meta page at the start of the bytes; `nil` if it is not one of this format.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.byteCount else { return nil }
        let word = { (offset: Int) in bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
        guard bytes.loadUnaligned(fromByteOffset: 10, as: UInt16.self) == Self.pageFlags,
            bytes.loadUnaligned(fromByteOffset: 16, as: UInt32.self) == Self.magic,
            bytes.loadUnaligned(fromByteOffset: 20, as: UInt32.self) == Self.dataVersion
        else { return nil }
        number = word(0)
        address = word(24)
        mapBytes = word(32)
        pageSize = UInt64(bytes.loadUnaligned(fromByteOffset: 40, as: UInt32.self))
        freeTree = TreeHeader(bytes, at: 40)
        mainTree = TreeHeader(bytes, at: 88)
        lastPage = word(136)
        transaction = word(144)
        // With these bounds the product of a page number and the page size fits 64 bits.
        guard (512...65_536).contains(pageSize), pageSize.isPowerOfTwo, lastPage < 1 << 47 else { return nil }
    }
}

extension MetaPage {
    /// `MDB_INTEGERKEY`, since the keys of the free tree are transaction numbers, and perhaps `MDB_NOSUBDIR`, which
    /// `mdb_env_init_meta0` takes over from the environment that makes the file, such as that of `mdb_copy -c -n`. It
    /// means nothing there. The main tree has no flags.
    private static let freeTreeFlags: [UInt16] = [8, 0x4008]

    /// The first sign that this program did not write the page, in words; `nil` without any.
    var fault: String? {
        if address != 0 { return "it asks for a fixed map" }
        // A log's map begins with 64 GiB and is only ever doubled.
        if !mapBytes.isPowerOfTwo || mapBytes < 1 << 30 { return "it says a strange size of the map" }
        if !Self.freeTreeFlags.contains(freeTree.flags) || mainTree.flags != 0 { return "a tree has strange flags" }
        return nil
    }
}

/// The root and the counts of one B-tree (`MDB_db`).
struct TreeHeader: Equatable {
    static let byteCount = 48
    /// The root of an empty tree.
    static let noPage = UInt64.max

    let flags: UInt16
    /// Levels from the root to the leaves; 0 for an empty tree.
    let depth: UInt16
    let branchPages: UInt64
    let leafPages: UInt64
    /// Pages of values that are too large for a leaf.
    let overflowPages: UInt64
    let entries: UInt64
    let root: UInt64

    init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        let word = { (place: Int) in bytes.loadUnaligned(fromByteOffset: offset + place, as: UInt64.self) }
        flags = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt16.self)
        depth = bytes.loadUnaligned(fromByteOffset: offset + 6, as: UInt16.self)
        branchPages = word(8)
        leafPages = word(16)
        overflowPages = word(24)
        entries = word(32)
        root = word(40)
    }
}

extension UInt64 {
    fileprivate var isPowerOfTwo: Bool { self != 0 && self & (self - 1) == 0 }
}
