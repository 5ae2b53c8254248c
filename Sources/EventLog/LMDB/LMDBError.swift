import CLMDB

/// A return code of LMDB or of the system call below it, and what was being done.
struct LMDBError: Error, Hashable {
    /// LMDB's code (negative) or an `errno` (positive).
    let code: Int32
    /// What was being done, such as `commit`.
    let operation: String

    init(_ code: Int32, _ operation: String) {
        self.code = code
        self.operation = operation
    }

    /// LMDB's words for the code.
    var reason: String {
        guard let text = mdb_strerror(code) else { return "code \(code)" }
        return String(cString: text)
    }

    var isMapFull: Bool { code == MDB_MAP_FULL }
    /// Whether this process has the environment open in another place.
    var isBusy: Bool { code == MDB_BAD_TXN }
    var isMapResized: Bool { code == MDB_MAP_RESIZED }
}

/// Throws for every code but success.
func check(_ code: Int32, _ operation: @autoclosure () -> String) throws(LMDBError) {
    guard code == MDB_SUCCESS else { throw LMDBError(code, operation()) }
}
