import EventLog
import GRDBSQLite
import Projections

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A connection to one SQLite file, which it owns. It uses the C interface, so that `SQLiteGuard` can check SQL written
/// by others.
///
/// For one thread at a time: the file is opened with `SQLITE_OPEN_NOMUTEX`. Statements must be released before the
/// connection (`SQLiteStatement`).
final class SQLiteConnection {
    /// How a file is opened.
    enum Access {
        /// A file that we alone use until it is complete. Nothing is synced or journalled: a half-built file is thrown
        /// away.
        case building
        /// A file that others read at the same time, in WAL mode.
        case live
        /// A file whose pages are copied as they are; no SQL of a schema runs.
        case copying
        /// A file that somebody else owns and may have damaged on purpose; nothing is written to it.
        case reading
        /// A file of our own that another process may write to at the same time; nothing is written to it.
        case querying
    }

    /// The path that the caller gave; used for messages.
    let path: String
    /// SQLite's connection: valid from `init` to `deinit`.
    let handle: OpaquePointer
    /// The guard of SQL written by others; `nil` if all SQL is our own.
    let sqlGuard: SQLiteGuard?
    /// How many batch tables were made.
    private var batchTableCount = 0

    /// Opens a file. All ways of access but `reading` and `querying` create a missing file.
    ///
    /// - Parameter policy: What SQL may do; `nil` if all SQL is our own.
    /// - Throws: `EngineError` if the file cannot be opened or is no database.
    init(_ path: String, _ access: Access, _ policy: SQLiteGuard.Policy? = nil) throws {
        self.path = path
        let place: String
        var flags = SQLITE_OPEN_NOMUTEX
        if access == .reading {
            place = try Self.readingPlace(path)
            flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
        } else if access == .querying {
            place = path
            flags |= SQLITE_OPEN_READONLY
        } else {
            place = path
            flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        }
        var opened: OpaquePointer?
        let result = sqlite3_open_v2(place, &opened, flags, nil)
        guard let opened, result == SQLITE_OK else {
            let reason = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "no memory"
            // SQLite returns a handle for the message even if it fails.
            sqlite3_close_v2(opened)
            throw EngineError("open the database \"\(path)\": \(reason)")
        }
        handle = opened
        sqlGuard = policy.map { SQLiteGuard($0) }
        sqlite3_extended_result_codes(handle, 1)
        // Milliseconds to wait for the locks of others.
        sqlite3_busy_timeout(handle, 10_000)
        // Our own pragmas come before the guard, which would refuse some of them.
        try prepare(for: access)
        sqlGuard?.register(on: handle)
    }

    deinit {
        sqlite3_close_v2(handle)
    }

    /// Sets the pragmas of a way of access.
    private func prepare(for access: Access) throws {
        switch access {
        case .building:
            try run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE")
            // Negative sizes are KiB. Foreign keys are not enforced: tables are filled in the map's order, not in that
            // of references.
            try run("PRAGMA cache_size = -16384; PRAGMA foreign_keys = OFF")
        case .live:
            try run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = OFF")
        case .copying: break
        case .querying:
            // What a statement keeps beside the file counts as memory, so that no statement fills the disk.
            try run("PRAGMA trusted_schema = OFF; PRAGMA query_only = ON; PRAGMA temp_store = MEMORY")
        case .reading:
            // Functions and virtual tables in somebody else's schema are not trusted.
            try run("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA query_only = ON")
            try run("PRAGMA mmap_size = 0; PRAGMA temp_store = FILE")
        }
    }

    /// The URI to open a file for reading.
    ///
    /// A file without a WAL or journal is opened as immutable, so that SQLite creates nothing in its folder. With one,
    /// the file is live: rows in the WAL count, and SQLite's locks protect the app's file.
    ///
    /// - Throws: `EngineError` if the path or a file beside it is no regular file. SQLite would wait for a FIFO.
    private static func readingPlace(_ path: String) throws -> String {
        var information = stat()
        guard stat(path, &information) == 0 else {
            throw EngineError("read the cache \"\(path)\": \(String(cString: strerror(errno)))")
        }
        guard information.st_mode & S_IFMT == S_IFREG else {
            throw EngineError("read the cache \"\(path)\": it is no file")
        }
        var isLive = false
        for suffix in ["-wal", "-journal"] {
            // SQLite looks for these beside the file that a link names.
            let beside = resolved(path) + suffix
            guard lstat(beside, &information) == 0 else { continue }
            guard information.st_mode & S_IFMT == S_IFREG else {
                throw EngineError("read the cache \"\(path)\": \"\(beside)\" is no file")
            }
            if information.st_size > 0 { isLive = true }
        }
        // In a URI filename, `?`, `#` and `%` have a meaning (SQLite's uri.html).
        let encoded = PercentEncoding.encoded(Array(path.utf8)) { byte in
            byte > 0x20 && byte < 0x7F && !"?#%".utf8.contains(byte)
        }
        let start = path.hasPrefix("/") ? "file:" : "file:./"
        return start + String(decoding: encoded, as: UTF8.self) + (isLive ? "?mode=ro" : "?mode=ro&immutable=1")
    }

