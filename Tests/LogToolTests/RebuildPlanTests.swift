import EventLog
import Foundation
import TestSupport
import Testing

/// A changed schema makes the tables that changed from the log, and copies the others from the cache before.
@Suite struct RebuildPlanTests: AppCacheSuite {
    let folder: TemporaryDirectory

    static let sql = """
        CREATE TABLE m (source TEXT, channel TEXT, id TEXT, text TEXT, PRIMARY KEY (channel, id));
        CREATE TABLE c (source TEXT, id TEXT PRIMARY KEY, name TEXT);
        CREATE INDEX by_text ON m (text);
        """
    static let map = """
        tables:
          m: {from: messages, columns: {source: source, channel: channel, id: id, text: content}}
          c: {from: channels, columns: {source: source, id: id, name: name}}

        """

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 4)
        try folder.write(Self.sql, to: "app.sql")
        try folder.write(Self.map, to: "map.yaml")
    }

    @Test func aChangedMapMakesItsTableOnly() throws {
        _ = try rebuild()
        // Rows that no log gives show which tables are copied.
        try write("UPDATE m SET text = 'planted' WHERE id = '1001'; UPDATE c SET name = 'planted'")
        try folder.write(Self.map.replacing("text: content", with: "text: authorName"), to: "map.yaml")
        let run = try rebuild("--plan")
        #expect(run.exitCode == 0, "\(run.errors)")
        let lines = run.output.split(separator: "\n")
        #expect(lines.first == "m: from the log: its SQL or its map has changed")
        #expect(lines.dropFirst().first == "c: copied")
        #expect(lines.last == "built app.sqlite at sequence 6: m 4, c 1")
        #expect(try rows("SELECT DISTINCT text FROM m") == ["ada"])
        #expect(try rows("SELECT name FROM c") == ["planted"])
        #expect(try rebuild("--check").exitCode == 1)
        let again = try rebuild("--plan")
        #expect(again.output.contains("c: from the log: the schema is that of the cache"), "\(again.output)")
        #expect(try rebuild("--check").exitCode == 0)
    }

    @Test func aChangedTableIsMadeAnewAndANewOneIsAdded() throws {
        _ = try rebuild()
        let sql = Self.sql.replacing("text TEXT,", with: "text TEXT NOT NULL,") + "CREATE TABLE i (id TEXT);"
        try folder.write(sql, to: "app.sql")
        try folder.write(Self.map + "  i: {from: items, key: [id], columns: {id: id}}\n", to: "map.yaml")
        let run = try rebuild("--plan", "--json")
        #expect(
            run.output.hasPrefix(
                #"{"plan":[{"table":"m","from":"log","reason":"its SQL or its map has changed"},"#
                    + #"{"table":"c","from":"cache","reason":"nothing has changed"},"#
                    + #"{"table":"i","from":"log","reason":"the cache has no such table to copy"}]}"#
            ),
            "\(run.output)"
        )
        #expect(try rebuild("--check").exitCode == 0)
    }

    /// What came since the cache before is written into the copied tables as a follower writes it.
    @Test func copiedTablesGetTheEventsSince() throws {
        #expect(try rebuild("--at", "4").exitCode == 0)
        try folder.write(Self.map.replacing("text: content", with: "text: authorName"), to: "map.yaml")
        let run = try rebuild("--plan")
        #expect(run.output.contains("c: copied") && run.output.hasSuffix("built app.sqlite at sequence 6: m 4, c 1\n"))
        #expect(try rebuild("--check").exitCode == 0)
        let whole = try ToolRun.run(
            ["rebuild", "L", "--to", "whole.sqlite", "--schema", "app.sql", "--map", "map.yaml"],
            in: folder
        )
        #expect(whole.exitCode == 0)
        let (left, right) = (
            PythonDatabase(path: folder.path("app.sqlite")), PythonDatabase(path: folder.path("whole.sqlite"))
        )
        #expect(try left.dump() == right.dump())
        #expect(try left.faults().isEmpty)
        #expect(try rows("SELECT value FROM eventlog_meta WHERE name = 'sequence'") == ["6"])
    }

    @Test func aChangedDecoderGivesTheRowsOfItsSourcesAnew() throws {
        try folder.write(
            SampleCaptures.line(9, #"{"project":"work","items":[{"id":1,"text":"A","done":true}]}"#),
            to: "i.ndjson"
        )
        let ingest = ["ingest", "L", "capture", "i.ndjson", "--kind", "items", "--as", "list"]
        #expect(try ToolRun.run(ingest, in: folder).exitCode == 0)
        try folder.write(Self.sql + "CREATE TABLE i (source TEXT, id TEXT PRIMARY KEY, text TEXT);", to: "app.sql")
        try folder.write(
            Self.map + "  i: {from: items, columns: {source: source, id: id, text: text}}\n",
            to: "map.yaml"
        )
        #expect(try rebuild().exitCode == 0)
        try write(
            """
            UPDATE m SET text = 'planted'; UPDATE i SET text = 'planted';
            UPDATE eventlog_meta SET value = '0' WHERE name = 'decoder:gateway'
            """
        )
        let run = try rebuild("--plan")
        #expect(
            run.output.hasPrefix(
                "m: rows of guild from the log, others copied: decoder gateway has changed\n"
            ),
            "\(run.output)"
        )
        #expect(try rows("SELECT count(*) FROM m WHERE text = 'planted'") == ["0"])
        #expect(try rows("SELECT text FROM i") == ["planted"])
        #expect(try rows("SELECT value FROM eventlog_meta WHERE name = 'decoder:gateway'") != ["0"])
    }

    /// A statement after the rows, or a trigger, may have made of them what no log gives.
    @Test(arguments: [
        "UPDATE c SET name = name || '!';",
        "CREATE TRIGGER t AFTER INSERT ON m BEGIN UPDATE c SET name = name || '!'; END;",
        "ALTER TABLE c ADD COLUMN other TEXT;",
    ])
    func tablesThatTheSchemaChangesAreNotCopied(statement: String) throws {
        try folder.write(Self.sql + statement, to: "app.sql")
        _ = try rebuild()
        try folder.write(Self.map.replacing("text: content", with: "text: authorName"), to: "map.yaml")
        let run = try rebuild("--plan")
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(run.output.contains("c: from the log: the schema changes its rows itself"), "\(run.output)")
    }

    @Test func whatIsNoCacheOfThisLogIsNotCopied() throws {
        #expect(try rebuild("--plan").output.hasPrefix("m: from the log: there is no cache yet"))
        try folder.write(Self.map.replacing("text: content", with: "text: authorName"), to: "map.yaml")
        #expect(try rebuild("--plan", "--at", "4").output.hasPrefix("m: from the log: the cache is of a state that"))
        try folder.write(Self.map, to: "map.yaml")
        #expect(
            try rebuild("--plan", "--profile", "retrocast-web").output.hasPrefix(
                "m: from the log: the cache is of another profile"
            )
        )
        try write("UPDATE eventlog_meta SET value = '00' WHERE name = 'identity'")
        try folder.write(Self.map.replacing("text: content", with: "text: authorName"), to: "map.yaml")
        #expect(try rebuild("--plan").output.contains(": the cache is of another"))
        #expect(try rebuild("--check").exitCode == 0)
    }

    /// The cache before cannot be read, or says another digest: everything is made from the log.
    @Test(arguments: [
        "UPDATE eventlog_meta SET value = '00' WHERE name = 'digest'",
        "DROP TABLE c",
    ])
    func aCacheThatIsOfNoUseIsMadeWhole(damage: String) throws {
        _ = try rebuild()
        try write(damage)
        try folder.write(Self.map.replacing("text: content", with: "text: authorName"), to: "map.yaml")
        let run = try rebuild("--plan")
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(run.output.contains("c: from the log: the cache before is of no use"), "\(run.output)")
        #expect(try rebuild("--check").exitCode == 0)
    }

    /// Random logs of all apps, the program's own schema as an app's: by need or whole, the rows are the same.
    @Test func aRebuildByNeedGivesWhatAWholeOneGives() throws {
        let printed = try ["--print-schema", "--print-map"].map { try ToolRun.run(["rebuild", $0], in: folder).output }
        try folder.write(printed[0], to: "app.sql")
        for (seed, app) in ["retrocast", "vibechannel", "sidebar"].enumerated() {
            let lists = try EventStream.whole(
                of: Scenario.all.filter { $0.testDescription.hasPrefix(app) },
                in: TemporaryDirectory()
            ).filter { $0.allSatisfy { $0.payload.count <= 1 << 16 } }
            let stream = EventStream(of: lists, seed: UInt64(seed) + 1, mutatingBytes: true)
            let log = try EventStore.openOrCreate(at: folder.path("\(app).eventlog"))
            _ = try log.append(stream.events.map(\.draft))
            try folder.write(printed[1], to: "map.yaml")
            let cache = [
                "rebuild", "\(app).eventlog", "--to", "\(app).sqlite", "--schema", "app.sql", "--map", "map.yaml",
            ]
            #expect(try ToolRun.run(cache + ["--at", "\(stream.events.count / 2)"], in: folder).exitCode == 0)
            try folder.write(
                printed[1].replacing("author_name: authorName", with: "author_name: author"),
                to: "map.yaml"
            )
            let run = try ToolRun.run(cache + ["--plan"], in: folder)
            #expect(
                run.output.contains("messages: from the log") && run.output.contains("channels: copied"),
                "\(run.output)\(run.errors)"
            )
            let whole = [
                "rebuild", "\(app).eventlog", "--to", "\(app).whole.sqlite", "--schema", "app.sql", "--map", "map.yaml",
            ]
            #expect(try ToolRun.run(whole, in: folder).exitCode == 0)
            let (left, right) = (
                PythonDatabase(path: folder.path("\(app).sqlite")),
                PythonDatabase(path: folder.path("\(app).whole.sqlite"))
            )
            #expect(try left.dump() == right.dump(), "\(app)")
            #expect(try left.faults().filter { !$0.hasPrefix("foreign key") }.isEmpty)
        }
    }
}
