import EventLog
import GRDBSQLite

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A connection to one SQLite file. It uses the C interface, so that `SQLiteGuard` can check SQL written by others.
///
/// Not safe for use by two threads at once: the file is opened with `SQLITE_OPEN_NOMUTEX`.
final class SQLiteConnection {
    /// How a file is opened.
    enum Access {
        /// A file that we alone use until it is complete; nothing is synced.
        case building
        /// A file that others read at the same time, in WAL mode.
        case live
        /// A file whose pages are copied as they are.
        case copying
        /// A file that somebody else owns; nothing is written to it.
        case reading
    }

    /// Where the file is.
    let path: String
    let handle: OpaquePointer
    let sqlGuard: SQLiteGuard?

    /// Opens a file. All ways of access but `reading` create a missing file.
    ///
    /// - Parameter policy: What SQL may do; `nil` if all SQL is our own.
    /// - Throws: `Failure` if the file cannot be opened or is no database.
    init(_ path: String, _ access: Access, _ policy: SQLiteGuard.Policy? = nil) throws {
        self.path = path
        let place: String
        var flags = SQLITE_OPEN_NOMUTEX
        if access == .reading {
            place = try Self.readingPlace(path)
            flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
        } else {
            place = path
            flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        }
        var opened: OpaquePointer?
        let result = sqlite3_open_v2(place, &opened, flags, nil)
        guard let opened, result == SQLITE_OK else {
            let reason = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "no memory"
            sqlite3_close_v2(opened)
            throw Failure("open the database \"\(path)\": \(reason)")
        }
        handle = opened
        sqlGuard = policy.map { SQLiteGuard($0) }
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, 10_000)
        try prepare(for: access)
        sqlGuard?.register(on: handle)
        sqlGuard?.allow(rows: 0)
    }

    deinit {
        sqlite3_close_v2(handle)
    }

    private func prepare(for access: Access) throws {
        switch access {
        case .building:
            try run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE")
            try run("PRAGMA cache_size = -16384; PRAGMA foreign_keys = OFF")
        case .live:
            try run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = OFF")
        case .copying: break
        case .reading:
            // Functions and virtual tables in somebody else's schema are not trusted.
            try run("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA query_only = ON")
            try run("PRAGMA mmap_size = 0; PRAGMA temp_store = FILE")
        }
    }

    /// The URI to open a file for reading. A file without a WAL or journal is opened as immutable, so that SQLite
    /// creates nothing in its folder. With one, the file is live: rows in the WAL count, and SQLite's locks protect the
    /// app's file.
    private static func readingPlace(_ path: String) throws -> String {
        var information = stat()
        guard stat(path, &information) == 0 else {
            throw Failure("read the cache \"\(path)\": \(String(cString: strerror(errno)))")
        }
        guard information.st_mode & S_IFMT == S_IFREG else {
            throw Failure("read the cache \"\(path)\": it is no file")
        }
        var isLive = false
        for suffix in ["-wal", "-journal"] {
            // SQLite looks for them beside the file that the link names.
            let beside = resolved(path) + suffix
            guard lstat(beside, &information) == 0 else { continue }
            guard information.st_mode & S_IFMT == S_IFREG else {
                throw Failure("read the cache \"\(path)\": \"\(beside)\" is no file")
            }
            if information.st_size > 0 { isLive = true }
        }
        let encoded = PercentEncoding.encoded(Array(path.utf8)) { byte in
            byte > 0x20 && byte < 0x7F && !"?#%".utf8.contains(byte)
        }
        let start = path.hasPrefix("/") ? "file:" : "file:./"
        return start + String(decoding: encoded, as: UTF8.self) + (isLive ? "?mode=ro" : "?mode=ro&immutable=1")
    }

    private static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}

// MARK: - SQL

