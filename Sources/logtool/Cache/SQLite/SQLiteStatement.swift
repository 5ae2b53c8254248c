import GRDBSQLite

/// A compiled statement, finalized with its last reference. For one thread at a time, like its connection.
///
/// It must not outlive the connection, to which it holds an unowned reference.
final class SQLiteStatement {
    private let handle: OpaquePointer
    private unowned let connection: SQLiteConnection

    /// `SQLITE_TRANSIENT`: SQLite copies bound bytes before the call returns, so no pointer to them is kept.
    private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    init(_ handle: OpaquePointer, of connection: SQLiteConnection) {
        self.handle = handle
        self.connection = connection
    }

    deinit {
        sqlite3_finalize(handle)
    }

    /// Runs the statement with these values and skips its rows. It can then be run again.
    ///
    /// - Throws: `SQLiteTrouble`.
    func run(_ values: [SQLiteValue] = []) throws {
        try bind(values)
        defer { sqlite3_reset(handle) }
        while try step() {}
    }

    /// Binds the values of a query, one for each parameter, in order. Call it before the first `step`.
    func bind(_ values: [SQLiteValue]) throws {
        assert(
            values.isEmpty || values.count == Int(sqlite3_bind_parameter_count(handle)),
            "each parameter of a statement gets a value"
        )
        for (index, value) in values.enumerated() { try bind(value, at: Int32(index + 1)) }
    }

    /// Advances to the next row; false after the last.
    func step() throws -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: true
        case SQLITE_DONE: false
        default: throw connection.trouble()
        }
    }

    /// Copies of the values of the current row. Valid only after `step` returned true.
    var row: [SQLiteValue] {
        (0..<sqlite3_column_count(handle)).map { value(at: $0) }
    }

    /// Binds one value; `index` counts from 1. Clamping a count cuts no value: SQLite refuses anything longer than its
    /// limit of length, which is below 2 GiB.
    private func bind(_ value: SQLiteValue, at index: Int32) throws {
        let result =
            switch value {
            case .null: sqlite3_bind_null(handle, index)
            case .integer(let number): sqlite3_bind_int64(handle, index, number)
            case .real(let number): sqlite3_bind_double(handle, index, number)
            case .text(var text):
                // Native strings lend their UTF-8 in place, and `UInt8` and `CChar` have the same layout. SQLite copies
                // the bytes before the pointer ends (`copied`).
                text.withUTF8 { bytes in
                    bytes.withMemoryRebound(to: CChar.self) {
                        // A null pointer would bind NULL.
                        $0.isEmpty
                            ? sqlite3_bind_text(handle, index, "", 0, Self.copied)
                            : sqlite3_bind_text(handle, index, $0.baseAddress, Int32(clamping: $0.count), Self.copied)
                    }
                }
            case .blob(let bytes):
                // Here, too, a null pointer would bind NULL.
                bytes.isEmpty
                    ? sqlite3_bind_zeroblob(handle, index, 0)
                    : sqlite3_bind_blob(handle, index, bytes, Int32(clamping: bytes.count), Self.copied)
            }
        guard result == SQLITE_OK else { throw connection.trouble() }
    }

    /// The value of a column of the current row. SQLite's pointers are valid until the next `step`, so the bytes are
    /// copied at once. The count is read after the pointer, because the conversion to UTF-8 decides it (SQLite's
    /// column_blob.html).
    private func value(at index: Int32) -> SQLiteValue {
        switch sqlite3_column_type(handle, index) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, index))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, index))
        case SQLITE_TEXT:
            let text = sqlite3_column_text(handle, index)
            let bytes = UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(handle, index)))
            return .text(String(decoding: bytes, as: UTF8.self))
        case SQLITE_BLOB:
            let start = sqlite3_column_blob(handle, index)
            let bytes = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, index)))
            return .blob(Array(bytes))
        default: return .null
        }
    }
}
