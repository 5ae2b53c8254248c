import EventLog
import Foundation
import GRDB
import Projections
import Synchronization
import TestSupport
import Testing

/// Whatever ends a rebuild or a follower, and whoever reads meanwhile: a cache is whole, says what the log says, and goes on.
///
/// `EVENTLOG_LONG_TESTS=1` kills 500 times and reads for a minute.
@Suite(.serialized) struct CacheKillTests {
    let folder: TemporaryDirectory
    private static let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil

    init() throws {
        folder = try TemporaryDirectory()
    }

    /// Killed after a random time, in a rebuild or while it follows a log that grows.
    @Test(.enabled(if: PythonDatabase.isAvailable, "it needs python3 with sqlite3"))
    func aKilledRebuildOrFollowerLeavesAWholeCache() throws {
        var random = SeededGenerator(seed: 22)
        let traffic = try Traffic(in: folder)
        #expect(try ToolRun.run(["rebuild", "L", "--to", "c.sqlite"], in: folder).exitCode == 0)
        let time = try ContinuousClock().measure {
            _ = try ToolRun.run(["rebuild", "L", "--to", "t.sqlite"], in: folder)
        }
        var hits = 0
        for round in 0..<(Self.isLong ? 500 : 6) {
            let follows = round.isMultiple(of: 2)
            let process = try start(["rebuild", "L", "--to", "c.sqlite"] + (follows ? ["--follow"] : ["--quiet"]))
            if follows { try traffic.grow(by: 20) }
            let microseconds = UInt32(Double.random(in: 0..<1.2, using: &random) * Double(time.microseconds))
            usleep(microseconds)
            if process.isRunning { hits += 1 }
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            try expectWhole("round \(round), \(microseconds) µs")
        }
        #expect(hits > 0, "no round was killed while it ran")
        #expect(try ToolRun.run(["rebuild", "L", "--to", "f.sqlite"], in: folder).exitCode == 0)
        try followToTheEnd()
        let (left, right) = (
            PythonDatabase(path: folder.path("c.sqlite")), PythonDatabase(path: folder.path("f.sqlite"))
        )
        #expect(try left.dump() == right.dump(), "the cache that was killed so often goes on to the same rows")
    }

    /// A reader asks a thousand times a second while caches are swapped in and followed.
    @Test func aReaderSeesNoErrorAndNoHalfState() throws {
        let traffic = try Traffic(in: folder)
        #expect(try ToolRun.run(["rebuild", "L", "--to", "c.sqlite"], in: folder).exitCode == 0)
        let reader = SteadyReader(path: folder.path("c.sqlite"), perSecond: 1000)
        let end = ContinuousClock.now + .seconds(Self.isLong ? 60 : 2)
        repeat {
            _ = try ToolRun.run(["rebuild", "L", "--to", "c.sqlite"], in: folder)
            let follower = try start(["rebuild", "L", "--to", "c.sqlite", "--follow"])
            try traffic.grow(by: 50)
            try wait(for: traffic.head)
            kill(follower.processIdentifier, SIGTERM)
            follower.waitUntilExit()
        } while ContinuousClock.now < end
        let seen = reader.stop()
        print("note: \(seen.count) queries, \(Int(seen.perSecond)) a second, the slowest took \(seen.slowest)")
        #expect(seen.errors == [])
        #expect(seen.halves == [], "messages and their revisions are written together")
        #expect(seen.count > 500)
    }

