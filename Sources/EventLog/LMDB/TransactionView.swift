import CLMDB
import JSON

/// Lookups and walks, for read and write transactions alike.
///
/// Neither a view nor the bytes that it lends may outlive its transaction.
struct TransactionView {
    let handle: OpaquePointer

    /// The value under a key, or `nil`. The bytes lie in the map; they are valid while the transaction is open and, in
    /// a write transaction, until the next write.
    func value(of key: UnsafeRawBufferPointer, in table: Table) throws(LMDBError) -> UnsafeRawBufferPointer? {
        Steps.count(1)
        var keyValue = MDB_val(borrowing: key)
        var found = MDB_val()
        let code = mdb_get(handle, table.handle, &keyValue, &found)
        if code == MDB_NOTFOUND { return nil }
        try check(code, "look up in \(table.name)")
        return found.bytes
    }

    /// The transaction's number; for a read transaction, that of the commit whose state it sees.
    var transaction: UInt64 { UInt64(mdb_txn_id(handle)) }

    /// How many entries the table has.
    func count(of table: Table) throws(LMDBError) -> UInt64 {
        try statistics(of: table).entries
    }

    /// How many entries and pages the table has.
    func statistics(of table: Table) throws(LMDBError) -> TableStatistics {
        var stat = MDB_stat()
        try check(mdb_stat(handle, table.handle, &stat), "count \(table.name)")
        return TableStatistics(
            entries: UInt64(stat.ms_entries),
            pages: UInt64(stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages),
            pageSize: UInt64(stat.ms_psize)
        )
    }

    /// The greatest key, read as a 64-bit number; `nil` if the table is empty.
    func lastNumber(in table: Table) throws(LMDBError) -> UInt64? {
        var cursor = try Cursor(self, table)
        guard try cursor.seekLast() else { return nil }
        guard let number = cursor.key.bigEndian(as: UInt64.self), cursor.key.count == 8 else {
            throw LMDBError(MDB_CORRUPTED, "read the last key of \(table.name)")
        }
        return number
    }
}

/// How large a table is.
struct TableStatistics {
    let entries: UInt64
    let pages: UInt64
    let pageSize: UInt64
}

extension MDB_val {
    /// Points to bytes that must outlive every use of the value. LMDB only reads them, so that the mutable pointer does
    /// no harm.
    @inline(__always)
    init(borrowing bytes: UnsafeRawBufferPointer) {
        self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }

    /// The bytes that LMDB returned; they stay LMDB's.
    @inline(__always)
    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: mv_data, count: mv_data == nil ? 0 : mv_size)
    }
}
