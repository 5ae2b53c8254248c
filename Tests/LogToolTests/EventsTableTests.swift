import EventLog
import Foundation
import Projections
import TestSupport
import Testing

@testable import CacheTables

/// `rebuild --with events`, and maps that name the list.
@Suite struct EventsTableTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 3)
    }

    @Test func aFollowedTableOfEventsIsTheBuiltOne() throws {
        let store = try EventStore.open(at: folder.path("L"))
        var following = try CacheFollowing(
            CacheRebuild(of: store, to: folder.path("f.sqlite"), schema: .own().withEvents(), at: nil)
        )
        while try following.step() != nil {}
        try folder.write(SampleCaptures.gateway(messages: 5), to: "c.ndjson")
        let ingest = ["ingest", "L", "capture", "c.ndjson", "--kind", "gateway", "--as", "guild"]
        #expect(try ToolRun.run(ingest, in: folder).exitCode == 0)
        var told: [String] = []
        while let step = try following.step() {
            guard case .followed(let batch) = step else { continue }
            told += batch.tables.filter { $0.name == "events" }.map {
                "\(JSONValue.array($0.keys).text) \($0.rowCount)"
            }
        }
        #expect(told == [#"[{"sequence":"6"},{"sequence":"7"}] 2"#])
        #expect(try ToolRun.run(["rebuild", "L", "--to", "w.sqlite", "--with", "events"], in: folder).exitCode == 0)
        let (left, right) = (
            PythonDatabase(path: folder.path("f.sqlite")), PythonDatabase(path: folder.path("w.sqlite"))
        )
        #expect(try left.dump() == right.dump())
        #expect(try left.faults().filter { !$0.hasPrefix("foreign key") }.isEmpty)
        #expect(try right.lines("SELECT count(*), min(sequence) FROM events") == ["(7, 1)"])
    }

    @Test func anAppsMapMayTakeEvents() throws {
        try folder.write(
            "CREATE TABLE frame (n INTEGER PRIMARY KEY, dir TEXT, body TEXT, at INTEGER);\nCREATE TABLE m (source TEXT, channel TEXT, id TEXT PRIMARY KEY);",
            to: "app.sql"
        )
        try folder.write(
            """
            tables:
              frame:
                from: events
                where: {attributes.dir: in}
                columns: {n: {from: sequence, as: integer}, dir: attributes.dir, body: payload, at: {from: recordedAt, as: unix}}
              m: {from: messages, columns: {source: source, channel: channel, id: id}}
            """,
            to: "map.yaml"
        )
        let build = ["rebuild", "L", "--to", "a.sqlite", "--schema", "app.sql", "--map", "map.yaml"]
        #expect(try ToolRun.run(build, in: folder).output == "built a.sqlite at sequence 5: frame 5, m 3\n")
        #expect(try ToolRun.run(build + ["--check"], in: folder).exitCode == 0)
        #expect(try ToolRun.run(["diff", "L", "a.sqlite", "--map", "map.yaml"], in: folder).exitCode == 0)
        // Events are copied, too, where their table has not changed.
        try folder.write(
            "CREATE TABLE x (a TEXT);" + String(contentsOfFile: folder.path("app.sql"), encoding: .utf8),
            to: "app.sql"
        )
        let plan = try ToolRun.run(build + ["--plan"], in: folder)
        #expect(plan.output.hasPrefix("frame: copied\nm: copied\n"), "\(plan.output)\(plan.errors)")
        #expect(try ToolRun.run(build + ["--with", "events"], in: folder).output.contains("frame 5, m 3, events 5"))
    }

    @Test func twoTablesOfEventsAreRefused() throws {
        try folder.write("CREATE TABLE events (n INTEGER PRIMARY KEY);", to: "app.sql")
        try folder.write(
            "tables: {Events: {from: events, columns: {n: {from: sequence, as: integer}}}}",
            to: "map.yaml"
        )
        let run = try ToolRun.run(
            ["rebuild", "L", "--to", "a.sqlite", "--schema", "app.sql", "--map", "map.yaml", "--with", "events"],
            in: folder
        )
        #expect(run.exitCode == 2 && run.errors.contains("has the name of the events' table"), "\(run.errors)")
    }

    @Test func whatIsPrintedBuildsTheSameTables() throws {
        let printed = try ["--print-schema", "--print-map"].map {
            try ToolRun.run(["rebuild", $0, "--with", "events"], in: folder).output
        }
        try folder.write(printed[0], to: "own.sql")
        try folder.write(printed[1], to: "own.yaml")
        let build = try ToolRun.run(
            ["rebuild", "L", "--to", "a.sqlite", "--schema", "own.sql", "--map", "own.yaml"],
            in: folder
        )
        #expect(build.exitCode == 0, "\(build.errors)")
        #expect(try ToolRun.run(["rebuild", "L", "--to", "b.sqlite", "--with", "events"], in: folder).exitCode == 0)
        let rows = { (name: String) in
            try PythonDatabase(path: self.folder.path(name)).dump().filter { !$0.hasPrefix("meta ") }
        }
        #expect(try rows("a.sqlite") == rows("b.sqlite"))
    }
}
