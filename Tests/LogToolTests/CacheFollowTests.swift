import Clients
import EventLog
import Foundation
import Projections
import TestSupport
import Testing

@testable import CacheTables
@testable import logtool

/// A cache that is kept current is the cache that a rebuild makes, row for row, as Python reads them.
@Suite struct CacheFollowTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test(arguments: ["retrocast", "vibechannel", "vibestatus", "punchlist", "sidebar"])
    func everyStepGivesWhatARebuildGives(app: String) throws {
        let scenarios = Scenario.all.filter { $0.testDescription.hasPrefix(app) }
        let lists = try EventStream.whole(of: scenarios, in: directory).filter {
            $0.allSatisfy { $0.payload.count <= 1 << 16 }
        }
        for seed in 1...UInt64(Self.isLong ? 40 : 3) {
            let stream = EventStream(of: lists, seed: seed, mutatingBytes: seed.isMultiple(of: 2))
            let path = directory.path("\(app)-\(seed)")
            let store = try EventStore.openOrCreate(at: path + ".eventlog")
            var follower = try follower(of: store, at: path + ".sqlite")
            var random = SeededGenerator(seed: seed)
            var rest = stream.events[...]
            while !rest.isEmpty {
                let batch = rest.prefix(.random(in: 1...40, using: &random))
                rest = rest.dropFirst(batch.count)
                _ = try store.append(batch.map(\.draft))
                while try store.read({ try follower.step($0) }) != nil {}
            }
            _ = try build(store, at: path + ".whole.sqlite")
            let (kept, whole) = (PythonDatabase(path: path + ".sqlite"), PythonDatabase(path: path + ".whole.sqlite"))
            let (left, right) = try (kept.dump(), whole.dump())
            #expect(Set(left).symmetricDifference(right).isEmpty, "seed \(seed)")
            #expect(left.count == right.count)
            #expect(try kept.faults().filter { !$0.hasPrefix("foreign key") }.isEmpty)
        }
    }

    @Test func aKilledFollowerGoesOnWhereItsCacheEnds() throws {
        try directory.makeLog(messages: 3)
        #expect(try ToolRun.run(["rebuild", "L", "--to", "c.sqlite"], in: directory).exitCode == 0)
        for round in 0..<4 {
            let process = Process()
            process.executableURL = try ToolRun.executable
            process.arguments = ["rebuild", "L", "--to", "c.sqlite", "--follow"]
            process.currentDirectoryURL = directory.url
            (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
            try process.run()
            let capture = SampleCaptures.gateway(messages: 10 + 10 * round)
            try directory.write(capture, to: "c.ndjson")
            let run = try ToolRun.run(
                ["ingest", "L", "capture", "c.ndjson", "--kind", "gateway", "--as", "guild"],
                in: directory
            )
            #expect(run.exitCode == 0)
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            let path = directory.path("c.sqlite")
            let database = PythonDatabase(path: path)
            #expect(try database.faults().isEmpty)
            let meta = try database.lines("SELECT value FROM meta WHERE name IN ('digest', 'sequence') ORDER BY name")
            let values = meta.map { $0.filter { $0.isHexDigit } }
            try #require(values.count == 2, "\(meta)")
            let digest = try ToolRun.run(["replay", "L", "--digest", "--at", values[1]], in: directory).output
            #expect(digest.trimmingCharacters(in: .whitespacesAndNewlines) == values[0])
            let at = try ToolRun.run(["diff", "L@\(values[1])", "c.sqlite"], in: directory)
            #expect(at.exitCode == 0, "\(at.output)")
        }
    }

    /// Also of lists that are written whole, such as sessions, and only where something changed.
    @Test func aBatchNamesTheThingsThatChangedAndCountsRows() throws {
        let store = try EventStore.openOrCreate(at: directory.path("s.eventlog"))
        func session(_ number: Int, _ state: String, at second: Int64) throws -> DraftEvent {
            try DraftEvent(
                recordedAt: Timestamp(seconds: 1_767_225_600 + second),
                source: SourceName("mac"),
                kind: EventKind("status.file/1"),
                attributes: ["path": "/tmp/vibestatus-\(number).json", "op": "write"],
                payload: Array(#"{"state":"\#(state)","project":"p","timestamp":"2026-01-01T00:00:00Z"}"#.utf8)
            )
        }
        _ = try store.append([try session(1, "working", at: 0), try session(2, "idle", at: 1)])
        var follower = try follower(of: store, at: directory.path("s.sqlite"))
        _ = try store.append([try session(2, "working", at: 2)])
        let batch = try #require(try store.read { try follower.step($0) })
        let told = batch.tables.map { "\($0.name) \(JSONValue.array($0.keys).text) \($0.rowCount)" }
        #expect(
            told == [
                #"sources [{"source":"mac"}] 1"#, #"sessions [{"source":"mac","id":"vibestatus-2.json"}] 2"#,
                #"session_transitions [{"source":"mac","id":"vibestatus-2.json"}] 2"#,
            ],
            "\(told)"
        )
        // As time passes, a session gets stale without an event of its own.
        _ = try store.append([try session(1, "working", at: 7_000)])
        let later = try #require(try store.read { try follower.step($0) })
        #expect(later.tables.first { $0.name == "sessions" }?.keys.count == 2)
    }

    /// A message without a reply is no change of the table of replies.
    @Test func aTableWhoseConditionsAThingDoesNotMeetHasNotChanged() throws {
        let store = try EventStore.openOrCreate(at: directory.path("r.eventlog"))
        var follower = try follower(of: store, at: directory.path("r.sqlite"))
        let frame = SampleCaptures.message(1)
        _ = try store.append([
            DraftEvent(
                recordedAt: Timestamp(seconds: 1_767_225_600),
                source: try SourceName("guild"),
                kind: try EventKind("gateway.frame/1"),
                attributes: ["dir": "in"],
                payload: Array(frame.utf8)
            )
        ])
        let batch = try #require(try store.read { try follower.step($0) })
        #expect(Set(batch.tables.map(\.name)) == ["sources", "channels", "messages", "message_revisions"])
    }

    /// SQLite reads all rows before it writes the first where a table has triggers.
    @Test func aRowThatBreaksARuleIsNamedAlsoWithATrigger() throws {
        let folder = try TemporaryDirectory()
        let rule = "CREATE TABLE m (channel, id, name CHECK (name NOT LIKE '%bad%'), PRIMARY KEY (channel, id, name));"
        let trigger = "CREATE TRIGGER t AFTER INSERT ON m BEGIN DELETE FROM n; END;"
        try folder.write("\(rule)\nCREATE TABLE n (a);\n\(trigger)\n", to: "app.sql")
        let columns = "{channel: channel, id: id, name: attachments.filename}"
        let map = "{from: messages.attachments, key: [channel, id, name], columns: \(columns)}"
        try folder.write("tables: {m: \(map)}", to: "map.yaml")
        let build = ["rebuild", "L", "--to", "c.sqlite", "--schema", "app.sql", "--map", "map.yaml"]
        try folder.makeLog(messages: 1)
        #expect(try ToolRun.run(build, in: folder).exitCode == 0)
        let files = ["good", "bad", "best"].map { #"{"filename":"\#($0)"}"# }.joined(separator: ",")
        let message = SampleCaptures.message(2).replacingOccurrences(
            of: #""author_id""#,
            with: #""attachments":[\#(files)],"author_id""#
        )
        try folder.write(SampleCaptures.gateway(messages: 1) + SampleCaptures.line(9, message), to: "c.ndjson")
        let ingest = ["ingest", "L", "capture", "c.ndjson", "--kind", "gateway", "--as", "guild"]
        #expect(try ToolRun.run(ingest, in: folder).exitCode == 0)
        let run = try ToolRun.run(build + ["--follow"], in: folder)
        #expect(run.exitCode == 2)
        #expect(run.errors.contains(#"id = "1002", name = "bad": CHECK"#), "\(run.errors)")
    }

    @Test func aMapWhoseRowsCannotBeFoundAgainIsRefused() throws {
        try directory.makeLog(messages: 3)
        try directory.write("CREATE TABLE m (a TEXT);", to: "app.sql")
        try directory.write("tables: {m: {from: messages, key: [a], columns: {a: content}}}", to: "map.yaml")
        let run = try ToolRun.run(
            ["rebuild", "L", "--to", "c.sqlite", "--schema", "app.sql", "--map", "map.yaml", "--follow"],
            in: directory
        )
        #expect(run.exitCode == 2)
        #expect(run.errors.contains("no column that is made of channel alone"), "\(run.errors)")
    }

    private func follower(of store: EventStore, at path: String) throws -> CacheFollower {
        let (state, meta) = try build(store, at: path)
        return try CacheFollower(
            MappedSchema.own().map,
            at: path,
            state: state,
            meta: meta,
            revision: store.read { try LogRevision(of: $0) },
            options: ReplayOptions()
        )
    }

    private func build(_ store: EventStore, at path: String) throws -> (LogState, CacheMeta) {
        let schema = try MappedSchema.own()
        var state = try store.read { try Replay.logState(of: $0) }
        let meta = CacheMeta(of: &state, identity: [0], profile: "canonical", schema: schema.hash)
        let writer = CacheWriter(schema: schema, report: { _ in })
        let plan = RebuildPlan(whole: schema.map, because: "it is a test")
        _ = try writer.write(state, meta: meta, to: path, by: plan)
        return (state, meta)
    }

    private static let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil
}