    /// Followed from the first event, built at the end, and built from the compacted log: the same rows, as Python reads them.
    @Test(.enabled(if: PythonDatabase.isAvailable, "it needs python3 with sqlite3"))
    func followedBuiltAndCompactedAreTheSame() throws {
        _ = try EventStore.openOrCreate(at: folder.path("L"))
        let follower = try start(["rebuild", "L", "--to", "followed.sqlite", "--follow"])
        let traffic = try Traffic(in: folder)
        for _ in 0..<8 { try traffic.grow(by: 30) }
        try wait(for: traffic.head, in: "followed.sqlite")
        kill(follower.processIdentifier, SIGTERM)
        follower.waitUntilExit()
        #expect(try ToolRun.run(["rebuild", "L", "--to", "built.sqlite"], in: folder).exitCode == 0)
        let run = try ToolRun.run(["compact", "L", "--keep", "100"], in: folder)
        #expect(run.exitCode == 0 && run.output.contains("proved"), "\(run.output)\(run.errors)")
        #expect(try ToolRun.run(["rebuild", "L", "--to", "compacted.sqlite"], in: folder).exitCode == 0)
        let (followed, built, compacted) = try (dump("followed"), dump("built"), dump("compacted"))
        #expect(followed == built)
        // What the retention keeps is row for row what it was; only parents of replies may have gone.
        #expect(compacted.count { $0.hasPrefix("messages ") } == 100)
        for table in ["message_revisions ", "reactions ", "channels ", "guilds "] {
            let (kept, all) = (compacted.filter { $0.hasPrefix(table) }, Set(built.filter { $0.hasPrefix(table) }))
            #expect(Set(kept).subtracting(all) == [], "\(table)")
        }
        let query = "SELECT channel, id, sort, author, edited_at, content, revisions, reply_to, extra FROM messages"
        let (kept, all) = try (rows(query, "compacted"), rows(query, "built"))
        #expect(kept.count == 100 && kept.subtracting(all) == [])
    }

    private func rows(_ query: String, _ name: String) throws -> Set<String> {
        Set(try PythonDatabase(path: folder.path("\(name).sqlite")).lines(query))
    }

    /// What a compaction drops leaves a cache that is followed, too.
    @Test(.enabled(if: PythonDatabase.isAvailable, "it needs python3 with sqlite3"))
    func aFollowerBuildsAnewAfterACompaction() throws {
        let traffic = try Traffic(in: folder)
        try traffic.grow(by: 400)
        let follower = try start(["rebuild", "L", "--to", "c.sqlite", "--follow"])
        try wait(for: traffic.head)
        #expect(try ToolRun.run(["compact", "L", "--keep", "100"], in: folder).exitCode == 0)
        try traffic.grow(by: 10)
        try wait(for: traffic.head)
        kill(follower.processIdentifier, SIGTERM)
        follower.waitUntilExit()
        try expectWhole("after a compaction")
        #expect(try ToolRun.run(["rebuild", "L", "--to", "c.sqlite", "--check"], in: folder).exitCode == 0)
    }

    private func dump(_ name: String) throws -> [String] {
        try PythonDatabase(path: folder.path("\(name).sqlite")).dump()
    }

    private func expectWhole(_ place: String) throws {
        let database = PythonDatabase(path: folder.path("c.sqlite"))
        #expect(try database.faults().isEmpty, "\(place)")
        let meta = try database.lines("SELECT value FROM meta WHERE name IN ('digest', 'sequence') ORDER BY name")
        let values = meta.map { $0.filter(\.isHexDigit) }
        try #require(values.count == 2, "\(place): \(meta)")
        let digest = try ToolRun.run(["replay", "L", "--digest", "--at", values[1]], in: folder).output
        #expect(digest.trimmingCharacters(in: .whitespacesAndNewlines) == values[0], "\(place)")
    }

    private func followToTheEnd() throws {
        let head = try EventStore.open(at: folder.path("L")).read { $0.head }
        let follower = try start(["rebuild", "L", "--to", "c.sqlite", "--follow"])
        try wait(for: head)
        kill(follower.processIdentifier, SIGTERM)
        follower.waitUntilExit()
    }

    /// Reads the cache until it holds an event.
    private func wait(for head: SequenceNumber, in name: String = "c.sqlite") throws {
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            let held = try? DatabaseQueue(path: folder.path(name), configuration: .readingOnly).read {
                try String.fetchOne($0, sql: "SELECT value FROM meta WHERE name = 'sequence'")
            }
            if held == "\(head)" { return }
            usleep(2000)
        }
        Issue.record("the follower did not come to \(head)")
    }

    private func start(_ arguments: [String]) throws -> Process {
        let process = Process()
        process.executableURL = try ToolRun.executable
        process.arguments = arguments
        process.currentDirectoryURL = folder.url
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }
}

extension Duration {
    var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}

extension Configuration {
    fileprivate static var readingOnly: Configuration {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(10)
        return configuration
    }
}

/// A log `L` of one guild that grows by messages, edits, reactions and deletions.
private final class Traffic {
    /// So that a compaction makes the log smaller.
    private static let padding = String(repeating: " and more", count: 60)

    private let store: EventStore
    private var number = 0
    private var random = SeededGenerator(seed: 7)

