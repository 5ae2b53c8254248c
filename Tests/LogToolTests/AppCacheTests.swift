import Clients
import EventLog
import EventLogCache
import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import Projections

/// An app embeds recorder, log and cache in one process.
@Suite struct AppCacheTests {
    let folder: TemporaryDirectory
    let log: EventStore
    let pool: DatabasePool

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 3)
        log = try EventStore.open(at: folder.path("L"))
        pool = try DatabasePool(path: folder.path("app.sqlite"))
    }

    @Test func eachVersionOfTheAppIsBuiltFromTheLog() async throws {
        #expect(try await AppCache(of: log, in: pool, schema: ChatCacheV1()).step()?.isRebuild == true)
        #expect(try texts() == ["message 1", "message 2", "message 3"])
        #expect(try await AppCache(of: log, in: pool, schema: ChatCacheV2()).step()?.isRebuild == true)
        #expect(
            try await pool.read { try Row.fetchOne($0, sql: "SELECT name FROM channel WHERE id = '10'")?["name"] }
                == "general"
        )
        try await pool.write { try $0.execute(sql: "INSERT INTO draft VALUES ('10', 'not sent yet')") }
        try append(Self.message(4), Self.reaction(to: 4))
        let batch = try await AppCache(of: log, in: pool, schema: ChatCacheV3()).step()
        #expect(batch?.isRebuild == true && batch?.tables.map(\.name) == ["channel", "message", "reaction"])
        let (found, emoji, draft) = try await pool.read { database in
            (
                try String.fetchAll(database, sql: "SELECT text FROM message_search WHERE message_search MATCH 'four'"),
                try String.fetchAll(database, sql: "SELECT emoji || user FROM reaction"),
                try String.fetchOne(database, sql: "SELECT text FROM draft")
            )
        }
        #expect(found == ["four"] && emoji == ["👍9"] && draft == "not sent yet")
        #expect(try PythonDatabase(path: pool.path).faults().isEmpty)
        let kept = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter { $0.contains(".next") }
        #expect(kept == ["app.sqlite.next.lock"])
    }

    @Test func theDigestIsThatOfTheLog() async throws {
        let batch = try #require(try await AppCache(of: log, in: pool, schema: ChatCacheV1()).step())
        let told = try ToolRun.run(["replay", "L", "--digest", "--at", "\(batch.sequence)"], in: folder).output
        #expect(told.trimmingCharacters(in: .whitespacesAndNewlines) == batch.digest)
    }

    @Test func aBatchTellsTablesAndKeys() async throws {
        let cache = AppCache(of: log, in: pool, schema: ChatCacheV3())
        _ = try await cache.step()
        #expect(try await cache.step() == nil)
        try append(Self.message(4), Self.deletion(of: 1))
        let batch = try #require(try await cache.step())
        #expect(!batch.isRebuild && batch.tables.map(\.name) == ["message", "reaction"])
        let keys = batch.tables[0].keys?.compactMap { String.fromDatabaseValue($0["id"]) } ?? []
        #expect(Set(keys) == ["1001", "1004"])
        #expect(try texts() == ["message 2", "message 3", "four"])
    }

    /// The screen of an app goes on across the swap of a whole cache, and with the batches of a follower in the same process.
    @Test(.hangGuard) func observationsGoOnAcrossTheSwap() async throws {
        _ = try await AppCache(of: log, in: pool, schema: ChatCacheV1()).step()
        let observation = ValueObservation.tracking {
            try String.fetchAll($0, sql: "SELECT text FROM message ORDER BY id")
        }
        var screen = Screen(observation.values(in: pool).makeAsyncIterator())
        try await screen.wait(for: ["message 1", "message 2", "message 3"])
        try append(Self.message(4))
        let cache = AppCache(of: log, in: pool, schema: ChatCacheV3())
        #expect(try await cache.step()?.isRebuild == true)
        try await screen.wait(for: ["message 1", "message 2", "message 3", "four"])
        let follower = Task { () -> SequenceNumber? in
            for try await batch in cache.changes(every: .milliseconds(1)) { return batch.sequence }
            return nil
        }
        try append(Self.deletion(of: 2))
        try await screen.wait(for: ["message 1", "message 3", "four"])
        #expect(try await follower.value == log.read { $0.head })
        #expect(screen.shown.count == 3, "nothing half: \(screen.shown)")
    }

    /// A reader that has begun sees the old cache to the end, whatever is swapped in.
    @Test func aReaderKeepsTheCacheThatItBeganWith() async throws {
        _ = try await AppCache(of: log, in: pool, schema: ChatCacheV1()).step()
        let snapshot = try pool.makeSnapshot()
        #expect(try await snapshot.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM message") } == 3)
        try append(Self.message(4))
        _ = try await AppCache(of: log, in: pool, schema: ChatCacheV2()).step()
        #expect(try await snapshot.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM message") } == 3)
        #expect(try texts().count == 4)
    }

    @Test func aCacheGoesOnInTheNextRunOfTheApp() async throws {
        _ = try await AppCache(of: log, in: pool, schema: ChatCacheV2()).step()
        #expect(try await AppCache(of: log, in: pool, schema: ChatCacheV2()).step() == nil)
        try append(Self.message(4))
        let batch = try await AppCache(of: log, in: pool, schema: ChatCacheV2()).step()
        #expect(batch?.isRebuild == false)
        #expect(
            try await AppCache(of: log, in: pool, schema: ChatCacheV2(), profile: .retrocastWeb).step()?.isRebuild
                == true
        )
    }

    @Test func twoFollowersOfOneCacheDoNotWriteABatchTwice() async throws {
        let (first, second) = (
            AppCache(of: log, in: pool, schema: ChatCacheV2()), AppCache(of: log, in: pool, schema: ChatCacheV2())
        )
        _ = try await first.step()
        #expect(try await second.step() == nil)
        try append(Self.message(4))
        #expect(try await first.step()?.isRebuild == false)
        #expect(try await second.step() == nil)
        try append(Self.deletion(of: 4))
        #expect(try await second.step()?.isRebuild == false)
        #expect(try await first.step() == nil)
        #expect(try texts().count == 3)
    }

    @Test func nothingOfABatchStaysWhereTheSchemaFails() async throws {
        let failing = FailingSchema()
        let cache = AppCache(of: log, in: pool, schema: failing)
        _ = try await cache.step()
        let sequence = try log.read { $0.head }
        failing.fails.set(true)
        try append(Self.message(4), Self.message(5))
        await #expect(throws: FailingSchema.Failed.self) { try await cache.step() }
        #expect(try texts().count == 3)
        failing.fails.set(false)
        let batch = try #require(try await cache.step())
        #expect(batch.sequence.rawValue == sequence.rawValue + 2 && !batch.isRebuild)
        #expect(try texts().count == 5)
        failing.fails.set(true)
        try await pool.write { try $0.execute(sql: "DROP TABLE eventlog_meta") }
        let next = AppCache(of: log, in: pool, schema: failing)
        await #expect(throws: FailingSchema.Failed.self) { try await next.step() }
        #expect(try texts().count == 5, "the old cache stays until the new one is whole")
    }

    /// A schema is told which rows need no look at what is there.
    @Test func rowsOfANewCacheAreToldApart() async throws {
        let seen = SeenChanges()
        let cache = AppCache(of: log, in: pool, schema: WatchedSchema(seen: seen))
        _ = try await cache.step()
        #expect(seen.take() == ["added", "added", "added"])
        try append(Self.message(4), Self.deletion(of: 1))
        _ = try await cache.step()
        #expect(Set(seen.take()) == ["row", "removed"])
    }

    /// A run of the app that keeps states leaves one that the next run begins from.
    @Test func statesAreKeptWhereTheyAreWanted() async throws {
        try folder.makeLog(messages: 700, isLarge: true)
        var keeping = KeptStateOptions(build: "app")
        keeping.eventsMin = 100
        _ = try await AppCache(of: log, in: pool, schema: ChatCacheV1()).step()
        #expect(try log.read { KeptStates(rules: .canonical, build: "app").sequences(in: $0) }.isEmpty)
        _ = try await AppCache(of: log, in: pool, schema: ChatCacheV2(), keeping: keeping).step()
        #expect(try !log.read { KeptStates(rules: .canonical, build: "app").sequences(in: $0) }.isEmpty)
        let next = AppCache(of: log, in: pool, schema: ChatCacheV2(), keeping: keeping)
        #expect(try await next.step() == nil, "the cache goes on from that state")
        #expect(try texts().count == 700)
    }

    /// A process that is killed while it builds leaves a file; one that still builds holds a lock.
    @Test func whatAKilledBuildLeftIsReplaced() async throws {
        try folder.write("not a database", to: "app.sqlite.next")
        let held = open(folder.path("app.sqlite.next.lock"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        #expect(flock(held, LOCK_EX | LOCK_NB) == 0)
        let cache = AppCache(of: log, in: pool, schema: ChatCacheV1())
        await #expect(throws: CacheError.self) { try await cache.step() }
        close(held)
        #expect(try await cache.step()?.isRebuild == true)
        #expect(try texts().count == 3)
        #expect(!FileManager.default.fileExists(atPath: folder.path("app.sqlite.next")))
    }

    /// A compaction decides anew what the state keeps, so the cache is built anew.
    @Test func aCompactedLogGivesANewCache() async throws {
        try folder.makeLog(messages: 700, isLarge: true)
        let cache = AppCache(of: log, in: pool, schema: ChatCacheV2())
        _ = try await cache.step()
        #expect(try texts().count == 700)
        let run = try ToolRun.run(["compact", "L"], in: folder)
        #expect(run.exitCode == 0, "\(run.errors)")
        _ = try await cache.step()
        while try await cache.step() != nil {}
        #expect(try texts().count == 500)
    }

    /// A redaction replaces texts that the cache may still hold, so the cache is built anew: while it follows, and at the next start.
    @Test(arguments: [false, true]) func aRedactedLogGivesANewCache(isRestarted: Bool) async throws {
        var cache = AppCache(of: log, in: pool, schema: ChatCacheV2())
        _ = try await cache.step()
        #expect(try texts().contains("message 2"))
        let run = try ToolRun.run(["redact", "L", "--match", "message 2", "--yes"], in: folder)
        #expect(run.exitCode == 0, "\(run.errors)")
        if isRestarted { cache = AppCache(of: log, in: pool, schema: ChatCacheV2()) }
        #expect(try await cache.step()?.isRebuild == true)
        #expect(try texts() == ["message 1", "(redacted)", "message 3"])
    }

    /// Random events of all apps, batch by batch: the same rows as a cache that is built at the end.
    @Test func followingGivesWhatBuildingGives() async throws {
        let scenarios = Scenario.all.filter { $0.testDescription.hasPrefix("retrocast") }
        let lists = try EventStream.whole(of: scenarios, in: folder).filter {
            $0.allSatisfy { $0.payload.count <= 1 << 16 }
        }
        for seed in 1...UInt64(3) {
            let stream = EventStream(of: lists, seed: seed, mutatingBytes: seed.isMultiple(of: 2))
            let log = try EventStore.openOrCreate(at: folder.path("\(seed).eventlog"))
            let followed = try DatabasePool(path: folder.path("\(seed).sqlite"))
            let cache = AppCache(of: log, in: followed, schema: ChatCacheV3())
            var rest = stream.events[...]
            var random = SeededGenerator(seed: seed)
            while !rest.isEmpty {
                let events = rest.prefix(.random(in: 1...40, using: &random))
                rest = rest.dropFirst(events.count)
                _ = try log.append(events.map(\.draft))
                while try await cache.step() != nil {}
            }
            let built = try DatabasePool(path: folder.path("\(seed).built.sqlite"))
            _ = try await AppCache(of: log, in: built, schema: ChatCacheV3()).step()
            let (left, right) = (PythonDatabase(path: followed.path), PythonDatabase(path: built.path))
            #expect(try left.dump() == right.dump(), "seed \(seed)")
            #expect(try left.faults().isEmpty)
        }
    }

    @Test func theDocumentationShowsTheSameLines() throws {
        let page = try String(contentsOf: PackageRoot.url.appending(path: "docs/cache.md"), encoding: .utf8)
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "ChatCache.swift")
        let parts = try String(contentsOf: path, encoding: .utf8).components(separatedBy: "// docs/cache.md: begin\n")
        #expect(parts.count == 3)
        for part in parts.dropFirst() {
            let example = try #require(part.components(separatedBy: "// docs/cache.md: end").first)
            #expect(page.contains(example), "docs/cache.md lacks\n\(example)")
        }
    }
}

