import Foundation
import JSON
import Projections
import TestSupport
import Testing

/// What rows of tables and event streams are follows from the app that a source declares, not from the names of its tables.
@Suite struct BuiltInAppTests {
    private let folder: TemporaryDirectory
    private let log: String

    init() throws {
        folder = try TemporaryDirectory()
        log = folder.path("bug.eventlog")
    }

    @discardableResult
    private func run(_ arguments: String..., fails code: Int32 = 0) throws -> ToolRun {
        let run = try ToolRun.run(arguments, in: folder)
        #expect(run.exitCode == code, "\(arguments): \(run.output) \(run.errors)")
        return run
    }

    private func capture(_ payloads: [String], _ name: String) throws -> String {
        let lines = payloads.enumerated().map { place, payload in
            #"{"t_ms":\#(1_767_225_600_000 + place * 1000),"dir":"in","raw":\#(JSONValue.string(payload).canonicalText)}"#
        }
        let path = folder.path(name)
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: path))
        return path
    }

    private func row(_ table: String, _ columns: [String], _ record: String) -> String {
        let columns = columns.map { #"{"name":"\#($0)","type":"text"}"# }.joined(separator: ",")
        return
            #"{"topic":"realtime:x","event":"postgres_changes","ref":null,"payload":{"ids":[1],"data":{"schema":"public","#
            + #""table":"\#(table)","commit_timestamp":"2026-01-01T00:00:00Z","type":"INSERT","columns":[\#(columns)],"#
            + #""record":\#(record),"errors":null}}}"#
    }

    private func state(_ arguments: String...) throws -> JSONValue {
        try JSONValue.parse(try ToolRun.run(["replay", log, "--json"] + arguments, in: folder).output)
    }

    private func rows() throws -> String {
        let rows = try state()["rows"]?.array ?? []
        return rows.map { "\($0["table"]?.string ?? "")/\($0["id"]?.string ?? "")" }.joined(separator: " ")
    }

    private func items() throws -> Int { try state()["items"]?.array?.count ?? 0 }

    /// A table that is called as one of sideBar's and has other columns is a table like any other.
    @Test func rowsOfAStrangersTableAreRows() throws {
        let strange = try capture(
            [row("tasks", ["id", "title", "assignee"], #"{"id":"t1","title":"buy","assignee":"ada"}"#)],
            "strange.ndjson"
        )
        let told = try run("ingest", log, "capture", strange, "--kind", "realtime", "--as", "db")
        #expect(told.errors.contains("source db: its table tasks has no column status, so its rows are rows"))
        #expect(told.errors.contains("logtool decoder \(log) set db --app NAME"))
        #expect(try rows() == "tasks/t1")
        #expect(try items() == 0)
        #expect(try state()["decoders"]?["db"]?["name"]?.string == "none/1")

        // The user decides, at every point of the log alike, and may take it back.
        try run("decoder", log, "set", "db", "--app", "sidebar")
        #expect(try rows() == "")
        #expect(try items() == 1)
        try run("decoder", log, "set", "db", "--app", "none")
        #expect(try rows() == "tasks/t1")
        try run("decoder", log, "unset", "db")
        #expect(try items() == 1)
    }

    /// The app's own rows are read as ever, without an act, and so are those whose frames list no columns.
    @Test func rowsOfTheAppAreItemsWithoutAWord() throws {
        let columns = ["id", "user_id", "project_id", "group_id", "title", "status", "created_at"]
        let record = #"{"id":"t1","title":"buy","status":"inbox"}"#
        let known = try capture([row("tasks", columns, record), row("tasks", [], record)], "known.ndjson")
        let told = try run("ingest", log, "capture", known, "--kind", "realtime", "--as", "db")
        #expect(told.errors == "")
        #expect(try items() == 1)
        #expect(try state()["decoders"] == nil)

        // What the source is was decided when it began; later rows change nothing.
        let later = try capture([row("tasks", ["id"], #"{"id":"t2"}"#)], "later.ndjson")
        #expect(try run("ingest", log, "capture", later, "--kind", "realtime", "--as", "db").errors == "")
        #expect(try items() == 2)
    }

    @Test func anAppIsDeclaredWhereASourceBegins() throws {
        let strange = try capture([row("tasks", ["id"], #"{"id":"t1","title":"buy"}"#)], "strange.ndjson")
        let told = try run("ingest", log, "capture", strange, "--kind", "realtime", "--as", "db", "--app", "sidebar")
        #expect(told.errors == "")
        #expect(try items() == 1)
        #expect(try run("decoder", log).output.contains("db  sidebar/1"))
        let other = try run(
            "ingest",
            log,
            "capture",
            strange,
            "--kind",
            "realtime",
            "--as",
            "other",
            "--app",
            "retrocast"
        )
        #expect(other.errors == "")
        #expect(try rows() == "tasks/t1")
        let refused = try run(
            "ingest",
            log,
            "git",
            folder.path("x"),
            "--app",
            "sidebar",
            fails: 2
        )
        #expect(refused.errors.contains("--app goes with"))
    }

    @Test func aStrangersStreamGivesNoItems() throws {
        func stream(_ text: String, _ name: String) throws -> String { try capture([text], name) }
        let named = try stream("event: post\ndata: {\"id\":\"1\",\"text\":\"hi\"}\n\n", "named.ndjson")
        let told = try run("ingest", log, "capture", named, "--kind", "sse", "--as", "live")
        #expect(told.errors.contains("source live: its events have names"))
        #expect(try items() == 0)
        #expect(try state()["issues"]?.array?.isEmpty ?? true)
        #expect(try run("replay", log).errors.contains("no decoder file reads source live (sse.event/1)"))

        let other = try stream("data: {\"key\":\"1\",\"text\":\"hi\"}\n\n", "other.ndjson")
        #expect(
            try run("ingest", log, "capture", other, "--kind", "sse", "--as", "two").errors
                .contains("source two: none of its events is a ticket")
        )
        let tickets = try stream("data: {\"id\":\"1\",\"title\":\"hi\",\"status\":\"open\"}\n\n", "tickets.ndjson")
        #expect(try run("ingest", log, "capture", tickets, "--kind", "sse", "--as", "list").errors == "")
        #expect(try items() == 1)
    }

    /// A declared app is read by the built-in decoders, also while its log is anonymized.
    @Test func aDeclaredAppIsAnonymizedAsBuiltIn() throws {
        let list = try capture(
            ["data: {\"id\":\"k1\",\"title\":\"secret leeks\",\"status\":\"open\"}\n\n"],
            "tickets.ndjson"
        )
        try run("ingest", log, "capture", list, "--kind", "sse", "--as", "list", "--app", "punchlist")
        try run("anonymize", log, "-o", "other.eventlog")
        let other = try JSONValue.parse(try ToolRun.run(["replay", "other.eventlog", "--json"], in: folder).output)
        #expect(other["items"]?.array?.count == 1)
        #expect(other["items"]?.array?.first?["status"]?.string == "open")
        #expect(!other.canonicalText.contains("leeks"))
        #expect(try run("decoder", "explain", log, "1", fails: 1).errors.contains("no decoder file with rules"))
    }

    @Test func aFileThatDeclaresAnAppHasNoRules() throws {
        for (text, reason) in [
            ("decoder: a/1\napp: nobody\n", "app is one of retrocast"),
            ("decoder: a/1\napp: sidebar\nrules: []\n", #"the file has no member "rules""#),
        ] {
            let path = folder.path("app.decoder.yaml")
            try Data(text.utf8).write(to: URL(filePath: path))
            #expect(try run("decoder", "check", path, fails: 2).errors.contains(reason))
        }
    }
}
