import CLMDB

/// A place in a table that moves over its entries in key order.
///
/// A cursor is made, used and destroyed within one function, in a write transaction before anything is committed.
struct Cursor: ~Copyable {
    /// How far before an entry's bytes lie those that are asked for: two or three events of the usual size.
    private static let prefetchedAhead = 1024

    private let handle: OpaquePointer
    private let tableName: String
    private var keyValue = MDB_val()
    private var found = MDB_val()
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

    /// The key of the entry that the cursor stands on.
    var key: UnsafeRawBufferPointer {
        @inline(__always) get { keyValue.bytes }
    }

    /// The value of the entry that the cursor stands on.
    var value: UnsafeRawBufferPointer {
        @inline(__always) get { found.bytes }
    }

    /// Moves to the next entry, from a new cursor to the first; false after the last.
    @inline(__always)
    mutating func advance() throws(LMDBError) -> Bool {
        let moved = try move(isPlaced ? MDB_NEXT : MDB_FIRST)
        isPlaced = true
        return moved
    }

    /// Asks for the bytes of the entries after the next one, so that they are near when the cursor comes to them.
    ///
    /// - Parameter pageBytes: the size of LMDB's pages, a power of two.
    @inline(__always)
    func prefetch(pageBytes: Int) {
        clmdb_prefetch_next(found, Self.prefetchedAhead, pageBytes)
    }

    /// Moves to the last entry; false where there is none.
    mutating func seekLast() throws(LMDBError) -> Bool {
        isPlaced = true
        return try move(MDB_LAST)
    }

    /// Moves to the first entry whose key is not below the given one; false where there is none.
    mutating func seek(atLeast sought: [UInt8]) throws(LMDBError) -> Bool {
        let (code, key, value) = sought.withUnsafeBytes { Self.seek(handle, $0) }
        return try place(code, key, value)
    }

    /// Moves to the last entry whose key is not above the given one; false where there is none.
    mutating func seek(atMost sought: [UInt8]) throws(LMDBError) -> Bool {
        guard try seek(atLeast: sought) else { return try seekLast() }
        if key.elementsEqual(sought) { return true }
        return try move(MDB_PREV)
    }

    /// Moves to the first entry whose key is not below the given number.
    mutating func seek(atLeast number: some FixedWidthInteger) throws(LMDBError) -> Bool {
        var bigEndian = number.bigEndian
        let (code, key, value) = withUnsafeBytes(of: &bigEndian) { bytes in
            Self.seek(handle, bytes)
        }
        return try place(code, key, value)
    }

    /// Moves to the last entry whose key is not above the given number.
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

    private mutating func place(_ code: Int32, _ key: MDB_val, _ value: MDB_val) throws(LMDBError) -> Bool {
        isPlaced = true
        keyValue = key
        found = value
        if code == MDB_SUCCESS { return true }
        if code == MDB_NOTFOUND { return false }
        throw LMDBError(code, "walk over \(tableName)")
    }

    @inline(__always)
    private mutating func move(_ operation: MDB_cursor_op) throws(LMDBError) -> Bool {
        let code = mdb_cursor_get(handle, &keyValue, &found, operation)
        if code == MDB_SUCCESS { return true }
        if code == MDB_NOTFOUND { return false }
        throw LMDBError(code, "walk over \(tableName)")
    }
}