// MARK: - Events

extension AppCacheTests {
    private func append(_ frames: String...) throws {
        let head = try log.read { $0.head }.rawValue
        let drafts = try frames.enumerated().map { number, frame in
            DraftEvent(
                recordedAt: Timestamp(seconds: Int64(1_767_226_000 + head) + Int64(number)),
                source: try SourceName("guild"),
                kind: try EventKind("gateway.frame/1"),
                key: try EventKey("test/\(head)/\(number)"),
                attributes: try Attributes([.init(name: "dir", value: "in")]),
                payload: Array(frame.utf8)
            )
        }
        _ = try log.append(drafts)
    }

    private static func message(_ number: Int) -> String {
        SampleCaptures.message(number, content: number == 4 ? "four" : nil)
    }

    private static func reaction(to number: Int) -> String {
        #"{"op":0,"s":90,"t":"MESSAGE_REACTION_ADD","d":{"channel_id":"10","message_id":"\#(1000 + number)","user_id":"9","emoji":"👍"}}"#
    }

    private static func deletion(of number: Int) -> String {
        #"{"op":0,"s":91,"t":"MESSAGE_DELETE","d":{"id":"\#(1000 + number)","channel_id":"10"}}"#
    }

    private func texts() throws -> [String] {
        try pool.read { try String.fetchAll($0, sql: "SELECT text FROM message ORDER BY id") }
    }
}

