import Foundation
import TestSupport
import Testing

/// What a rebuild says of schemas and maps: how a new one differs from that of the cache, and what is wrong with one.
@Suite struct CacheSchemaTests: AppCacheSuite {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 4)
    }

    // MARK: A schema that changed

    private static let oldSQL = """
        CREATE TABLE post (source TEXT, channel TEXT, id TEXT, body TEXT, old TEXT, PRIMARY KEY (channel, id));
        CREATE TABLE post_log (source TEXT, channel TEXT, id TEXT, n INTEGER, PRIMARY KEY (channel, id, n));
        CREATE TABLE draft (text TEXT);
        CREATE VIRTUAL TABLE post_text USING fts5 (body);
        """
    private static let oldMap = """
        tables:
          post: {from: messages, columns: {source: source, channel: channel, id: id, body: content, old: author}}
          post_log: {from: messageHistory, columns: {source: source, channel: channel, id: id, n: number}}
        """
    private static let newSQL = """
        CREATE TABLE post (source TEXT, channel TEXT, id TEXT, body TEXT, edited TEXT, PRIMARY KEY (channel, id));
        CREATE TABLE room (source TEXT, id TEXT PRIMARY KEY, name TEXT);
        CREATE TABLE draft (text TEXT);
        """
    private static let newMap = """
        tables:
          post: {from: messages, columns: {source: source, channel: channel, id: id, body: content, edited: editedAt}}
          room: {from: channels, columns: {source: source, id: id, name: name}}
        """

    @Test func aChangedSchemaIsComparedTableByTable() throws {
        try use(Self.oldSQL, Self.oldMap)
        #expect(try rebuild().exitCode == 0)
        try write(
            """
            UPDATE post SET body = 'stale' WHERE id = '1001'; DELETE FROM post WHERE id = '1002';
            INSERT INTO post VALUES ('guild', '10', '9', 'planted', 'x'); INSERT INTO draft VALUES ('mine')
            """
        )
        try use(Self.newSQL, Self.newMap)
        let run = try rebuild("--diff", "--dry-run")
        #expect(run.exitCode == 0, "\(run.errors)")
        let lines = run.output.split(separator: "\n").map(String.init)
        #expect(
            lines.suffix(7) == [
                "post: new column edited", "post: column old goes", "room: new, 1 row",
                "draft: 1 row before, 0 after; not compared, because the map does not fill it",
                "post_log: goes, 4 rows", "post: 1 added, 1 removed, 1 changed",
                "would build app.sqlite at sequence 6: post 4, room 1",
            ],
            "\(run.output)"
        )
        // The arrow leads from the old value to the new one.
        #expect(lines.contains(#"  body (content): "stale" → "message 1""#), "\(run.output)")
        #expect(lines.contains("+ post channel=10 id=1002") && lines.contains("- post channel=10 id=9"))
        let json = try rebuild("--diff", "--json").output.split(separator: "\n")
        #expect(json.count == 2)
        #expect(
            json[0].hasPrefix(
                #"{"diff":{"tables":[{"table":"post","change":"changed","newColumns":["edited"],"goneColumns":["old"]},"#
                    + #"{"table":"room","change":"added","after":1},{"table":"draft","change":"changed","before":1,"after":0,"#
                    + #""reason":"the map does not fill it"},{"table":"post_log","change":"removed","before":4}],"#
                    + #""rows":[{"table":"post","added":1,"removed":1,"changed":1}],"differences":[{"table":"post","#
            ),
            "\(json[0])"
        )
        #expect(try rows("SELECT count(*) FROM room") == ["1"])
        #expect(try rebuild("--diff", "--dry-run").output.hasPrefix("nothing will look different"))
    }

    /// A table without a key in common is counted.
    @Test func aTableWithAnotherKeyIsCounted() throws {
        try use(Self.oldSQL, Self.oldMap)
        #expect(try rebuild().exitCode == 0)
        try use(
            "CREATE TABLE post (source TEXT, channel TEXT, id TEXT, at INTEGER PRIMARY KEY);",
            "tables: {post: {from: messages, columns: {source: source, channel: channel, id: id, at: {from: id, as: integer}}}}"
        )
        let run = try rebuild("--diff")
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(
            run.output.contains("post: 4 rows before, 4 after; not compared, because the two have no key in common")
        )
        #expect(run.output.contains("post: new column at\npost: columns body, old go\n"), "\(run.output)")
    }

    @Test func aColumnOfAnotherTypeIsNamed() throws {
        try use(Self.oldSQL, Self.oldMap)
        #expect(try rebuild().exitCode == 0)
        try folder.write(Self.oldSQL.replacing("n INTEGER", with: "n TEXT"), to: "app.sql")
        let run = try rebuild("--diff", "--dry-run")
        #expect(run.output.contains("post_log: column n becomes TEXT, was INTEGER"), "\(run.output)")
    }

    /// The plan that is printed is the one that is carried out.
    @Test func aComparisonLeavesThePlanAsItIs() throws {
        try use(Self.oldSQL, Self.oldMap)
        #expect(try rebuild().exitCode == 0)
        try use(
            Self.oldSQL.replacing("old TEXT", with: "edited TEXT"),
            Self.oldMap.replacing("old: author", with: "edited: editedAt")
        )
        let run = try rebuild("--plan", "--diff")
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(
            run.output.hasPrefix("post: from the log: its SQL or its map has changed\npost_log: copied\n"),
            "\(run.output)"
        )
        #expect(run.output.components(separatedBy: "post_log: ").count == 2, "\(run.output)")
    }

    /// A row of the new schema that breaks a rule is the schema's fault, not that of the cache before.
    @Test func aBrokenRuleMakesNoSecondPlan() throws {
        try use(Self.oldSQL, Self.oldMap)
        #expect(try rebuild().exitCode == 0)
        try use(Self.oldSQL.replacing("old TEXT", with: "old TEXT CHECK (old = '')"), Self.oldMap)
        let run = try rebuild("--plan")
        #expect(run.exitCode == 2)
        #expect(run.output == "post: from the log: its SQL or its map has changed\npost_log: copied\n", "\(run.output)")
    }

    /// Rows of a map that finds no thing's rows again cannot be brought up to date, so none are copied.
    @Test func aMapThatCannotBeFollowedIsBuiltWhole() throws {
        let sql = "CREATE TABLE a (t TEXT); CREATE TABLE b (source TEXT, id TEXT PRIMARY KEY);"
        let map =
            "tables: {a: {from: messages, key: [t], columns: {t: content}}, b: {from: channels, columns: {source: source, id: id}}}"
        try use(sql, map)
        #expect(try rebuild("--at", "4").exitCode == 0)
        try use(sql, map.replacing("source: source, id: id", with: "id: id"))
        let run = try rebuild("--plan")
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(run.output.hasPrefix("a: from the log: newer events cannot be written into a copy"), "\(run.output)")
        #expect(run.output.hasSuffix("at sequence 6: a 4, b 1\n"))
    }

    /// Somebody damaged the cache before.
    @Test func aCacheThatCannotBeReadIsNotComparedAndReplaced() throws {
        try use(Self.oldSQL, Self.oldMap)
        #expect(try rebuild().exitCode == 0)
        let file = folder.path("app.sqlite.d/001.sqlite")
        let handle = try FileHandle(forUpdating: URL(filePath: file))
        try handle.truncate(atOffset: 16_384)
        try handle.close()
        let run = try rebuild("--diff")
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(run.errors.contains("nothing is compared: compare the cache"), "\(run.errors)")
        #expect(try rebuild("--check").exitCode == 0)
    }

    // MARK: A schema that was forgotten

    @Test(arguments: [[], ["--follow"], ["--check"], ["--diff", "--dry-run"]])
    func aCacheOfAnotherSchemaIsRefusedWithoutIt(options: [String]) throws {
        try use(Self.oldSQL, Self.oldMap)
        #expect(try rebuild().exitCode == 0)
        let run = try ToolRun.run(["rebuild", "L", "--to", "app.sqlite"] + options, in: folder)
        #expect(run.exitCode == 4, "\(run.output)")
        #expect(
            run.errors.contains(#"the cache was made with --schema "app.sql" --map "map.yaml"; give them"#),
            "\(run.errors)"
        )
        #expect(try rows("SELECT count(*) FROM post") == ["4"])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path("app.sqlite.d")).sorted() == [
                "001.sqlite", "lock",
            ]
        )
    }

    @Test func withYesTheCacheOfAnotherSchemaIsReplaced() throws {
        try use(Self.oldSQL, Self.oldMap)
        #expect(try rebuild().exitCode == 0)
        #expect(try ToolRun.run(["rebuild", "L", "--to", "app.sqlite", "--yes"], in: folder).exitCode == 0)
        #expect(try rows("SELECT count(*) FROM messages") == ["4"])
        // The program's own cache needs no schema.
        #expect(try ToolRun.run(["rebuild", "L", "--to", "app.sqlite"], in: folder).exitCode == 0)
        #expect(
            try ToolRun.run(["rebuild", "L", "--to", "app.sqlite", "--back"], in: folder).output.contains("sequence 6")
        )
    }

    @Test func aCacheOfAnEarlierVersionIsAnAppsByItsMetaTable() throws {
        try use(Self.oldSQL, Self.oldMap)
        #expect(try rebuild().exitCode == 0)
        try write(
            "DELETE FROM eventlog_meta WHERE name LIKE '%_file'; UPDATE eventlog_meta SET value = 'eventlog.cache/1' WHERE name = 'format'"
        )
        let run = try ToolRun.run(["rebuild", "L", "--to", "app.sqlite"], in: folder)
        #expect(run.exitCode == 4 && run.errors.contains(#"its meta table is "eventlog_meta""#), "\(run.errors)")
    }

    // MARK: Rules that rows break

    private static let columns = "tables:\n  m:\n    from: messages\n    columns:\n      id: id\n      t: "

    @Test(arguments: [
        (
            "id TEXT PRIMARY KEY, t TEXT AS (id || 'x')", "content",
            #"line 6: column "t" of table "m" is generated, so the database makes its values; leave it out of the map"#
        ),
        (
            "id TEXT PRIMARY KEY, t TEXT NOT NULL", "editedAt",
            #"line 6: table "m": the row with id = "1001": NOT NULL constraint failed: m.t; give the column a default in the map, "#
                + "leave such rows out with needs: [editedAt]"
        ),
        (
            "id TEXT PRIMARY KEY, t TEXT, u TEXT NOT NULL", "content",
            #"line 2: column "u" of table "m" is NOT NULL and has no DEFAULT, and the map does not fill it"#
        ),
        (
            "id TEXT PRIMARY KEY, t TEXT CHECK (length(t) > 100)", "content",
            #"line 6: table "m": the row with id = "1001": CHECK constraint failed: length(t) > 100; leave such rows out"#
        ),
        ("id TEXT PRIMARY KEY, t INTEGER UNIQUE", "author", "line 6: table"),
        ("id TEXT, t INTEGER PRIMARY KEY", "content", "datatype mismatch; store the member with as: integer"),
    ])
    func aRuleNamesItsLineAndWhatHelps(columns: String, member: String, reason: String) throws {
        try use("CREATE TABLE m (\(columns));", Self.columns + member)
        let run = try rebuild()
        #expect(run.exitCode == 2)
        #expect(run.errors.contains(#"read map "map.yaml": "#) && run.errors.contains(reason), "\(run.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.path("app.sqlite")))
    }

    // MARK: Conditions that no row meets

    @Test(arguments: [
        ("where: {author: '8'}", #"no row of messages has author "8"; the values are "7""#),
        ("needs: [editedAt]", "no row of messages has editedAt"),
        ("where: {id: '1001', content: message 2}", "no row of messages meets its conditions"),
    ])
    func conditionsThatNoRowMeetsAreTold(condition: String, reason: String) throws {
        try use(
            "CREATE TABLE m (id TEXT PRIMARY KEY);",
            "tables:\n  m:\n    from: messages\n    \(condition)\n    columns: {id: id}"
        )
        let run = try rebuild()
        #expect(run.exitCode == 0)
        #expect(run.errors == "logtool: map \"map.yaml\": line 4: table \"m\" is empty: \(reason)\n")
        #expect(try rebuild("--quiet").errors.isEmpty)
    }

    @Test func aListWithoutRowsIsNoMistake() throws {
        try use(
            "CREATE TABLE m (id TEXT PRIMARY KEY);",
            "tables: {m: {from: items, where: {status: open}, columns: {id: id}}}"
        )
        #expect(try rebuild().errors.isEmpty)
    }

    // MARK: A map that cannot be followed

    @Test func aMapThatCannotBeFollowedLeavesTheCacheBefore() throws {
        try use(
            "CREATE TABLE m (a TEXT, source TEXT, channel TEXT, id TEXT);",
            "tables: {m: {from: messages, key: [a], columns: {a: content}}}"
        )
        #expect(try rebuild().exitCode == 0)
        try use("CREATE TABLE m (a TEXT);", "tables: {m: {from: messages, key: [a], columns: {a: content}}}")
        let run = try rebuild("--follow")
        #expect(run.exitCode == 2)
        #expect(run.errors.contains("no column that is made of channel alone"), "\(run.errors)")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path("app.sqlite.d")).sorted() == [
                "001.sqlite", "lock",
            ]
        )
    }

    private func use(_ sql: String, _ map: String) throws {
        try folder.write(sql, to: "app.sql")
        try folder.write(map, to: "map.yaml")
    }
}
