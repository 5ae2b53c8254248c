import GRDBSQLite
import Projections

/// A table in SQLite's sense (vtab.html) that has the rows of a batch for one table of a map. One `INSERT … SELECT` from
/// it writes them all: SQLite then opens the table and its indexes once for a batch, not once for each row, and appends
/// rows in the order of a key without a search.
///
/// Its name begins with `sqlite_`, which no schema may use for its own tables, so none can hide it. Outside of `lend` it
/// has no rows, whoever asks.
struct SQLiteBatchTable {
    /// What the callbacks of SQLite share.
    fileprivate struct Shared {
        var module = sqlite3_module()
        let columnCount: Int
        /// Empty while nothing is lent.
        var rows = CellBatch.Rows()
        /// The first row of the table that is written.
        var first = -1
        /// Whether that row is the only one.
        var isAlone = false
        /// The row that SQLite was given last.
        var current = -1
    }

    /// The table in SQL.
    let name: String
    private let shared: UnsafeMutablePointer<Shared>

    /// Makes the table in a connection, for rows of at most `columnCount` columns. The connection frees it, so the
    /// table must not be used once that is closed.
    ///
    /// - Throws: `SQLiteTrouble`.
    init(columnCount: Int, in connection: SQLiteConnection) throws {
        name = connection.newBatchTableName()
        let shared = UnsafeMutablePointer<Shared>.allocate(capacity: 1)
        shared.initialize(to: Shared(columnCount: columnCount))
        shared.pointee.module.setUp()
        self.shared = shared
        // SQLite keeps the module and its data until it calls the last argument, which it does after an error, too.
        let result = withUnsafePointer(to: &shared.pointee.module) { module in
            sqlite3_create_module_v2(connection.handle, name, module, shared) { data in
                guard let data else { return }
                let shared = data.assumingMemoryBound(to: Shared.self)
                shared.deinitialize(count: 1)
                shared.deallocate()
            }
        }
        guard result == SQLITE_OK else { throw connection.trouble() }
    }

    /// A `SELECT` of the first `count` columns, of NULL for those that are not filled.
    func selection(of count: Int, filled: (Int) -> Bool = { _ in true }) -> String {
        let columns = (0..<count).map { filled($0) ? Self.column($0) : "NULL" }
        return "SELECT \(columns.joined(separator: ", ")) FROM \(name)"
    }

    fileprivate static func column(_ index: Int) -> String { "c\(index)" }

    /// Calls `body` while the table has the rows of a batch from `first` on, all of one table.
    ///
    /// - Parameters:
    ///   - isAlone: Whether it has the first row only.
    ///   - failed: Called after an error of SQLite, with the index and the values of the row that it came to last. If the
    ///     written table has triggers, SQLite reads all rows before it writes the first.
    /// - Throws: What `failed` throws, and other errors of `body`.
    func lend(
        _ batch: CellBatch,
        from first: Int,
        isAlone: Bool,
        _ body: () throws -> Void,
        failed: (SQLiteTrouble, _ row: Int, [SQLiteValue]) throws -> Void
    ) throws {
        try batch.withRows { rows in
            (shared.pointee.rows, shared.pointee.first, shared.pointee.current) = (rows, first, first)
            shared.pointee.isAlone = isAlone
            defer { (shared.pointee.rows, shared.pointee.first) = (CellBatch.Rows(), -1) }
            do {
                try body()
            } catch let trouble as SQLiteTrouble {
                let row = shared.pointee.current
                let cells = rows.cells(ofRow: row)
                try failed(trouble, row, cells.indices.map { SQLiteValue(cells[$0]) })
            }
        }
    }
}

// MARK: - Callbacks

/// SQLite's part of a table comes first, because SQLite has pointers to it.
private struct BatchTable {
    var base = sqlite3_vtab()
    let shared: UnsafeMutablePointer<SQLiteBatchTable.Shared>
}

/// One walk over the rows.
private struct BatchCursor {
    var base = sqlite3_vtab_cursor()
    let shared: UnsafeMutablePointer<SQLiteBatchTable.Shared>
    /// Negative behind the last row.
    var row = -1
    /// Those of the row.
    var cells = CellBatch.RowCells()
}

