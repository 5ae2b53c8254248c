import CLMDB
import JSON

/// A change of an environment that becomes visible as a whole, or not at all.
///
/// It begins, writes and ends on one thread, because LMDB's write mutex belongs to a thread: no `await` in between.
struct WriteTransaction: ~Copyable {
    /// `nil` once `commit` was called, so that `deinit` does not abort what LMDB has freed.
    private var handle: OpaquePointer?
    /// The same handle, for calls before the commit.
    private let open: OpaquePointer
    private let environment: Environment

    init(environment: Environment, handle: OpaquePointer) {
        self.environment = environment
        self.handle = handle
        self.open = handle
    }

    deinit {
        if let handle {
            mdb_txn_abort(handle)
            environment.transactionEnded()
        }
    }

    /// For lookups and walks that see the transaction's own changes.
    var view: TransactionView { TransactionView(handle: open) }

    /// Makes the changes durable and visible. LMDB frees the handle even if the commit fails.
    ///
    /// After a failure nothing in the environment is trusted (I5).
    consuming func commit() throws(LMDBError) {
        handle = nil
        defer { environment.transactionEnded() }
        let code = environment.commit(open)
        if code != MDB_SUCCESS { environment.distrust() }
        try check(environment.cause(of: code), "commit")
    }

    /// Stores a value under a key that has none. LMDB refuses any other key with `MDB_KEYEXIST`.
    ///
    /// New tables are filled by this: a value that replaces another one of the same transaction keeps that one's pages,
    /// and behind its own bytes those of the former value.
    func insert(_ value: UnsafeRawBufferPointer, at key: UnsafeRawBufferPointer, in table: Table) throws(LMDBError) {
        var keyValue = MDB_val(borrowing: key)
        var stored = MDB_val(borrowing: value)
        let flags = UInt32(MDB_NOOVERWRITE)
        try checkWrite(mdb_put(open, table.handle, &keyValue, &stored, flags), "add to \(table.name)")
    }

    /// Stores a value under a key, in place of any former one. At most once for a key in a transaction: see `insert`.
    func put(_ value: UnsafeRawBufferPointer, at key: UnsafeRawBufferPointer, in table: Table) throws(LMDBError) {
        var keyValue = MDB_val(borrowing: key)
        var stored = MDB_val(borrowing: value)
        try checkWrite(mdb_put(open, table.handle, &keyValue, &stored, 0), "write to \(table.name)")
    }

    /// Stores a value under a key above all others. LMDB refuses any other key with `MDB_KEYEXIST`, which for events is
    /// a second check of their order (I1).
    func append(_ value: UnsafeRawBufferPointer, at key: UnsafeRawBufferPointer, in table: Table) throws(LMDBError) {
        var keyValue = MDB_val(borrowing: key)
        var stored = MDB_val(borrowing: value)
        try checkWrite(mdb_put(open, table.handle, &keyValue, &stored, UInt32(MDB_APPEND)), "append to \(table.name)")
    }

    /// Reserves `byteCount` bytes under a key above all others. `fill` must write all of them: whatever it leaves is
    /// undefined. The bytes lie in a page of the transaction and must not be kept after `fill`.
    func append(
        byteCount: Int,
        at key: UnsafeRawBufferPointer,
        in table: Table,
        fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(LMDBError) {
        var keyValue = MDB_val(borrowing: key)
        var room = MDB_val(mv_size: byteCount, mv_data: nil)
        let flags = UInt32(MDB_APPEND | MDB_RESERVE)
        try checkWrite(mdb_put(open, table.handle, &keyValue, &room, flags), "append to \(table.name)")
        fill(UnsafeMutableRawBufferPointer(start: room.mv_data, count: room.mv_size))
    }

    /// Removes the entry under a key, if there is one.
    func remove(_ key: UnsafeRawBufferPointer, from table: Table) throws(LMDBError) {
        var keyValue = MDB_val(borrowing: key)
        let code = mdb_del(open, table.handle, &keyValue, nil)
        if code != MDB_NOTFOUND { try checkWrite(code, "remove from \(table.name)") }
    }

    /// Throws for every code but success. A large transaction writes pages before its commit.
    @inline(__always)
    private func checkWrite(_ code: Int32, _ operation: @autoclosure () -> String) throws(LMDBError) {
        Steps.count(1)
        if code != MDB_SUCCESS { throw LMDBError(environment.cause(of: code), operation()) }
    }
}
