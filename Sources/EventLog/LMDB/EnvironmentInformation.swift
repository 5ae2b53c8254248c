/// LMDB's figures on an environment (`MDB_envinfo`).
struct EnvironmentInformation {
    /// The size up to which the data file can grow, in bytes.
    let mapBytes: UInt64
    /// The greatest page number in use. The data file may be longer (`FileReserve`).
    let lastPage: UInt64
    /// The number of the newest commit.
    let lastTransaction: UInt64
    /// The slots that readers have used so far, also those that are free again.
    let readerSlots: Int
}

/// An open read transaction of some process.
struct EnvironmentReader {
    let process: Int32
    /// The commit whose state it sees.
    let transaction: UInt64
}

/// Parses one line of LMDB's list of readers, `pid thread txnid`; a slot without a transaction has `-` or nothing.
/// `context` is the array that `readers` lends for the length of the call. Returns 0, because LMDB ends the list at a
/// negative result.
func collectReader(_ line: UnsafePointer<CChar>?, _ context: UnsafeMutableRawPointer?) -> Int32 {
    guard let line, let context else { return 0 }
    let columns = String(cString: line).split(whereSeparator: \.isWhitespace)
    if columns.count == 3, let process = Int32(columns[0]), let number = UInt64(columns[2]) {
        let reader = EnvironmentReader(process: process, transaction: number)
        context.assumingMemoryBound(to: [EnvironmentReader].self).pointee.append(reader)
    }
    return 0
}