extension SQLiteConnection {
    /// Runs our own statements; the guard is suspended meanwhile.
    func run(_ sql: String) throws {
        sqlGuard?.isSuspended = true
        defer { sqlGuard?.isSuspended = false }
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw trouble() }
    }

    /// Compiles one statement. The guard checks it now, not when it runs.
    func statement(_ sql: String) throws -> SQLiteStatement {
        sqlGuard?.beginStatement()
        var compiled: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &compiled, nil) == SQLITE_OK, let compiled else { throw trouble() }
        return SQLiteStatement(compiled, of: self)
    }

    /// The rows of a query.
    func rows(_ sql: String, _ values: [SQLiteValue] = []) throws -> [[SQLiteValue]] {
        let statement = try statement(sql)
        try statement.bind(values)
        var rows: [[SQLiteValue]] = []
        while try statement.step() { rows.append(statement.row) }
        return rows
    }

    /// Runs `body` in a write transaction, which is rolled back if `body` throws.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        assert(sqlite3_get_autocommit(handle) != 0, "transactions do not nest")
        try run("BEGIN IMMEDIATE")
        do {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
            throw error
        }
    }

    /// Sets how many rows the next statements work on; the guard allows them time accordingly.
    func allow(rows: Int) {
        sqlGuard?.allow(rows: rows)
    }

    /// The last error of this connection.
    func trouble() -> SQLiteTrouble {
        SQLiteTrouble(
            code: sqlite3_errcode(handle),
            reason: sqlGuard?.refusal ?? String(cString: sqlite3_errmsg(handle)),
            isRefusal: sqlGuard?.refusal != nil
        )
    }
}

/// The error of a statement that did not run.
struct SQLiteTrouble: Error, CustomStringConvertible {
    let code: Int32
    /// SQLite's message, or the guard's refusal as a predicate ("calls …").
    let reason: String
    let isRefusal: Bool

    var description: String { isRefusal ? "the SQL \(reason)" : reason }

    /// Whether a row breaks a rule of the schema.
    var isConstraint: Bool { code == SQLITE_CONSTRAINT }

    init(code: Int32, reason: String, isRefusal: Bool) {
        (self.code, self.reason, self.isRefusal) = (code & 0xFF, reason, isRefusal)
    }
}

// MARK: - Whole files

extension SQLiteConnection {
    /// Replaces all pages of one database by those of another, in one transaction that waits for readers and writers of
    /// both.
    ///
    /// In WAL mode, readers keep the old rows until their next transaction.
    /// - Throws: `Failure` with exit code 11 if others keep the database locked.
    static func copyPages(from source: String, to target: String) throws {
        let (from, to) = try (SQLiteConnection(source, .copying), SQLiteConnection(target, .copying))
        guard let backup = sqlite3_backup_init(to.handle, "main", from.handle, "main") else { throw to.trouble() }
        var result = sqlite3_backup_step(backup, -1)
        var tries = 0
        while [SQLITE_BUSY, SQLITE_LOCKED].contains(result & 0xFF), tries < copyTriesMax {
            sqlite3_sleep(20)
            tries += 1
            result = sqlite3_backup_step(backup, -1)
        }
        let finished = sqlite3_backup_finish(backup)
        if [SQLITE_BUSY, SQLITE_LOCKED].contains(result & 0xFF) {
            throw Failure("write the cache \"\(target)\": others have it locked; try again", exitCode: Outcome.locked)
        }
        guard result == SQLITE_DONE, finished == SQLITE_OK else {
            let reason = String(cString: sqlite3_errstr(result == SQLITE_DONE ? finished : result))
            throw Failure("write the cache \"\(target)\": \(reason)")
        }
    }

    /// Ten seconds: 500 tries, 20 ms apart.
    private static let copyTriesMax = 500
}

// MARK: - Schemas

extension SQLiteConnection {
    /// Runs the statements of a schema that must precede the rows.
    ///
    /// - Returns: The other statements, to be run after the rows. A statement that needs one of them is among them.
    /// - Throws: `Failure` that names the schema and the line.
    func runTables(of script: SQLScript) throws -> [SQLScript.Statement] {
        try script.statements().filter { statement in
            do {
                let compiled = try self.statement(statement.text)
                guard sqlGuard?.isForTables ?? true else { return true }
                allow(rows: 0)
                try compiled.run()
                return false
            } catch let trouble as SQLiteTrouble {
                if !trouble.isRefusal, trouble.reason.hasPrefix("no such ") { return true }
                throw script.failure(trouble, line: statement.line)
            }
        }
    }

    /// Runs the later statements of a schema, after `rows` rows were inserted.
    func run(_ statements: [SQLScript.Statement], of script: SQLScript, rows: Int) throws {
        for statement in statements {
            do {
                allow(rows: rows)
                try self.statement(statement.text).run()
            } catch let trouble as SQLiteTrouble {
                throw script.failure(trouble, line: statement.line)
            }
        }
    }
}
