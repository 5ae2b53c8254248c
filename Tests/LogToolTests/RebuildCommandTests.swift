import Foundation
import GRDB
import TestSupport
import Testing

@testable import logtool

@Suite struct RebuildCommandTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 3)
    }

    /// A map may come from somebody else.
    @Test func aTablesNameMovesNoCursor() throws {
        try folder.write("CREATE TABLE \"t\u{1B}[31m\" (a TEXT);", to: "s.sql")
        try folder.write("tables:\n  \"t\\e[31m\":\n    from: messages\n    columns: {a: id}\n", to: "m.yaml")
        for options in [[], ["--plan"]] {
            let run = try ToolRun.run(
                ["rebuild", "L", "--to", "c.sqlite", "--schema", "s.sql", "--map", "m.yaml"] + options,
                in: folder
            )
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.output.contains(#"t\u{1b}[31m"#), "\(run.output)")
            #expect(!(run.output + run.errors).contains("\u{1B}"))
        }
    }

    @Test func theCacheHoldsTheState() throws {
        let run = try rebuild("--json")
        #expect(run.exitCode == 0)
        let summary = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
        #expect(summary?["swapped"] as? Bool == true)
        #expect((summary?["rows"] as? [String: Int])?["messages"] == 3)
        let cache = try DatabaseQueue(path: folder.path("c.sqlite"))
        try cache.read { database in
            let contents = try String.fetchAll(
                database,
                sql: "SELECT content FROM messages ORDER BY source, channel, sort"
            )
            #expect(contents == ["message 1", "message 2", "message 3"])
            let sequence = try String.fetchOne(database, sql: "SELECT value FROM meta WHERE name = 'sequence'")
            #expect(sequence == "5")
            let digest = try String.fetchOne(database, sql: "SELECT value FROM meta WHERE name = 'digest'")
            #expect(digest == summary?["digest"] as? String)
        }
    }

    @Test func aReaderKeepsTheOldCacheUntilItOpensAgain() throws {
        _ = try rebuild("--at", "3")
        let old = try DatabaseQueue(path: folder.path("c.sqlite"))
        #expect(try count(old) == 1)
        _ = try rebuild()
        #expect(try count(old) == 1)
        #expect(try count(DatabaseQueue(path: folder.path("c.sqlite"))) == 3)
    }

    @Test func aForeignFileIsLeftAloneWithoutYes() throws {
        try folder.write("precious", to: "c.sqlite")
        let refused = try rebuild()
        #expect(refused.exitCode == 4)
        #expect(refused.errors.contains("--yes"))
        #expect(try String(contentsOfFile: folder.path("c.sqlite"), encoding: .utf8) == "precious")
        #expect(!FileManager.default.fileExists(atPath: folder.path("c.sqlite.d")))
        #expect(try rebuild("--yes").exitCode == 0)
        #expect(try count(DatabaseQueue(path: folder.path("c.sqlite"))) == 3)
    }

    @Test func whatCannotBeBuiltLeavesNothing() throws {
        #expect(try ToolRun.run(["rebuild", "nowhere", "--to", "c.sqlite"], in: folder).exitCode == 10)
        #expect(try rebuild("--at", "99").exitCode == 1)
        #expect(try ToolRun.run(["rebuild", "L", "--to", "."], in: folder).exitCode == 2)
        #expect(!FileManager.default.fileExists(atPath: folder.path("c.sqlite.d")))
    }

    @Test func standardOutputIsNoPlaceForACache() throws {
        let run = try ToolRun.run(["rebuild", "L", "--to", "-"], in: folder)
        #expect(run.exitCode == 2)
        #expect(run.errors.contains("--to - is refused"))
        #expect(!FileManager.default.fileExists(atPath: folder.path("-")))
    }

    /// Rows are inserted by statements that leave out what no row has a value for. The first message answers none.
    @Test func aColumnWithoutAValueIsNullWhateverItsDefault() throws {
        let others = (1...70).map { "c\($0)" }
        try folder.write(
            "CREATE TABLE m (id TEXT, tags TEXT DEFAULT 'x', parent TEXT DEFAULT 'y', "
                + others.map { "\($0) TEXT DEFAULT 'z'" }.joined(separator: ", ") + ");",
            to: "s.sql"
        )
        try folder.write(
            "tables:\n  m:\n    from: messages\n    columns:\n      id: id\n      tags: tags\n      parent: replyTo.id\n"
                + others.map { "      \($0): \($0 == "c70" ? "id" : "editedAt")\n" }.joined(),
            to: "m.yaml"
        )
        for point in ["3", "5"] {
            let run = try rebuild("--at", point, "--schema", "s.sql", "--map", "m.yaml")
            #expect(run.exitCode == 0, "\(run.errors)")
            let rows = try DatabaseQueue(path: folder.path("c.sqlite")).read {
                try Row.fetchAll($0, sql: "SELECT id, tags, parent, c1, c69, c70 FROM m ORDER BY id")
            }
            for row in rows {
                #expect(row["parent"] == nil as String?)
                #expect(row["tags"] == nil as String? && row["c1"] == nil as String? && row["c69"] == nil as String?)
                #expect(row["c70"] as String? == row["id"])
            }
        }
    }

    private func rebuild(_ options: String...) throws -> ToolRun {
        try ToolRun.run(["rebuild", "L", "--to", "c.sqlite"] + options, in: folder)
    }

    private func count(_ queue: DatabaseQueue) throws -> Int? {
        try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM messages") }
    }
}