    init(in folder: TemporaryDirectory) throws {
        store = try EventStore.openOrCreate(at: folder.path("L"))
        try append([#"{"op":0,"s":1,"t":"CHANNEL_CREATE","d":{"id":"10","type":0,"name":"general","guild_id":"1"}}"#])
        try grow(by: 200)
    }

    var head: SequenceNumber { get throws { try store.read { $0.head } } }

    func grow(by count: Int) throws {
        try append((0..<count).map { _ in frame() })
    }

    private func frame() -> String {
        number += 1
        let old = 1000 + Int.random(in: 1...number, using: &random)
        switch number % 10 {
        case 7:
            return
                #"{"op":0,"s":\#(number),"t":"MESSAGE_UPDATE","d":{"id":"\#(old)","channel_id":"10","author_id":"7","#
                + #""content":"edited \#(number)","edited_at":"2026-01-02T00:00:00Z","created_at":"2026-01-01T00:00:00Z"}}"#
        case 8:
            return
                #"{"op":0,"s":\#(number),"t":"MESSAGE_REACTION_ADD","d":{"channel_id":"10","message_id":"\#(old)","user_id":"9","emoji":"👍"}}"#
        case 9: return #"{"op":0,"s":\#(number),"t":"MESSAGE_DELETE","d":{"id":"\#(old)","channel_id":"10"}}"#
        default: return SampleCaptures.message(number, content: "message \(number)" + Self.padding)
        }
    }

    private func append(_ frames: [String]) throws {
        let head = try head.rawValue
        let drafts = try frames.enumerated().map { place, frame in
            DraftEvent(
                recordedAt: Timestamp(seconds: 1_767_225_600 + Int64(head) + Int64(place)),
                source: try SourceName("guild"),
                kind: try EventKind("gateway.frame/1"),
                key: try EventKey("t/\(head)/\(place)"),
                attributes: try Attributes([.init(name: "dir", value: "in")]),
                payload: Array(frame.utf8)
            )
        }
        _ = try store.append(drafts)
    }
}

/// A thread that asks one cache at a steady pace. Every hundredth query opens the cache anew, as an app that starts.
private final class SteadyReader: Sendable {
    struct Seen {
        var count = 0
        var slowest = Duration.zero
        var perSecond = 0.0
        var errors: Set<String> = []
        var halves: Set<String> = []
    }

    private let seen = Mutex(Seen())
    private let isStopped = Mutex(false)
    private let end = DispatchSemaphore(value: 0)

    init(path: String, perSecond: Int) {
        Thread.detachNewThread { [self] in
            run(path, pause: .seconds(1) / perSecond)
            end.signal()
        }
    }

    func stop() -> Seen {
        isStopped.withLock { $0 = true }
        end.wait()
        return seen.withLock { $0 }
    }

    private func run(_ path: String, pause: Duration) {
        let start = ContinuousClock.now
        var queue: DatabaseQueue?
        var count = 0
        while !isStopped.withLock({ $0 }) {
            let began = ContinuousClock.now
            do {
                if count.isMultiple(of: 100) || queue == nil {
                    queue = try DatabaseQueue(path: path, configuration: .readingOnly)
                }
                if let queue { try ask(queue) }
            } catch {
                seen.withLock { _ = $0.errors.insert("\(error)") }
                queue = nil
            }
            count += 1
            let took = ContinuousClock.now - began
            seen.withLock { $0.slowest = max($0.slowest, took) }
            let rest = start + pause * count - ContinuousClock.now
            if rest > .zero { usleep(UInt32(clamping: rest.microseconds)) }
        }
        let seconds = Double((ContinuousClock.now - start).microseconds) / 1_000_000
        seen.withLock { ($0.count, $0.perSecond) = (count, Double(count) / seconds) }
    }

    /// Every live message has as many revisions as it says: one query, one state.
    private func ask(_ queue: DatabaseQueue) throws {
        let half = try queue.read { database in
            try String.fetchOne(
                database,
                sql: """
                    SELECT m.id || ' has ' || m.revisions || ', not ' || count(*) FROM messages m JOIN message_revisions r
                    ON (r.source, r.channel, r.id) = (m.source, m.channel, m.id) AND r.change IN ('created', 'edited')
                    WHERE m.id = (SELECT max(id) FROM messages WHERE channel = '10')
                    GROUP BY m.row HAVING count(*) <> m.revisions
                    """
            )
        }
        if let half { seen.withLock { _ = $0.halves.insert(half) } }
    }
}
