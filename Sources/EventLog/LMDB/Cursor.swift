import CLMDB
import JSON

/// Walks over a table's entries in key order.
///
/// Make, use and destroy a cursor within one function; in a write transaction, destroy it before the commit. LMDB
/// closes the cursors of a write transaction itself when that ends, so closing one later would free it twice.
struct Cursor: ~Copyable {
    /// How many bytes before the current value `prefetch` begins: two or three events of the usual size. LMDB fills a
    /// leaf page from its end, so the next values lie at lower addresses.
    private static let prefetchedAhead = 1024

    private let handle: OpaquePointer
    private let tableName: String
    /// The key of the current entry and, in `found`, its value, as LMDB last set them. They point into the map or, in a
    /// write transaction, into one of its changed pages.
    private var keyValue = MDB_val()
    private var found = MDB_val()
    /// False until the first move, so that the first `advance` begins with the first entry.
    private var isPlaced = false

    init(_ view: TransactionView, _ table: Table) throws(LMDBError) {
        var cursor: OpaquePointer?
        try check(mdb_cursor_open(view.handle, table.handle, &cursor), "open a cursor on \(table.name)")
        guard let cursor else { throw LMDBError(MDB_CORRUPTED, "open a cursor on \(table.name)") }
        handle = cursor
        tableName = table.name
    }

    deinit {
        mdb_cursor_close(handle)
    }

    /// The key of the current entry. Valid after a move that returned true, for as long as the view's bytes are.
    var key: UnsafeRawBufferPointer {
        @inline(__always) get { keyValue.bytes }
    }

    /// The value of the current entry; valid as `key` is.
    var value: UnsafeRawBufferPointer {
        @inline(__always) get { found.bytes }
    }

    /// Moves to the next entry; a new cursor moves to the first. False after the last.
    @inline(__always)
    mutating func advance() throws(LMDBError) -> Bool {
        let moved = try move(isPlaced ? MDB_NEXT : MDB_FIRST)
        isPlaced = true
        return moved
    }

    /// Asks the processor to load the bytes of the entries after the next one. A hint only: it reads nothing.
    ///
    /// - Parameter pageBytes: the size of LMDB's pages, a power of two.
    @inline(__always)
    func prefetch(pageBytes: Int) {
        clmdb_prefetch_next(found, Self.prefetchedAhead, pageBytes)
    }

    /// Moves to the last entry; false if the table is empty.
    mutating func seekLast() throws(LMDBError) -> Bool {
        isPlaced = true
        return try move(MDB_LAST)
    }

    /// Moves to the first entry whose key is not below `sought`; false if there is none.
    mutating func seek(atLeast sought: [UInt8]) throws(LMDBError) -> Bool {
        let (code, key, value) = sought.withUnsafeBytes { Self.seek(handle, $0) }
        return try place(code, key, value)
    }

    /// Moves to the last entry whose key is not above `sought`; false if there is none.
    mutating func seek(atMost sought: [UInt8]) throws(LMDBError) -> Bool {
        guard try seek(atLeast: sought) else { return try seekLast() }
        // The cursor is at the first entry that is not below the sought key; unless it is that key, the entry before is
        // the answer.
        if key.elementsEqual(sought) { return true }
        return try move(MDB_PREV)
    }

    /// Moves to the first entry whose key is not below the big-endian bytes of `number`; false if there is none.
    mutating func seek(atLeast number: some FixedWidthInteger) throws(LMDBError) -> Bool {
        var bigEndian = number.bigEndian
        let (code, key, value) = withUnsafeBytes(of: &bigEndian) { bytes in
            Self.seek(handle, bytes)
        }
        return try place(code, key, value)
    }

    /// Moves to the last entry whose key is not above the big-endian bytes of `number`; false if there is none.
    mutating func seek(atMost number: some FixedWidthInteger) throws(LMDBError) -> Bool {
        guard try seek(atLeast: number) else { return try seekLast() }
        var bigEndian = number.bigEndian
        let key = self.key
        if withUnsafeBytes(of: &bigEndian, { key.elementsEqual($0) }) { return true }
        return try move(MDB_PREV)
    }

    private static func seek(
        _ handle: OpaquePointer,
        _ sought: UnsafeRawBufferPointer
    ) -> (Int32, MDB_val, MDB_val) {
        var key = MDB_val(borrowing: sought)
        var value = MDB_val()
        let code = mdb_cursor_get(handle, &key, &value, MDB_SET_RANGE)
        return (code, key, value)
    }

    /// Takes over the result of a seek; false if LMDB found no entry.
    ///
    /// In that case LMDB leaves the key as it was passed in, and the sought bytes end with the closure that lent them.
    /// So `key` and `value` may be used only after a move that returned true.
    private mutating func place(_ code: Int32, _ key: MDB_val, _ value: MDB_val) throws(LMDBError) -> Bool {
        Steps.count(1)
        isPlaced = true
        keyValue = key
        found = value
        if code == MDB_SUCCESS { return true }
        if code == MDB_NOTFOUND { return false }
        throw LMDBError(code, "walk over \(tableName)")
    }

    @inline(__always)
    private mutating func move(_ operation: MDB_cursor_op) throws(LMDBError) -> Bool {
        Steps.count(1)
        let code = mdb_cursor_get(handle, &keyValue, &found, operation)
        if code == MDB_SUCCESS { return true }
        if code == MDB_NOTFOUND { return false }
        throw LMDBError(code, "walk over \(tableName)")
    }
}

extension UnsafeRawBufferPointer {
    /// Asks the processor for the first bytes of a text or record that is read soon, at most 512. A hint that changes
    /// no result (`docs/decisions/0015-walks-ask-for-bytes-early.md`).
    package func prefetch() {
        clmdb_prefetch(baseAddress, Swift.min(count, 512))
    }
}