    /// The path without links; the path itself if it cannot be resolved. `realpath` allocates the result, which is
    /// freed here.
    private static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}

// MARK: - SQL

extension SQLiteConnection {
    /// A name for a `SQLiteBatchTable` that no other table of the connection has.
    func newBatchTableName() -> String {
        batchTableCount += 1
        return "sqlite_batch_\(batchTableCount)"
    }

    /// Runs our own statements; the guard is suspended meanwhile. Not for SQL of a schema or with values from a log.
    func run(_ sql: String) throws {
        sqlGuard?.isSuspended = true
        defer { sqlGuard?.isSuspended = false }
        sqlGuard?.beginStep()
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw trouble() }
    }

    /// Compiles one statement. The guard checks it now, not when it runs.
    ///
    /// - Throws: `SQLiteTrouble`, a refusal if the guard stopped it.
    func statement(_ sql: String) throws -> SQLiteStatement {
        sqlGuard?.beginStatement()
        var compiled: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &compiled, nil) == SQLITE_OK, let compiled else { throw trouble() }
        return SQLiteStatement(compiled, of: self)
    }

    /// The rows of a query, all in memory: for small results only.
    func rows(_ sql: String, _ values: [SQLiteValue] = []) throws -> [[SQLiteValue]] {
        let statement = try statement(sql)
        try statement.bind(values)
        var rows: [[SQLiteValue]] = []
        while try statement.step() { rows.append(statement.row) }
        return rows
    }

    /// Runs `body` in a write transaction, which is rolled back if `body` throws. Takes the write lock at once, so that
    /// no later statement can find it taken.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        assert(sqlite3_get_autocommit(handle) != 0, "transactions do not nest")
        try run("BEGIN IMMEDIATE")
        do {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            // Its own failure is ignored: some errors have rolled the transaction back already.
            sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
            throw error
        }
    }

    /// How many rows the last statement inserted, changed or deleted itself, without those of its triggers.
    var changedRowCount: Int { Int(sqlite3_changes64(handle)) }

    /// Lets the SQL of others take more, by the number of rows that it works on.
    func allow(rows: Int) {
        sqlGuard?.allow(rows: rows)
    }

    /// Lets the SQL of others take what reading and sorting the whole file may: a row has some bytes at least.
    func allowReadingAll() throws {
        guard let sqlGuard, case .integer(let pages)? = try rows("PRAGMA page_count").first?.first,
            case .integer(let bytes)? = try rows("PRAGMA page_size").first?.first
        else { return }
        let (size, isTooMuch) = Int(pages).multipliedReportingOverflow(by: Int(bytes))
        sqlGuard.allow(rows: isTooMuch ? .max : size / Self.bytesPerRow)
    }

    /// A row of this many bytes may be read and sorted as long as a row of the log may take to write.
    private static let bytesPerRow = 1_000

    /// The last error of this connection. Call it before the next call to SQLite. A refusal of the guard comes first,
    /// because SQLite's own message is only "not authorized" or "interrupted".
    func trouble() -> SQLiteTrouble {
        let code = sqlite3_extended_errcode(handle)
        let refusal = sqlGuard.flatMap { $0.refusal ?? $0.excess(code) }
        return SQLiteTrouble(
            code: code,
            reason: refusal ?? String(cString: sqlite3_errmsg(handle)),
            isRefusal: refusal != nil
        )
    }
}

/// The error of a statement that did not compile or did not run.
struct SQLiteTrouble: Error, CustomStringConvertible {
    /// The kinds of rules of a schema that a row can break.
    enum Constraint {
        case notNull, check, unique, type, other
    }

    /// The primary result code, without the extension.
    let code: Int32
    /// The rule that a row broke, if it broke one.
    let constraint: Constraint
    /// SQLite's message, or the guard's refusal as a predicate ("calls …").
    let reason: String
    let isRefusal: Bool

    var description: String {
        if isRefusal { return "the SQL \(reason)" }
        return isFullDisk ? "the disk is full (\(reason)); \(DiskRoom.advice)" : reason
    }

    /// Whether there was no room for what was written.
    var isFullDisk: Bool { code == SQLITE_FULL && !isRefusal }

    /// Whether a row breaks a rule of the schema. A text in an INTEGER PRIMARY KEY has a code of its own.
    var isConstraint: Bool { code == SQLITE_CONSTRAINT || code == SQLITE_MISMATCH }

