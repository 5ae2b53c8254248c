import CLMDB

/// A return code of LMDB or of a system call, and the operation that gave it.
struct LMDBError: Error, Hashable {
    /// LMDB's code (negative) or an `errno` (positive); `gaveUp` if no call failed.
    let code: Int32
    /// The operation, such as `commit`.
    let operation: String

    /// The code of an operation that was tried too often in vain.
    static let gaveUp: Int32 = 0

    init(_ code: Int32, _ operation: String) {
        self.code = code
        self.operation = operation
    }

    /// The meaning of the code: in this program's words if the file is damaged, else in LMDB's.
    var reason: String {
        switch code {
        case Self.gaveUp: return "it was tried too often; others write to the log all the time"
        case MDB_CORRUPTED: return "something is not as it was written"
        case MDB_PAGE_NOTFOUND: return "a page is missing"
        case MDB_INVALID: return "the file is not one of LMDB's"
        default: return mdb_strerror(code).map { String(cString: $0) } ?? "code \(code)"
        }
    }

    /// Whether the transaction needs more pages than the map has. It can only be aborted and repeated after `growMap`.
    var isMapFull: Bool { code == MDB_MAP_FULL }
    /// Whether this process already has the environment open, or keeps a transaction in it open.
    var isBusy: Bool { code == MDB_BAD_TXN }
    /// Whether another process has made the map larger than this process knows.
    var isMapResized: Bool { code == MDB_MAP_RESIZED }
}

/// Throws for every code but success.
func check(_ code: Int32, _ operation: @autoclosure () -> String) throws(LMDBError) {
    guard code == MDB_SUCCESS else { throw LMDBError(code, operation()) }
}
