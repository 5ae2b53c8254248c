import GRDBSQLite

/// Limits what SQL written by others may do on a connection, and what it may take (I30).
///
/// What it takes is counted over all statements (`SQLiteBudget`), not for each: a schema has as many statements as it likes.
///
/// SQLite calls the guard while it compiles a statement (`sqlite3_set_authorizer`) and at intervals while one runs
/// (`sqlite3_progress_handler`). It compiles triggers, views and generated columns into the statements that use them,
/// so the guard sees these too.
///
/// Used on the connection's thread alone.
final class SQLiteGuard {
    /// The kind of SQL that the connection runs.
    enum Policy {
        /// A schema: everything that stays within this file.
        case schema
        /// Reading columns of tables: no functions, no writes. For files that an attacker may have made.
        case reading
        /// One statement of the caller's own that reads, on a cache of our own: functions, but no writes and no other file.
        case query
    }

    /// Whether the last compiled statement makes a table or has a pragma.
    private var makesTable = false
    /// Whether the last statement makes an index, a view or a trigger.
    private(set) var makesOther = false
    /// Why the last statement was refused or stopped, as a predicate ("names another file"); `nil` if it was not.
    private(set) var refusal: String?
    /// The tables that compiled statements write, alter or drop, in lower case.
    private(set) var written: Set<String> = []
    /// The tables among `written` that triggers write to.
    private(set) var writtenByTriggers: Set<String> = []
    /// Whether the guard refused to compile the last statement.
    private(set) var isDenied = false
    /// True while our own SQL runs, which the guard lets through. The limit of steps still counts.
    var isSuspended = false
    /// Whether the file may not grow further than the connection lets it.
    var isFileLimited = false
    private let policy: Policy
    private var budget = SQLiteBudget()
    /// How many tables, indexes, views and triggers were made. SQLite reads the list of all of them for each new one.
    private var madeCount = 0

    /// The most tables, indexes, views and triggers of a schema.
    static let madeMax = 2_000
    /// The longest value or row. The longest payload of an event has 16 MiB.
    static let valueBytesMax: Int32 = 64 << 20
    /// Instructions of SQLite's virtual machine between two calls of the progress handler. Few, because one of them may make
    /// a value of the greatest length.
    private static let stepsPerCall: Int32 = 400

    /// The pragmas of a schema that change nothing outside its file. Full-text search itself reads `data_version`, and
    /// this program reads `table_xinfo`.
    private static let pragmas: Set<String> = [
        "application_id", "auto_vacuum", "data_version", "foreign_keys", "page_count", "page_size",
        "recursive_triggers", "table_xinfo", "user_version",
    ]
    /// The pragmas that tell of tables and set nothing. Full-text search reads `data_version`.
    private static let queryPragmas: Set<String> = [
        "collation_list", "compile_options", "data_version", "encoding", "foreign_key_list", "function_list",
        "index_info",
        "index_list", "index_xinfo", "page_count", "page_size", "pragma_list", "table_info", "table_list",
        "table_xinfo",
    ]
    /// The virtual tables that SQLite contains and that reach nothing outside the file.
    private static let modules: Set<String> = ["fts5", "fts4", "rtree"]
    /// Functions that load code or take pointers.
    private static let functions: Set<String> = ["load_extension", "fts3_tokenizer"]

    init(_ policy: Policy) {
        self.policy = policy
    }

    /// SQLite's memory in this process, whatever its connections do.
    private static let limitsHeap: Void = { sqlite3_hard_heap_limit64(SQLiteBudget.heapBytesMax) }()