/// What an observation has shown. It may show one thing several times.
private struct Screen {
    private var values: AsyncValueObservation<[String]>.Iterator
    private(set) var shown: [[String]] = []

    init(_ values: AsyncValueObservation<[String]>.Iterator) {
        self.values = values
    }

    /// Goes on until it shows this.
    mutating func wait(for expected: [String]) async throws {
        while shown.last != expected {
            let value = try #require(try await values.next(), "the observation ended")
            if value != shown.last { shown.append(value) }
        }
    }
}

/// A value that tests change while others read it.
private final class Switch: Sendable {
    private let state = Mutex(false)

    var isOn: Bool { state.withLock { $0 } }

    func set(_ isOn: Bool) { state.withLock { $0 = isOn } }
}

/// The names of the changes that a schema was given.
private final class SeenChanges: Sendable {
    private let names = Mutex<[String]>([])

    func add(_ name: String) { names.withLock { $0.append(name) } }

    func take() -> [String] {
        names.withLock { names in
            defer { names = [] }
            return names
        }
    }
}

/// Version 1 that notes what it is given.
private struct WatchedSchema: CacheSchema {
    let version = 1
    let seen: SeenChanges
    var tables: [String: Set<StateList>] { ChatCacheV1().tables }

    func create(in database: Database) throws { try ChatCacheV1().create(in: database) }

    func apply(_ change: CacheChange, in database: Database) throws {
        switch change {
        case .added: seen.add("added")
        case .row: seen.add("row")
        case .removed: seen.add("removed")
        case .cleared: seen.add("cleared")
        }
        try ChatCacheV1().apply(change, in: database)
    }
}

/// Version 1 with an `apply` that can be made to fail at the last message.
private struct FailingSchema: CacheSchema {
    struct Failed: Error {}
    let version = 1
    let fails = Switch()
    var tables: [String: Set<StateList>] { ChatCacheV1().tables }

    func create(in database: Database) throws { try ChatCacheV1().create(in: database) }

    func apply(_ change: CacheChange, in database: Database) throws {
        switch change {
        case .added(_, let row), .row(_, let row):
            if row["id"] == "1005".databaseValue, fails.isOn { throw Failed() }
        case .removed, .cleared: break
        }
        try ChatCacheV1().apply(change, in: database)
    }
}
