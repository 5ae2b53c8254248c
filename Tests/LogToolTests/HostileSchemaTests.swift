import Foundation
import TestSupport
import Testing

@testable import CacheTables
@testable import logtool

/// Schemas, maps and caches that somebody made who means harm.
@Suite struct HostileSchemaTests {
    let folder: TemporaryDirectory

    private static let table = "CREATE TABLE m (id TEXT PRIMARY KEY);\n"
    private static let map = "tables: {m: {from: messages, columns: {id: id}}}\n"

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 3)
        try folder.write(Self.map, to: "map.yaml")
    }

    @Test(arguments: [
        ("ATTACH 'other.sqlite' AS o;", "names another file"),
        ("VACUUM INTO 'other.sqlite';", "line 2"),
        ("SELECT load_extension('evil');", "calls load_extension"),
        ("PRAGMA journal_mode = WAL;", "PRAGMA journal_mode"),
        ("PRAGMA writable_schema = ON;", "PRAGMA writable_schema"),
        ("PRAGMA temp_store_directory = '/tmp';", "PRAGMA temp_store_directory"),
        ("CREATE VIRTUAL TABLE v USING csv(filename = '/etc/passwd');", "uses the module \"csv\""),
        ("CREATE VIRTUAL TABLE v USING sqlite_batch_1;", "uses the module \"sqlite_batch_1\""),
        ("CREATE TABLE sqlite_batch_1 (c0);", "reserved for internal use"),
        ("COMMIT;", "begins or ends a transaction"),
        ("CREATE TEMP TABLE t (x);", "makes something temporary"),
        ("CREATE TABLE nonsense;", "syntax error"),
        ("DROP TABLE m;", "lacks"),
        ("DROP TABLE eventlog_meta;", "no such table: eventlog_meta"),
        ("INSERT INTO m SELECT 'a' FROM m, m, m;", "UNIQUE constraint failed"),
    ])
    func aStatementThatReachesOutIsRefused(statement: String, reason: String) throws {
        try folder.write(Self.table + statement + "\n", to: "app.sql")
        let run = try rebuild()
        if reason == "lacks" {
            // What a schema takes away after the rows is the app's own affair; nothing of it may crash.
            #expect(run.exitCode == 0)
        } else {
            #expect(run.exitCode == 2, "\(run.output)\(run.errors)")
            #expect(run.errors.contains(reason), "\(run.errors)")
            #expect(!FileManager.default.fileExists(atPath: folder.path("c.sqlite")))
        }
        #expect(!FileManager.default.fileExists(atPath: folder.path("other.sqlite")))
        #expect(try folderNames.isSubset(of: ["lock", "001.sqlite"]))
    }

    @Test(arguments: [
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) INSERT INTO m SELECT x FROM n WHERE x < 0;",
        "CREATE VIEW v AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n; SELECT max(x) FROM v;",
    ])
    func aStatementWithoutEndIsStopped(statement: String) throws {
        try folder.write(Self.table + statement, to: "app.sql")
        let run = try rebuild()
        #expect(run.exitCode == 2)
        #expect(run.errors.contains("takes too long"), "\(run.errors)")
    }

    /// One instruction of SQLite's may make or search much, and many statements together do what one may not.
    @Test(arguments: [
        (
            "WITH RECURSIVE n(x) AS (SELECT zeroblob(30000000) UNION SELECT x || x'00' FROM n) "
                + "SELECT count(*) FROM n;", "takes more memory than 512 MiB"
        ),
        ("SELECT length(printf('%.*c', 999999999, 'x'));", "printf of such long texts takes too long"),
        ("SELECT format('%.999999999c', 'x');", "format of such long texts takes too long"),
        ("CREATE TABLE p (a, b AS (printf('%.*c', 999999999, a)) STORED);INSERT INTO p VALUES (1);", "printf of such"),
        (
            "CREATE TABLE p (a CHECK (instr(zeroblob(3e7), zeroblob(2e7)) > 0));INSERT INTO p VALUES (1);",
            "instr of such"
        ),
        ("CREATE INDEX i ON m (replace(id || zeroblob(2e7), zeroblob(1e7) || id, ''));", "replace of such long texts"),
        ("SELECT json_patch(zeroblob(6e7), zeroblob(6e7));", "json_patch of such long texts"),
        ("SELECT zeroblob(100000000);", "makes a value or a row of more than 64 MiB"),
        (
            (0..<2_100).map { "CREATE TABLE t\($0) (x);" }.joined(separator: "\n"),
            "makes more than 2000 tables, indexes, views and triggers"
        ),
    ])
    func aStatementThatTakesTooMuchIsStopped(statement: String, reason: String) throws {
        try folder.write(Self.table + statement + "\n", to: "app.sql")
        let run = try rebuild()
        #expect(run.exitCode == 2)
        #expect(run.errors.contains(reason), "\(run.errors)")
        #expect(run.errors.contains("run schema \"app.sql\": line "), "\(run.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.path("c.sqlite")))
        #expect(try folderNames.isSubset(of: ["lock"]))
    }

    /// A trigger that somebody added to a cache runs when new events are written to it.
    @Test(.hangGuard) func aTriggerOfAFollowedCacheIsStopped() throws {
        try folder.write("tables: {m: {from: messages, columns: {id: id, channel: channel}}}\n", to: "map.yaml")
        try folder.write("CREATE TABLE m (channel TEXT, id TEXT, PRIMARY KEY (channel, id));", to: "app.sql")
        #expect(try rebuild().exitCode == 0)
        try run(
            "CREATE TRIGGER t AFTER INSERT ON m BEGIN UPDATE m SET id = printf('%.*c', 999999999, 'x') WHERE 0; "
                + "SELECT printf('%.*c', 999999999, 'x'); END",
            on: folder.path("c.sqlite")
        )
        let frame =
            #"{"op":0,"s":90,"t":"MESSAGE_CREATE","d":{"id":"1900","channel_id":"10","author_id":"7","#
            + #""author_username":"ada","content":"new","created_at":"2026-01-01T00:00:00Z"}}"#
        try folder.write(SampleCaptures.line(50, frame), to: "more.ndjson")
        let ingested = try ToolRun.run(
            ["ingest", "L", "capture", "more.ndjson", "--kind", "gateway", "--as", "guild"],
            in: folder
        )
        #expect(ingested.exitCode == 0, "\(ingested.errors)")
        let followed = try ToolRun.run(
            ["rebuild", "L", "--to", "c.sqlite", "--schema", "app.sql", "--map", "map.yaml", "--follow"],
            in: folder
        )
        #expect(followed.exitCode == 2)
        #expect(followed.errors.contains("printf of such long texts"), "\(followed.errors)")
        let cache = PythonDatabase(path: folder.path("c.sqlite"))
        #expect(try cache.lines("SELECT count(*) FROM m") == ["(3,)"])
    }

    /// The limit is that of all statements together.
    @Test func aBudgetIsSpentOnce() {
        var budget = SQLiteBudget()
        for _ in 0..<20 {
            #expect(budget.excess == nil)
            budget.beginStep()
            budget.take(steps: SQLiteBudget.stepsMin / 20)
        }
        #expect(budget.excess != nil)
        budget.add(rows: 3)
        #expect(budget.excess == nil)
        budget.take(steps: 3 * SQLiteBudget.stepsPerRow)
        #expect(budget.excess != nil)
        budget.add(rows: .max)
        #expect(budget.excess == nil)
    }

    /// What SQLite's own functions give, a schema's get.
    @Test func functionsWithLimitsGiveWhatSQLiteGives() throws {
        let calls = [
            "printf('%05d|%-6s|%.2f|%c|%%|%*d', 42, 'ab', 3.14159, 'xyz', 7, 5)", "printf('no')",
            "format('%q', 'it''s')",
            "printf()", "printf(NULL)", "instr('größe', 'ße')", "instr(x'0102', x'02')", "instr(NULL, 'a')",
            "replace('abcabc', 'b', 'ß')", "replace(123, 2, 'x')", "trim('xxaxx', 'x')", "ltrim('xxaxx', 'x')",
            "rtrim('  a  ')", "rtrim('xxaxx', 'x')", "json_patch('{\"a\":1}', '{\"a\":null,\"b\":[2]}')",
            "json_array(json_patch('{}', '{\"b\":2}'))", "typeof(instr('a', 'b'))", "typeof(replace(x'00', 'a', 'b'))",
        ]
        let statement = "SELECT " + calls.map { "quote(\($0))" }.joined(separator: ", ")
        try folder.write(
            Self.table + "CREATE TABLE answers AS \(statement);",
            to: "app.sql"
        )
        #expect(try rebuild().exitCode == 0)
        let cache = PythonDatabase(path: folder.path("c.sqlite"))
        #expect(try cache.lines("SELECT * FROM answers") == cache.lines(statement))
    }

    @Test func rowsThatBreakARuleNameTheTableAndTheRow() throws {
        try folder.write("CREATE TABLE m (a TEXT PRIMARY KEY);", to: "app.sql")
        try folder.write("tables: {m: {from: messages, key: [a], columns: {a: channel}}}", to: "map.yaml")
        let run = try rebuild()
        #expect(run.exitCode == 2)
        #expect(
            run.errors.contains("line 1: table \"m\": the row with a = \"10\": UNIQUE constraint failed"),
            "\(run.errors)"
        )
        // Rows are inserted many at a time, and the one that is wrong is in the middle.
        try folder.write("CREATE TABLE m (a TEXT PRIMARY KEY, b TEXT CHECK (b <> '1002'));", to: "app.sql")
        try folder.write("tables: {m: {from: messages, key: [a], columns: {a: id, b: id}}}", to: "map.yaml")
        let checked = try rebuild()
        #expect(checked.exitCode == 2)
        #expect(checked.errors.contains("the row with a = \"1002\": CHECK constraint failed"), "\(checked.errors)")
        try folder.write("CREATE TABLE m (a TEXT PRIMARY KEY);", to: "app.sql")
        try folder.write("tables: {m: {from: messages, conflict: replace, columns: {a: channel}}}", to: "map.yaml")
        #expect(try rebuild().exitCode == 0)
        #expect(try PythonDatabase(path: folder.path("c.sqlite")).lines("SELECT * FROM m") == ["('10',)"])
    }

    /// Rows of several tables are inserted at once; the error is that of the first row, whatever the order of the tables.
    @Test(arguments: [("a <> '1003'", "1001", "n"), ("a <> '1001'", "1003", "m")])
    func ofTwoTablesTheFirstRowThatBreaksARuleIsNamed(rule: String, other: String, table: String) throws {
        let tables = "CREATE TABLE m (a CHECK (\(rule)));\nCREATE TABLE n (a CHECK (a <> '\(other)'));"
        try folder.write(tables, to: "app.sql")
        let columns = "{from: messages, key: [a], columns: {a: id}}"
        try folder.write("tables: {m: \(columns), n: \(columns)}", to: "map.yaml")
        let run = try rebuild()
        #expect(run.exitCode == 2)
        #expect(run.errors.contains("table \"\(table)\": the row with a = \"1001\": CHECK"), "\(run.errors)")
    }

    @Test func theTableThatRowsComeFromIsEmptyForASchema() throws {
        try folder.write(Self.table + "CREATE TABLE seen AS SELECT c0 FROM sqlite_batch_1;", to: "app.sql")
        let run = try rebuild()
        #expect(run.exitCode == 0, "\(run.errors)")
        let cache = PythonDatabase(path: folder.path("c.sqlite"))
        #expect(try cache.lines("SELECT * FROM seen") == [])
        #expect(try cache.lines("SELECT count(*) FROM m") == ["(3,)"])
    }

    @Test func aMapOfAnotherSchemaNamesTheLine() throws {
        try folder.write("CREATE TABLE n (id TEXT PRIMARY KEY);", to: "app.sql")
        #expect(try rebuild().errors.contains("line 1: the schema has no table \"m\""))
        try folder.write("CREATE TABLE m (a TEXT PRIMARY KEY);", to: "app.sql")
        #expect(try rebuild().errors.contains("line 1: table \"m\" has no column \"id\""))
    }

    @Test func aCacheOfAnEnemyIsReadAndNothingElse() throws {
        try make(
            "CREATE VIEW m AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS id FROM n"
        )
        #expect(try diff().errors.contains("is no plain table"))
        // SQLite reads this text as that of a virtual table, which it would not store so.
        for text in ["create  virtual table m using fts5(id)", "CREATE/**/VIRTUAL TABLE m USING fts5(id)"] {
            try make(
                "CREATE VIRTUAL TABLE m USING fts5(id); PRAGMA writable_schema = ON; "
                    + "UPDATE sqlite_master SET sql = '\(text)' WHERE name = 'm'"
            )
            #expect(try diff().errors.contains("is no plain table"), "\(text)")
        }
        try make("CREATE TABLE m (id TEXT PRIMARY KEY, a AS (randomblob(1000000000)))")
        let generated = try diff("tables: {m: {from: messages, key: [id], columns: {id: id, a: content}}}")
        #expect(generated.exitCode == 2, "\(generated.output)")
        try make("CREATE TABLE n (id TEXT)")
        #expect(try diff().errors.contains("has no table \"m\""))
        try make("CREATE TABLE m (id TEXT)")
        #expect(try diff().errors.contains("no primary key"))
        try make("PRAGMA encoding = 'UTF-16'; CREATE TABLE m (id TEXT PRIMARY KEY)")
        #expect(try diff().errors.contains("only UTF-8 is read"))
    }

    @Test func aCacheThatIsDamagedIsSaidSo() throws {
        try make("CREATE TABLE m (id TEXT PRIMARY KEY); INSERT INTO m VALUES ('1001'), ('1002'), ('1003')")
        #expect(try diff().exitCode == 0)
        var bytes = try Data(contentsOf: URL(filePath: folder.path("app.sqlite")))
        for index in 4096..<bytes.count { bytes[index] = 0xA5 }
        try bytes.write(to: URL(filePath: folder.path("app.sqlite")))
        let damaged = try diff()
        #expect(damaged.exitCode == 2)
        #expect(damaged.errors.contains("malformed"), "\(damaged.errors)")
        for text in ["", "no database", String(repeating: "x", count: 5000)] {
            try folder.write(text, to: "app.sqlite")
            let run = try diff()
            #expect(run.exitCode == 2, "\(run.output)")
        }
        try FileManager.default.removeItem(atPath: folder.path("app.sqlite"))
        #expect(try diff().exitCode == 2)
    }

    /// Whatever a few changed bytes make of a cache, the answer is one of three and comes soon.
    @Test func aCacheWithFlippedBytesIsComparedOrRefused() throws {
        try make(
            "CREATE TABLE m (id TEXT PRIMARY KEY, t TEXT);"
                + "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 300) "
                + "INSERT INTO m SELECT x, hex(randomblob(40)) FROM n"
        )
        let whole = try Data(contentsOf: URL(filePath: folder.path("app.sqlite")))
        var random = SeededGenerator(seed: 22)
        for _ in 0..<12 {
            var bytes = whole
            for _ in 0..<40 {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            try bytes.write(to: URL(filePath: folder.path("app.sqlite")))
            let run = try diff("tables: {m: {from: messages, key: [id], columns: {id: id, t: content}}}")
            #expect([1, 2].contains(run.exitCode), "\(run.exitCode) \(run.errors)")
        }
    }

    private func rebuild() throws -> ToolRun {
        try ToolRun.run(
            ["rebuild", "L", "--to", "c.sqlite", "--schema", "app.sql", "--map", "map.yaml"],
            in: folder
        )
    }

    private func diff(_ map: String = Self.map) throws -> ToolRun {
        try folder.write(map, to: "map.yaml")
        return try ToolRun.run(["diff", "L", "app.sqlite", "--map", "map.yaml"], in: folder)
    }

    private func make(_ sql: String) throws {
        try? FileManager.default.removeItem(atPath: folder.path("app.sqlite"))
        try run(sql, on: folder.path("app.sqlite"))
    }

    private func run(_ sql: String, on path: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = [
            "-c", "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])",
            path, sql,
        ]
        try process.run()
        process.waitUntilExit()
    }

    private var folderNames: Set<String> {
        get throws { Set(try FileManager.default.contentsOfDirectory(atPath: folder.path("c.sqlite.d"))) }
    }
}
