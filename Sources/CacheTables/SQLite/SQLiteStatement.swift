import GRDBSQLite
import Projections

/// A compiled statement, finalized with its last reference. For one thread at a time, like its connection.
///
/// It must not outlive the connection, to which it holds an unowned reference.
final class SQLiteStatement {
    private let handle: OpaquePointer
    private unowned let connection: SQLiteConnection
    /// The values that `bind` was given.
    private let bound = CellBatch()

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
        bound.removeAll()
        for value in values { bound.add(value) }
        try bind(bound, values.indices)
    }

    /// Runs the statement with some cells of a batch, one for each parameter, and skips its rows. Nothing is copied.
    ///
    /// - Throws: `SQLiteTrouble`.
    func run(_ batch: CellBatch, _ cells: Range<Int>) throws {
        try bind(batch, cells)
        defer { sqlite3_reset(handle) }
        while try step() {}
    }

    /// Binds cells. SQLite reads the batch until the statement is reset, so the caller must not change it meanwhile.
    private func bind(_ batch: CellBatch, _ cells: Range<Int>) throws {
        assert(
            cells.isEmpty || cells.count == Int(sqlite3_bind_parameter_count(handle)),
            "each parameter of a statement gets a value"
        )
        for (index, cell) in cells.enumerated() {
            let result = batch.withCell(cell) { bind($0, at: Int32(index + 1)) }
            guard result == SQLITE_OK else { throw connection.trouble() }
        }
    }

    /// Advances to the next row; false after the last.
    ///
    /// - Throws: `SQLiteTrouble`, a refusal if the SQL of others has taken more than it may.
    func step() throws -> Bool {
        let sqlGuard = connection.sqlGuard
        sqlGuard?.beginStep()
        let result = sqlite3_step(handle)
        if let sqlGuard, !sqlGuard.endStep(steps: Int(sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_VM_STEP, 1))) {
            throw connection.trouble()
        }
        switch result {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw connection.trouble()
        }
    }

    /// The names of the columns, as the statement gives them.
    var columnNames: [String] {
        (0..<sqlite3_column_count(handle)).map { sqlite3_column_name(handle, $0).map { String(cString: $0) } ?? "" }
    }

    /// Whether the statement itself writes nothing to the database.
    var isReadOnly: Bool { sqlite3_stmt_readonly(handle) != 0 }

    /// Copies of the values of the current row. Valid only after `step` returned true.
    var row: [SQLiteValue] {
        (0..<sqlite3_column_count(handle)).map { value(at: $0) }
    }

    /// Binds one value; `index` counts from 1. SQLite keeps the pointer (`SQLITE_STATIC` is a null destructor).
    ///
    /// Clamping a count cuts no value: SQLite refuses anything longer than its limit of length, which is below 2 GiB.
    private func bind(_ cell: CellBatch.Cell, at index: Int32) -> Int32 {
        switch cell {
        case .null: sqlite3_bind_null(handle, index)
        case .integer(let number): sqlite3_bind_int64(handle, index, number)
        case .real(let number): sqlite3_bind_double(handle, index, number)
        case .text(let bytes):
            // A null pointer would bind NULL.
            bytes.isEmpty
                ? sqlite3_bind_text(handle, index, "", 0, nil)
                : sqlite3_bind_text(
                    handle,
                    index,
                    bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                    Int32(clamping: bytes.count),
                    nil
                )
        case .blob(let bytes):
            // Here, too, a null pointer would bind NULL.
            bytes.isEmpty
                ? sqlite3_bind_zeroblob(handle, index, 0)
                : sqlite3_bind_blob(handle, index, bytes.baseAddress, Int32(clamping: bytes.count), nil)
        }
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