extension sqlite3_module {
    /// Sets the callbacks of a table that is there without `CREATE VIRTUAL TABLE` and only read. All are called on the
    /// connection's thread.
    fileprivate mutating func setUp() {
        iVersion = 1
        xConnect = { handle, data, _, _, table, _ in
            guard let data, let table else { return SQLITE_ERROR }
            let shared = data.assumingMemoryBound(to: SQLiteBatchTable.Shared.self)
            let columns = (0..<shared.pointee.columnCount).map(SQLiteBatchTable.column).joined(separator: ", ")
            let result = sqlite3_declare_vtab(handle, "CREATE TABLE x (\(columns))")
            guard result == SQLITE_OK else { return result }
            let made = UnsafeMutablePointer<BatchTable>.allocate(capacity: 1)
            made.initialize(to: BatchTable(shared: shared))
            table.pointee = UnsafeMutableRawPointer(made).assumingMemoryBound(to: sqlite3_vtab.self)
            return SQLITE_OK
        }
        xDisconnect = { table in
            UnsafeMutableRawPointer(table)?.assumingMemoryBound(to: BatchTable.self).deallocate()
            return SQLITE_OK
        }
        xBestIndex = { _, plan in
            plan?.pointee.estimatedCost = 1
            return SQLITE_OK
        }
        xOpen = { table, cursor in
            guard let table = UnsafeMutableRawPointer(table), let cursor else { return SQLITE_ERROR }
            let made = UnsafeMutablePointer<BatchCursor>.allocate(capacity: 1)
            made.initialize(to: BatchCursor(shared: table.assumingMemoryBound(to: BatchTable.self).pointee.shared))
            cursor.pointee = UnsafeMutableRawPointer(made).assumingMemoryBound(to: sqlite3_vtab_cursor.self)
            return SQLITE_OK
        }
        xClose = { cursor in
            cursor.batch?.deallocate()
            return SQLITE_OK
        }
        xFilter = { cursor, _, _, _, _ in
            guard let cursor = cursor.batch else { return SQLITE_ERROR }
            cursor.pointee.move(to: cursor.pointee.shared.pointee.first)
            return SQLITE_OK
        }
        xNext = { cursor in
            guard let cursor = cursor.batch else { return SQLITE_ERROR }
            let shared = cursor.pointee.shared
            cursor.pointee.move(to: shared.pointee.isAlone ? -1 : shared.pointee.rows.next(after: cursor.pointee.row))
            return SQLITE_OK
        }
        xEof = { cursor in
            guard let cursor = cursor.batch else { return 1 }
            return cursor.pointee.row < 0 ? 1 : 0
        }
        xColumn = { cursor, context, column in
            guard let cursor = cursor.batch else { return SQLITE_ERROR }
            cursor.pointee.cells[Int(column)].give(to: context)
            return SQLITE_OK
        }
        xRowid = { cursor, row in
            row?.pointee = Int64(cursor.batch?.pointee.row ?? -1)
            return SQLITE_OK
        }
    }
}

extension BatchCursor {
    fileprivate mutating func move(to row: Int) {
        self.row = row
        guard row >= 0 else { return }
        cells = shared.pointee.rows.cells(ofRow: row)
        shared.pointee.current = row
    }
}

extension UnsafeMutablePointer<sqlite3_vtab_cursor>? {
    /// The cursor that SQLite's is the first part of.
    @inline(__always)
    fileprivate var batch: UnsafeMutablePointer<BatchCursor>? {
        UnsafeMutableRawPointer(self)?.assumingMemoryBound(to: BatchCursor.self)
    }
}

extension CellBatch.Cell {
    /// Hands the value to SQLite, which keeps the pointer (`SQLITE_STATIC` is a null destructor) until it asks for the
    /// next row.
    ///
    /// Clamping a count cuts no value: SQLite refuses anything longer than its limit of length, which is below 2 GiB.
    @inline(__always)
    fileprivate func give(to context: OpaquePointer?) {
        switch self {
        // What SQLite takes from a callback that gives nothing.
        case .null: break
        case .integer(let number): sqlite3_result_int64(context, number)
        case .real(let number): sqlite3_result_double(context, number)
        case .text(let bytes):
            // A null pointer would give NULL.
            bytes.isEmpty
                ? sqlite3_result_text(context, "", 0, nil)
                : sqlite3_result_text(
                    context,
                    bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                    Int32(clamping: bytes.count),
                    nil
                )
        case .blob(let bytes):
            // Here, too, a null pointer would give NULL.
            bytes.isEmpty
                ? sqlite3_result_zeroblob(context, 0)
                : sqlite3_result_blob(context, bytes.baseAddress, Int32(clamping: bytes.count), nil)
        }
    }
}
