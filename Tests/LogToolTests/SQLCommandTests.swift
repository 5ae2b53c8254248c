import EventLog
import Foundation
import GRDB
import Projections
import TestSupport
import Testing

/// `logtool sql`: one statement that reads over the tables of a log, which are kept with its derived data.
@Suite struct SQLCommandTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 3)
    }

    // MARK: Answers

    @Test func anAnswerIsATableJSONOrCSV() throws {
        let question = "SELECT id, revisions, NULL AS n, content || ',' AS text FROM messages ORDER BY id LIMIT 2"
        #expect(
            try sql(question).output == """
                id    revisions  n     text
                1001          1  NULL  message 1,
                1002          1  NULL  message 2,

                """
        )
        #expect(
            try sql(question, "--json").output
                == #"[{"id":"1001","revisions":1,"n":null,"text":"message 1,"},"#
                + #"{"id":"1002","revisions":1,"n":null,"text":"message 2,"}]"# + "\n"
        )
        #expect(try sql(question, "--jsonl").output.split(separator: "\n").count == 2)
        #expect(
            try sql(question, "--csv").output
                == "id,revisions,n,text\r\n1001,1,,\"message 1,\"\r\n1002,1,,\"message 2,\"\r\n"
        )
        let none = "SELECT id FROM messages WHERE id = 'none'"
        #expect(try sql(none).output == "id\n")
        #expect(try sql(none, "--json").output == "[]\n")
        #expect(try sql(none).exitCode == 0)
        let run = try ToolRun.run(["sql", "L", "-"], in: folder, input: Data("SELECT 5 AS five; -- no more".utf8))
        #expect(run.output == "five\n   5\n")
    }

    @Test func whatIsNoTextForATerminalIsEscaped() throws {
        let run = try sql("SELECT char(27) || '[31m' AS a, char(10) AS \"b\u{1B}\"")
        #expect(run.output == "a           b\\u{1b}\n\\u{1b}[31m  \\u{a}\n")
    }

    @Test func jsonNeedsNamesThatDiffer() throws {
        let run = try sql("SELECT 1 AS a, 2 AS a", "--json")
        #expect(run.exitCode == 2 && run.errors.contains("name them apart with AS"), "\(run.errors)")
    }

    @Test func eventsHaveTheirPayloads() throws {
        #expect(
            try sql(
                "SELECT sequence, source, kind, bytes, redacted, payload ->> '$.t' AS t, attributes FROM events LIMIT 2",
                "--jsonl"
            )
            .output
                == #"{"sequence":1,"source":"guild","kind":"gateway.frame/1","bytes":42,"redacted":0,"t":null,"attributes":"#
                + #""{\"dir\":\"in\"}"}"# + "\n"
                + #"{"sequence":2,"source":"guild","kind":"gateway.frame/1","bytes":116,"redacted":0,"t":"CHANNEL_CREATE","attributes":"#
                + #""{\"dir\":\"in\"}"}"# + "\n"
        )
    }

    /// Every payload is JSON for SQLite, whatever it was.
    @Test func noPayloadBreaksTheFunctionsOfJSON() throws {
        let log = try EventStore.openOrCreate(at: folder.path("P"))
        let payloads: [[UInt8]] = [
            Array(#" {"a":1} "#.utf8), Array("data: {\n\n".utf8), [0xFF, 0x00], [], Array("{\"a\":1}x".utf8),
            Array("7".utf8),
        ]
        _ = try log.append(
            payloads.map {
                try DraftEvent(
                    recordedAt: Timestamp(seconds: 0),
                    source: SourceName("s"),
                    kind: EventKind("json.record/1"),
                    payload: $0
                )
            }
        )
        let run = try ToolRun.run(
            [
                "sql", "P",
                "SELECT json_valid(payload) AS v, json_type(payload) AS t, payload ->> '$.a' AS a FROM events", "--csv",
            ],
            in: folder
        )
        #expect(
            run.output == "v,t,a\r\n1,object,1\r\n1,text,\r\n1,object,\r\n1,text,\r\n1,text,\r\n1,integer,\r\n",
            "\(run.errors)"
        )
    }

    @Test func everyVersionOfAMessageIsSearched() throws {
        let edit =
            #"{"op":0,"s":9,"t":"MESSAGE_UPDATE","d":{"id":"1001","channel_id":"10","author_id":"7","author_username":"ada","#
            + #""content":"something else","created_at":"2026-01-01T00:00:00Z","edited_at":"2026-01-01T00:01:00Z"}}"#
        try append(SampleCaptures.line(20, edit))
        let question =
            "SELECT r.id, r.number FROM message_revisions_search s JOIN message_revisions r ON r.row = s.rowid "
            + "WHERE message_revisions_search MATCH '\"message 1\"'"
        #expect(try sql(question, "--csv").output == "id,number\r\n1001,0\r\n")
        #expect(
            try sql("SELECT count(*) AS n FROM messages_search WHERE messages_search MATCH '\"message 1\"'").output
                == "n\n0\n"
        )
    }

    // MARK: Only reading

    @Test(arguments: [
        ("DELETE FROM messages", "it does more than read; only one statement that reads may run"),
        ("INSERT INTO messages_search (messages_search) VALUES ('rebuild')", "does more than read"),
        ("CREATE TABLE t (a)", "does more than read"), ("CREATE TEMP TABLE t (a)", "does more than read"),
        ("DROP TABLE messages", "does more than read"), ("UPDATE sqlite_master SET sql = ''", "may not be modified"),
        ("ATTACH 'other.sqlite' AS o", "names another file"), ("VACUUM INTO 'other.sqlite'", "does more than read"),
        ("PRAGMA journal_mode = DELETE", "has PRAGMA journal_mode"),
        ("PRAGMA query_only = OFF", "has PRAGMA query_only"),
        ("PRAGMA writable_schema = ON", "has PRAGMA writable_schema"),
        ("BEGIN IMMEDIATE", "begins or ends a transaction"),
        ("SELECT load_extension('evil')", "calls load_extension"),
        ("SELECT readfile('/etc/passwd')", "no such function"),
        ("SELECT 1; DROP TABLE messages", "there are 2 statements; give one at a time"), (" ", "there is no statement"),
        ("SELCT 1", "near \"SELCT\": syntax error"), ("SELECT * FROM mesages", "no such table: mesages"),
        ("SELECT length(zeroblob(100000000))", "makes a value or a row of more than 64 MiB; ask for less"),
        ("SELECT printf('%.*c', 999999999, 'x')", "printf of such long texts takes too long"),
        (
            "WITH RECURSIVE n(x) AS (SELECT zeroblob(30000000) UNION SELECT x || x'00' FROM n) SELECT count(*) FROM n",
            "takes more memory than 512 MiB; ask for less"
        ),
    ])
    func aStatementThatDoesMoreThanReadIsRefused(statement: String, reason: String) throws {
        _ = try sql("SELECT 1")
        let before = try files
        let run = try sql(statement)
        #expect(run.exitCode == 2, "\(run.output)")
        #expect(run.errors.hasPrefix("logtool: run the SQL: ") && run.errors.contains(reason), "\(run.errors)")
        #expect(try files == before)
        #expect(!FileManager.default.fileExists(atPath: folder.path("other.sqlite")))
    }

    @Test(.hangGuard) func aStatementWithoutEndIsStopped() throws {
        let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n"
        let run = try sql(endless, "--timeout", "1s")
        #expect(
            run.exitCode == 2 && run.errors.contains("takes longer than 1 s (--timeout); ask for less"),
            "\(run.errors)"
        )
        // Rows that were found by then are printed.
        let rows = try sql(
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n",
            "--timeout",
            "1s",
            "--csv"
        )
        #expect(rows.exitCode == 2)
    }

    // MARK: The tables are kept

    @Test func onlyNewEventsAreFolded() throws {
        #expect(try sql("SELECT count(*) AS n FROM events").output == "n\n5\n")
        let file = try #require(try tables.first { $0.hasSuffix(".sqlite") })
        // What no log gives shows that the tables were not made again.
        try DatabaseQueue(path: file).write {
            try $0.execute(sql: "UPDATE messages SET author = 'planted' WHERE id = '1001'")
        }
        try append(SampleCaptures.line(20, SampleCaptures.message(4)))
        let run = try sql(
            "SELECT max(sequence) AS s, (SELECT count(*) FROM messages) AS m, (SELECT author FROM messages WHERE id = '1001') AS a FROM events"
        )
        #expect(run.output == "s  m  a\n6  4  planted\n", "\(run.errors)")
        #expect(try tables.contains(file))
    }

    @Test func tablesThatAreDamagedAreMadeAgain() throws {
        _ = try sql("SELECT 1")
        let file = try #require(try tables.first { $0.hasSuffix(".sqlite") })
        try Data("no database".utf8).write(to: URL(filePath: file))
        #expect(try sql("SELECT count(*) AS n FROM messages").output == "n\n3\n")
    }

    @Test func aCopyOfALogDoesNotBelieveTheTablesThatCameWithIt() throws {
        _ = try sql("SELECT 1")
        let file = try #require(try tables.first { $0.hasSuffix(".sqlite") })
        try DatabaseQueue(path: file).write { try $0.execute(sql: "UPDATE messages SET content = 'forged'") }
        try FileManager.default.copyItem(atPath: folder.path("L"), toPath: folder.path("C"))
        let run = try ToolRun.run(["sql", "C", "SELECT DISTINCT content FROM messages ORDER BY 1 LIMIT 1"], in: folder)
        #expect(run.output == "content\nmessage 1\n", "\(run.errors)")
    }

    @Test func aCompactionTakesTheTablesWithIt() throws {
        try folder.makeLog(messages: 30, isLarge: true)
        _ = try sql("SELECT 1")
        #expect(try ToolRun.run(["compact", "L", "--keep", "3"], in: folder).exitCode == 0)
        #expect(try tables.isEmpty)
        let run = try sql("SELECT count(*) AS m, (SELECT count(*) FROM events) < 30 AS dropped FROM messages")
        #expect(run.output == "m  dropped\n3        1\n", "\(run.output)\(run.errors)")
    }

    /// No text that a redaction removed stays in a table.
    @Test func aRedactionTakesTheTextsWithIt() throws {
        _ = try sql("SELECT 1")
        let cache = ["rebuild", "L", "--to", "c.sqlite", "--with", "events"]
        #expect(try ToolRun.run(cache, in: folder).exitCode == 0)
        let substitute = Array(SampleCaptures.message(1, content: "gone").replacing("\n", with: "").utf8)
        let hash = Hasher256.hash(substitute).hex
        do {
            let log = try EventStore.open(at: folder.path("L"))
            var plan = RewritePlan(
                dropped: [],
                decidedAt: SequenceNumber(5),
                act: try DraftEvent(
                    recordedAt: Timestamp(seconds: 1_767_226_000),
                    source: SourceName("logtool"),
                    kind: EventKind("logtool.redact/1"),
                    payload: Array("{\"redacted\":[{\"sequence\":\"3\",\"substituteHash\":\"\(hash)\"}]}".utf8)
                )
            )
            plan.substitutes = [SequenceNumber(3): substitute]
            _ = try log.rewrite(plan)
        }
        #expect(try tables.isEmpty)
        let question = "SELECT redacted, payload ->> '$.d.content' AS text FROM events WHERE sequence = 3"
        #expect(try sql(question).output == "redacted  text\n       1  gone\n")
        // A cache of the file's own is made again by a follower and by a rebuild, and a check finds it old.
        #expect(try ToolRun.run(cache + ["--check"], in: folder).exitCode == 1)
        #expect(try ToolRun.run(cache + ["--plan"], in: folder).output.contains("events: from the log"))
        #expect(try ToolRun.run(cache + ["--check"], in: folder).exitCode == 0)
    }

    @Test(.hangGuard) func manyAtOnceGetTheSameAnswer() throws {
        try folder.makeLog(messages: 200)
        let processes = try (0..<5).map { _ in
            let process = Process()
            process.executableURL = try ToolRun.executable
            process.arguments = ["sql", "L", "SELECT count(*) AS n FROM messages JOIN events ON 1 WHERE sequence = 1"]
            process.currentDirectoryURL = folder.url
            let output = Pipe()
            (process.standardOutput, process.standardError) = (output, output)
            try process.run()
            return (process, output)
        }
        for (process, output) in processes {
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus == 0 && text == "  n\n200\n", "\(text)")
        }
        #expect(try tables.count { $0.hasSuffix(".sqlite") } == 1)
    }

    /// What a killed process leaves is removed, and what it has not finished is not believed.
    @Test func theRemainsOfAKilledProcessAreRemoved() throws {
        _ = try sql("SELECT 1")
        let file = try #require(try tables.first { $0.hasSuffix(".sqlite") })
        let half = file.replacing("/001.sqlite", with: "/002.sqlite.unfinished")
        try Data("half".utf8).write(to: URL(filePath: half))
        #expect(try sql("SELECT count(*) AS n FROM messages").output == "n\n3\n")
        #expect(!FileManager.default.fileExists(atPath: half))
    }

    @Test func aDamagedEventIsNoAnswer() throws {
        try folder.alter("message 2")
        let run = try sql("SELECT payload FROM events")
        #expect(run.exitCode == 3, "\(run.output)")
    }

    @Test func noLogIsNoLog() throws {
        #expect(try ToolRun.run(["sql", "nowhere", "SELECT 1"], in: folder).exitCode == 10)
        #expect(try sql("SELECT 1", "--json", "--csv").exitCode == 2)
    }

    private func sql(_ statement: String, _ options: String...) throws -> ToolRun {
        try ToolRun.run(["sql", "L", statement] + options, in: folder)
    }

    private func append(_ lines: String) throws {
        let capture = try String(contentsOfFile: folder.path("c.ndjson"), encoding: .utf8)
        try folder.write(capture + lines, to: "c.ndjson")
        let run = try ToolRun.run(
            ["ingest", "L", "capture", "c.ndjson", "--kind", "gateway", "--as", "guild"],
            in: folder
        )
        try #require(run.exitCode == 0, "\(run.errors)")
    }

    /// The names and sizes of the whole files of SQLite that are kept with the log.
    private var files: [String] {
        get throws {
            try tables.filter { $0.hasSuffix(".sqlite") || $0.hasSuffix(".unfinished") }
                .map { "\($0) \(try FileManager.default.attributesOfItem(atPath: $0)[.size] ?? "")" }
        }
    }

    /// The paths of the files of SQLite that are kept with the log.
    private var tables: [String] {
        get throws {
            try FileManager.default.subpathsOfDirectory(atPath: folder.path("L")).filter { $0.contains(".sqlite") }
                .sorted()
                .map { folder.path("L/" + $0) }
        }
    }
}