    /// Makes a connection call this guard.
    ///
    /// SQLite keeps an unretained pointer to the guard, so the guard must outlive the connection's last statement. This
    /// holds because `SQLiteConnection` owns both, and closes its handle before its properties are released.
    func register(on handle: OpaquePointer) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_set_authorizer(
            handle,
            { context, action, first, second, _, trigger in
                guard let context else { return SQLITE_DENY }
                // The C closures capture nothing: the context is the pointer that was registered.
                let sqlGuard = Unmanaged<SQLiteGuard>.fromOpaque(context).takeUnretainedValue()
                let (first, second) = (first.map { String(cString: $0) }, second.map { String(cString: $0) })
                if !sqlGuard.isSuspended { sqlGuard.noteWrite(action, first, second, isByTrigger: trigger != nil) }
                return sqlGuard.answer(action, first, second)
            },
            context
        )
        sqlite3_progress_handler(
            handle,
            Self.stepsPerCall,
            { context in
                guard let context else { return 1 }
                return Unmanaged<SQLiteGuard>.fromOpaque(context).takeUnretainedValue().goesOn() ? 0 : 1
            },
            context
        )
        // No statement can attach another file.
        sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0)
        // Bounds of values, patterns, nested triggers and threads, so that a small schema cannot take much memory or
        // time.
        sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Self.valueBytesMax)
        sqlite3_limit(handle, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100)
        sqlite3_limit(handle, SQLITE_LIMIT_TRIGGER_DEPTH, 16)
        sqlite3_limit(handle, SQLITE_LIMIT_WORKER_THREADS, 0)
        _ = Self.limitsHeap
        // Reading calls no function at all.
        if policy != .reading { BoundedFunction.register(on: handle) }
    }

    /// True if the last compiled statement must run before rows exist: it makes a table or sets the file's layout, and
    /// makes nothing else.
    var isForTables: Bool { makesTable && !makesOther }

    /// Forgets the last statement's findings. Called before a statement is compiled.
    func beginStatement() {
        (makesTable, makesOther, refusal, isDenied) = (false, false, nil, false)
    }

    /// Limits the time of the statements from here on.
    func limit(to time: Duration) { budget = SQLiteBudget(time: time) }

    /// Gives the SQL of the connection a new budget, that of no rows. Called where a piece of work begins that may have any
    /// number of successors: a follower's batch.
    func beginWork() { budget = SQLiteBudget() }

    /// Adds to the budget what statements that work on `rows` more rows may take.
    func allow(rows: Int) { budget.add(rows: rows) }

    /// Begins a step of a statement: time counts from here, and not while no SQL runs.
    func beginStep() { budget.beginStep() }

    /// Ends a step of a statement. False if it has taken too much: no further one may run.
    ///
    /// - Parameter steps: The instructions that the step took.
    func endStep(steps: Int) -> Bool {
        // The progress handler has counted whole calls already.
        budget.take(steps: steps % Int(Self.stepsPerCall))
        return isWithinBudget()
    }

    /// Counts the instructions since the last call; false stops the statement with `SQLITE_INTERRUPT`.
    private func goesOn() -> Bool {
        budget.take(steps: Int(Self.stepsPerCall))
        return isWithinBudget()
    }

    private func isWithinBudget() -> Bool {
        guard let excess = budget.excess else { return true }
        if refusal == nil { refusal = excess }
        return false
    }

    /// Why SQLite ended a statement itself, as a predicate; `nil` if a limit of the guard is not the cause.
    func excess(_ code: Int32) -> String? {
        switch code & 0xFF {
        case SQLITE_NOMEM: "takes more memory than \(SQLiteBudget.heapBytesMax >> 20) MiB"
        case SQLITE_TOOBIG: "makes a value or a row of more than \(Self.valueBytesMax >> 20) MiB"
        case SQLITE_FULL where isFileLimited: "makes the file too large for the rows there are, or the disk is full"
        default: nil
        }
    }

    /// Notes the tables that a statement writes. The arguments are those of the authorizer: for ALTER TABLE, `first` is
    /// the database and `second` the table.
    private func noteWrite(_ action: Int32, _ first: String?, _ second: String?, isByTrigger: Bool) {
        let table: String?
        switch action {
        case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE, SQLITE_DROP_TABLE: table = first
        case SQLITE_ALTER_TABLE: table = second
        default: return
        }
        guard let table = table?.lowercased() else { return }
        written.insert(table)
        if isByTrigger { writtenByTriggers.insert(table) }
    }

    /// Forgets the tables noted so far.
    func forgetWrites() {
        (written, writtenByTriggers) = ([], [])
    }

    /// The authorizer's answer. Of several refusals for one statement, the first is kept.
    private func answer(_ action: Int32, _ first: String?, _ second: String?) -> Int32 {
        if isSuspended { return SQLITE_OK }
        let reason =
            switch policy {
            case .schema: schemaRefusal(action, first, second)
            case .reading: readingRefusal(action, first)
            case .query: queryRefusal(action, first, second)
            }
        guard let reason else { return SQLITE_OK }
        if refusal == nil { refusal = reason }
        isDenied = true
        return SQLITE_DENY
    }

    private func readingRefusal(_ action: Int32, _ first: String?) -> String? {
        switch action {
        case SQLITE_SELECT, SQLITE_READ: nil
        case SQLITE_PRAGMA where ["table_xinfo", "encoding", "page_count", "page_size"].contains(first): nil
        default: "does more than read columns of a table"
        }
    }

    /// Why a statement of the caller's own may not do something; `nil` if it may.
    private func queryRefusal(_ action: Int32, _ first: String?, _ second: String?) -> String? {
        switch action {
        case SQLITE_SELECT, SQLITE_READ, SQLITE_RECURSIVE: nil
        case SQLITE_FUNCTION: Self.functions.contains(second?.lowercased() ?? "") ? "calls \(second ?? "")" : nil
        case SQLITE_PRAGMA:
            Self.queryPragmas.contains(first?.lowercased() ?? "") ? nil : "has PRAGMA \(first ?? "")"
        case SQLITE_ATTACH, SQLITE_DETACH: "names another file"
        case SQLITE_TRANSACTION, SQLITE_SAVEPOINT: "begins or ends a transaction"
        // SQLite compiles the declaration of a virtual table as such an update, and runs it on no file. A statement that
        // really changes this table is refused by SQLite itself.
        case SQLITE_UPDATE where first == "sqlite_master": nil
        default: "does more than read"
        }
    }

    /// Why a schema may not do something; `nil` if it may. Also notes what the statement makes.
    private func schemaRefusal(_ action: Int32, _ first: String?, _ second: String?) -> String? {
        switch action {
        case SQLITE_CREATE_TABLE, SQLITE_CREATE_INDEX, SQLITE_CREATE_TRIGGER, SQLITE_CREATE_VIEW, SQLITE_CREATE_VTABLE:
            madeCount += 1
            if madeCount > Self.madeMax { return "makes more than \(Self.madeMax) tables, indexes, views and triggers" }
        default: break
        }
        switch action {
        case SQLITE_CREATE_TABLE: makesTable = true
        // SQLite itself makes indexes for UNIQUE and PRIMARY KEY while it makes the table.
        case SQLITE_CREATE_INDEX: makesOther = !(first ?? "").hasPrefix("sqlite_autoindex_") || makesOther
        case SQLITE_CREATE_TRIGGER, SQLITE_CREATE_VIEW: makesOther = true
        case SQLITE_CREATE_VTABLE:
            makesTable = true
            if !Self.modules.contains(second?.lowercased() ?? "") { return "uses the module \"\(second ?? "")\"" }
        case SQLITE_FUNCTION:
            if Self.functions.contains(second?.lowercased() ?? "") { return "calls \(second ?? "")" }
        case SQLITE_PRAGMA:
            makesTable = true
            if !Self.pragmas.contains(first?.lowercased() ?? "") { return "has PRAGMA \(first ?? "")" }
        case SQLITE_ATTACH, SQLITE_DETACH: return "names another file"
        case SQLITE_TRANSACTION, SQLITE_SAVEPOINT: return "begins or ends a transaction"
        case SQLITE_CREATE_TEMP_TABLE, SQLITE_CREATE_TEMP_INDEX, SQLITE_CREATE_TEMP_TRIGGER, SQLITE_CREATE_TEMP_VIEW:
            return "makes something temporary"
        default: break
        }
        return nil
    }
}
