import Foundation
import GRDB
import Projections
import Synchronization
import TestSupport
import Testing

/// A new cache takes the place of an old one while others read.
@Suite struct CacheSwapTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 4)
    }

    @Test func backSwapsTheTwoLastCaches() throws {
        #expect(try rebuild("--back").exitCode == 1)
        #expect(try rebuild("--at", "3").exitCode == 0)
        #expect(try rebuild("--back").exitCode == 1)
        #expect(try rebuild("--at", "4").exitCode == 0)
        #expect(try rebuild().exitCode == 0)
        #expect(try files == ["002.sqlite", "003.sqlite", "lock"])
        #expect(try rebuild("--back").output.contains("at sequence 4"))
        #expect(try count() == 2)
        #expect(try rebuild("--back").output.contains("at sequence 6"))
        #expect(try count() == 4)
    }

    @Test func whatWillLookDifferentIsShownBeforeTheSwap() throws {
        _ = try rebuild("--at", "4")
        let dry = try rebuild("--diff", "--dry-run")
        #expect(dry.exitCode == 0)
        #expect(dry.output.contains("messages: 2 added"), "\(dry.output)")
        #expect(dry.output.contains("+ messages source=guild channel=10 id=1003"))
        #expect(dry.output.contains("would build c.sqlite at sequence 6"))
        #expect(try count() == 2)
        #expect(try files == ["001.sqlite", "lock"])
        let check = try rebuild("--check")
        #expect(check.exitCode == 1)
        #expect(check.output.contains("(missing in the cache)") || check.output.hasPrefix("~ sources"))
        #expect(try rebuild("--diff").output.contains("messages: 2 added"))
        #expect(try count() == 4)
        #expect(try rebuild("--check").exitCode == 0)
        #expect(try rebuild("--diff", "--dry-run").output.contains("nothing will look different"))
    }

    @Test func withJSONTheDifferencesOfTheFirstCacheAreNoText() throws {
        let run = try rebuild("--diff", "--json")
        #expect(run.exitCode == 0)
        #expect(run.output.hasPrefix("{") && run.output.split(separator: "\n").count == 1, "\(run.output)")
    }

    /// A file whose number leaves none for the next one would make a cache that no later rebuild finds.
    @Test func aPlantedNumberIsNamed() throws {
        _ = try rebuild("--at", "4")
        let planted = folder.path("c.sqlite.d/999999999999.sqlite")
        try Data().write(to: URL(filePath: planted))
        let run = try rebuild()
        #expect(run.exitCode == 2 && run.errors.contains("999999999999.sqlite\" leaves no number"), "\(run.errors)")
        #expect(try files == ["001.sqlite", "999999999999.sqlite", "lock"])
        #expect(try count() == 2)
        try FileManager.default.removeItem(atPath: planted)
        #expect(try rebuild().exitCode == 0)
        #expect(try files == ["001.sqlite", "002.sqlite", "lock"])
    }

    /// The pages of the new cache are copied into a database that stands in the place of the link, and a reader in WAL mode
    /// sees the old rows to the end of its transaction.
    @Test func aDatabaseInThePlaceOfTheLinkIsNeverRenamedOver() throws {
        let live = try DatabasePool(path: folder.path("c.sqlite"))
        try live.write { try $0.execute(sql: "CREATE TABLE messages (old TEXT); INSERT INTO messages VALUES ('mine')") }
        #expect(try rebuild().exitCode == 4)
        let before = try inode
        let (first, code, second) = try live.read { database in
            let first = try String.fetchOne(database, sql: "SELECT old FROM messages")
            let code = try rebuild("--yes").exitCode
            return (first, code, try String.fetchOne(database, sql: "SELECT old FROM messages"))
        }
        #expect(first == "mine")
        #expect(code == 0)
        #expect(second == "mine", "a transaction sees what it began with")
        #expect(try inode == before)
        #expect(try live.read { try Int.fetchOne($0, sql: "SELECT count(content) FROM messages") } == 4)
        #expect(try live.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
        #expect(try PythonDatabase(path: folder.path("c.sqlite")).faults().isEmpty)
        #expect(try rebuild("--at", "4").exitCode == 0)
        #expect(try live.read { try Int.fetchOne($0, sql: "SELECT count(content) FROM messages") } == 2)
        #expect(try rebuild("--back").exitCode == 0)
        #expect(try live.read { try Int.fetchOne($0, sql: "SELECT count(content) FROM messages") } == 4)
        #expect(try inode == before)
        try live.close()
    }

    /// Readers that open the cache anew for each query see the old rows or the new ones, and never an error.
    @Test func readersGoOnWhileCachesAreSwapped() throws {
        _ = try rebuild("--at", "4")
        let reader = CacheReader(path: folder.path("c.sqlite"))
        for round in 0..<6 { _ = try rebuild("--at", round.isMultiple(of: 2) ? "6" : "4") }
        let seen = reader.stop()
        #expect(seen.errors.isEmpty)
        #expect(!seen.counts.isEmpty)
        #expect(seen.counts.isSubset(of: ["2 messages, 2 revisions", "4 messages, 4 revisions"]), "\(seen.counts)")
    }

    @Test func statesAreWrittenAsJSON() throws {
        #expect(try ToolRun.run(["rebuild", "L", "--to", "s.json"], in: folder).exitCode == 0)
        let document = try ToolRun.run(["replay", "L", "--json"], in: folder).output
        #expect(try String(contentsOfFile: folder.path("s.json"), encoding: .utf8) == document)
        #expect(try ToolRun.run(["rebuild", "L", "--to", "s.json", "--at", "4"], in: folder).exitCode == 0)
        #expect(try ToolRun.run(["diff", "s.json", "L@4"], in: folder).exitCode == 0)
        #expect(try ToolRun.run(["rebuild", "L", "--to", "s.ndjson"], in: folder).exitCode == 0)
        let lines = try String(contentsOfFile: folder.path("s.ndjson"), encoding: .utf8).split(separator: "\n")
        #expect(lines.first?.hasPrefix(#"{"format":"eventlog.rows/2","identity":""#) == true)
        #expect(lines.count { $0.hasPrefix(#"{"rows":"messages","source":"guild""#) } == 4)
        // No row has a member of that name, which would take its place.
        #expect(StateList.all.allSatisfy { !$0.members.contains("rows") })
        try folder.write("precious", to: "p.json")
        #expect(try ToolRun.run(["rebuild", "L", "--to", "p.json"], in: folder).exitCode == 4)
        #expect(try ToolRun.run(["rebuild", "L", "--to", "s.json", "--check"], in: folder).exitCode == 2)
    }

    @Test(arguments: ["s.json", "s.ndjson"])
    func aDryRunPrintsTheFiguresOfAStateAndWritesNone(file: String) throws {
        let run = { (options: String...) in
            try ToolRun.run(["rebuild", "L", "--to", file] + options, in: folder)
        }
        let dry = try run("--dry-run")
        let document = try run("--dry-run", "--json")
        #expect(dry.exitCode == 0 && document.exitCode == 0)
        #expect(!FileManager.default.fileExists(atPath: folder.path(file)))
        let built = try run()
        #expect(dry.output.hasPrefix("would build \(file) at sequence 6: "), "\(dry.output)")
        #expect(dry.output.replacingOccurrences(of: "would build", with: "built") == built.output)
        let summary = try run("--json").output
        #expect(document.output.contains(#""swapped":false"#))
        #expect(document.output.replacingOccurrences(of: #""swapped":false"#, with: #""swapped":true"#) == summary)
        try folder.write("precious", to: file)
        #expect(try run("--dry-run").output == dry.output)
        #expect(try String(contentsOfFile: folder.path(file), encoding: .utf8) == "precious")
    }

    private func rebuild(_ options: String...) throws -> ToolRun {
        try ToolRun.run(["rebuild", "L", "--to", "c.sqlite"] + options, in: folder)
    }

    private func count() throws -> Int? {
        try DatabaseQueue(path: folder.path("c.sqlite")).read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM messages")
        }
    }

    private var inode: Int? {
        get throws {
            try FileManager.default.attributesOfItem(atPath: folder.path("c.sqlite"))[.systemFileNumber] as? Int
        }
    }

    private var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path("c.sqlite.d")).sorted() }
    }
}

/// A thread that opens a cache and counts its rows, again and again, until it is stopped.
private final class CacheReader: Sendable {
    struct Seen {
        var counts: Set<String> = []
        var errors: [String] = []
    }

    private let seen = Mutex(Seen())
    private let isStopped = Mutex(false)
    private let end = DispatchSemaphore(value: 0)

    init(path: String) {
        Thread.detachNewThread { [self] in
            repeat { read(path) } while !isStopped.withLock { $0 }
            end.signal()
        }
    }

    func stop() -> Seen {
        isStopped.withLock { $0 = true }
        end.wait()
        return seen.withLock { $0 }
    }

    private func read(_ path: String) {
        do {
            let counts = try DatabaseQueue(path: path).read { database in
                let messages = try Int.fetchOne(database, sql: "SELECT count(*) FROM messages") ?? -1
                let revisions = try Int.fetchOne(database, sql: "SELECT count(*) FROM message_revisions") ?? -1
                return "\(messages) messages, \(revisions) revisions"
            }
            seen.withLock { _ = $0.counts.insert(counts) }
        } catch {
            seen.withLock { $0.errors.append("\(error)") }
        }
    }
}