    /// The text of the broken rule in SQLite's message: the columns, or the expression or name of a CHECK.
    var rule: String? {
        guard isConstraint, let mark = reason.firstRange(of: " failed: ") else {
            // "cannot store TEXT value in INTEGER column m.id"
            return reason.firstRange(of: " column ").map { String(reason[$0.upperBound...]) }
        }
        return String(reason[mark.upperBound...])
    }

    /// - Parameter code: The extended result code (rescode.html).
    init(code: Int32, reason: String, isRefusal: Bool) {
        (self.code, self.reason, self.isRefusal) = (code & 0xFF, reason, isRefusal)
        constraint =
            switch code >> 8 {
            case _ where code & 0xFF == SQLITE_MISMATCH: .type
            case 1: .check
            case 5: .notNull
            case 6, 8, 10: .unique
            case 12: .type
            default: .other
            }
    }
}

// MARK: - Whole files

extension SQLiteConnection {
    /// Replaces all pages of one database by those of another, in one transaction. Waits up to ten seconds for readers
    /// and writers of both.
    ///
    /// In WAL mode, readers keep the old rows until their next transaction.
    ///
    /// - Throws: `EngineError` with code `locked` if others keep the database locked.
    static func copyPages(from source: String, to target: String) throws {
        let (from, to) = try (SQLiteConnection(source, .copying), SQLiteConnection(target, .copying))
        guard let backup = sqlite3_backup_init(to.handle, "main", from.handle, "main") else { throw to.trouble() }
        // -1 copies all pages in one step, hence in one transaction.
        var result = sqlite3_backup_step(backup, -1)
        var tries = 0
        while [SQLITE_BUSY, SQLITE_LOCKED].contains(result & 0xFF), tries < copyTriesMax {
            sqlite3_sleep(20)
            tries += 1
            result = sqlite3_backup_step(backup, -1)
        }
        let finished = sqlite3_backup_finish(backup)
        if [SQLITE_BUSY, SQLITE_LOCKED].contains(result & 0xFF) {
            throw EngineError("write the cache \"\(target)\": others have it locked; try again", code: .locked)
        }
        guard result == SQLITE_DONE, finished == SQLITE_OK else {
            let reason = String(cString: sqlite3_errstr(result == SQLITE_DONE ? finished : result))
            throw EngineError("write the cache \"\(target)\": \(reason)")
        }
    }

    /// Ten seconds: 500 tries, 20 ms apart.
    private static let copyTriesMax = 500
}

// MARK: - Schemas

extension SQLiteConnection {
    /// Runs the statements of a schema that must precede the rows: those that make tables or set the file's layout.
    ///
    /// - Returns: The other statements in their order, to be run after the rows. A statement that needs one of them is
    ///   among them.
    /// - Throws: `EngineError` that names the schema and the line.
    func runTables(of scripts: [SQLScript]) throws -> [(script: SQLScript, statement: SQLScript.Statement)] {
        let all = try scripts.flatMap { script in try script.statements().map { (script: script, statement: $0) } }
        return try all.filter { script, statement in
            do {
                let compiled = try self.statement(statement.text)
                guard sqlGuard?.isForTables ?? true else { return true }
                try runInMemory(compiled)
                return false
            } catch let trouble as SQLiteTrouble {
                // It names a view or table that an earlier statement of the later ones will make.
                if !trouble.isRefusal, trouble.reason.hasPrefix("no such ") { return true }
                throw script.failure(trouble, line: statement.line)
            }
        }
    }

    /// Runs the later statements of a schema, after `rows` rows were inserted.
    ///
    /// - Throws: `EngineError` that names the schema and the line.
    func run(_ statements: [(script: SQLScript, statement: SQLScript.Statement)], rows: Int) throws {
        allow(rows: rows)
        try limitFile()
        for (script, statement) in statements {
            do {
                try runInMemory(self.statement(statement.text))
            } catch let trouble as SQLiteTrouble {
                throw script.failure(trouble, line: statement.line)
            }
        }
    }

    /// Runs a statement of a schema. What it keeps beside the file counts as memory, unless it makes an index, which sorts as
    /// many rows as there are.
    private func runInMemory(_ statement: SQLiteStatement) throws {
        if sqlGuard?.makesOther ?? true { return try statement.run() }
        try run("PRAGMA temp_store = MEMORY")
        defer { try? run("PRAGMA temp_store = FILE") }
        try statement.run()
    }

    /// Lets later statements make the file some times as large, and not larger: a full disk would be the next limit.
    private func limitFile() throws {
        guard case .integer(let pages)? = try rows("PRAGMA page_count").first?.first,
            case .integer(let bytes)? = try rows("PRAGMA page_size").first?.first, bytes > 0
        else { return }
        try run("PRAGMA max_page_count = \(8 * pages + (1 << 30) / bytes)")
        sqlGuard?.isFileLimited = true
    }
}
