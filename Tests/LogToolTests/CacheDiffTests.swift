import EventLog
import Foundation
import TestSupport
import Testing

/// `logtool diff LOG CACHE --map MAP`: what the log says beside what an app's own cache holds.
@Suite struct CacheDiffTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 5)
        for name in ["retrocast.sql", "retrocast.yaml", "vibechannel.sql", "vibechannel.yaml"] {
            let maps = PackageRoot.url.appending(path: "docs/maps")
            try FileManager.default.copyItem(at: maps.appending(path: name), to: URL(filePath: folder.path(name)))
        }
    }

    @Test func whatIsMissingExtraAndDifferentIsNamedByTableAndKey() throws {
        #expect(try build().exitCode == 0)
        #expect(try diff().exitCode == 0)
        try change("DELETE FROM message WHERE id = 1002")
        try change("UPDATE message SET content = 'stale', editedAt = 5 WHERE id = 1003")
        try change("INSERT INTO message (id, channelId, content) VALUES (9, 10, 'planted')")
        let run = try diff("--json")
        #expect(run.exitCode == 1)
        let answer = try #require(JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
        #expect(answer["same"] as? Bool == false)
        let differences = try #require(answer["differences"] as? [[String: Any]])
        let shown = differences.map { difference in
            "\(difference["change"] ?? "") \(difference["table"] ?? "") \((difference["key"] as? [String: Int])?["id"] ?? 0)"
        }
        #expect(shown == ["extra message 9", "missing message 1002", "different message 1003"])
        let fields = try #require(differences.last?["fields"] as? [String: [String: Any]])
        #expect(fields.keys.sorted() == ["content", "editedAt"])
        #expect(fields["content"]?["a"] as? String == "message 3")
        #expect(fields["content"]?["b"] as? String == "stale")
        #expect(fields["content"]?["member"] as? String == "content")
        let table = try #require((answer["tables"] as? [[String: Any]])?.first)
        #expect(["missing", "extra", "different"].map { table[$0] as? Int } == [1, 1, 1])
        let text = try diff().output
        #expect(text.contains("- message id=1002  (missing in the cache)"), "\(text)")
        #expect(text.hasSuffix("message: 1 missing, 1 extra, 1 different\n"), "\(text)")
        #expect(try diff("--jsonl", "-n", "1").output.split(separator: "\n").count == 1)
    }

    @Test func aCacheOfTheProgramNeedsNoMap() throws {
        #expect(try ToolRun.run(["rebuild", "L", "--to", "c.sqlite"], in: folder).exitCode == 0)
        #expect(try ToolRun.run(["diff", "L", "c.sqlite"], in: folder).exitCode == 0)
        #expect(try ToolRun.run(["diff", "L@head~1", "c.sqlite"], in: folder).exitCode == 1)
        try FileManager.default.copyItem(atPath: folder.path("vibechannel.sql"), toPath: folder.path("x.sqlite"))
        let run = try ToolRun.run(["diff", "L", "x.sqlite"], in: folder)
        #expect(run.exitCode == 2)
        #expect(run.errors.contains("--map"))
    }

    /// What an app has only in its write-ahead log counts, and nothing is written beside a file that has none.
    @Test func theWriteAheadLogOfALiveCacheIsRead() throws {
        #expect(try build().exitCode == 0)
        let file = folder.path("c.sqlite.d/001.sqlite")
        let before = try contents
        #expect(try diff().exitCode == 0)
        #expect(try contents == before)
        let writer = try PythonWriter(
            path: file,
            "PRAGMA journal_mode = WAL; UPDATE message SET content = 'in the log' WHERE id = 1001"
        )
        #expect(try diff().output.contains("in the log"))
        writer.stop()
    }

    @Test func vibeChannelsModelsAreFilledAndCompared() throws {
        let scenario = try #require(Scenario.all.first { $0.testDescription == "vibechannel-threads-of-every-shape" })
        _ = try scenario.log(in: folder)
        let options = ["--map", "vibechannel.yaml", "--value", "owner=ada", "--value", "name=chat"]
        let built = try ToolRun.run(
            ["rebuild", "scenario.eventlog", "--to", "v.sqlite", "--schema", "vibechannel.sql"] + options,
            in: folder
        )
        #expect(built.exitCode == 0, "\(built.errors)")
        let database = PythonDatabase(path: folder.path("v.sqlite"))
        #expect(try database.faults().isEmpty)
        #expect(try database.lines("SELECT id FROM CachedRepository") == ["('ada/chat',)"])
        #expect(try database.lines("SELECT count(*) > 0, min(date) > 0 FROM CachedMessage") == ["(1, 1)"])
        #expect(try ToolRun.run(["diff", "scenario.eventlog", "v.sqlite"] + options, in: folder).exitCode == 0)
    }

    private func build() throws -> ToolRun {
        try ToolRun.run(
            ["rebuild", "L", "--to", "c.sqlite", "--schema", "retrocast.sql", "--map", "retrocast.yaml"],
            in: folder
        )
    }

    private func diff(_ options: String...) throws -> ToolRun {
        try ToolRun.run(["diff", "L", "c.sqlite", "--map", "retrocast.yaml"] + options, in: folder)
    }

    private func change(_ sql: String) throws {
        _ = try PythonWriter(path: folder.path("c.sqlite"), sql, stays: false)
    }

    private var contents: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path("c.sqlite.d")).sorted() }
    }
}

/// A process of another program that has changed a database and, where it stays, keeps it open.
final class PythonWriter {
    private let process = Process()
    private let input = Pipe()

    init(path: String, _ sql: String, stays: Bool = true) throws {
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = [
            "-c",
            """
            import sqlite3, sys
            database = sqlite3.connect(sys.argv[1], isolation_level=None)
            for statement in sys.argv[2].split(';'): database.execute(statement)
            print('done', flush=True)
            sys.stdin.read()
            """, path, sql,
        ]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        _ = output.fileHandleForReading.availableData
        if !stays { stop() }
    }

    func stop() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
