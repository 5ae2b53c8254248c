import ArgumentParser
import EventLog
import EventLogCache
import Foundation
import GRDB
import Projections

/// An app's cache brought from version 1 to version 3 by `AppCache`, in a process of its own, while another process reads it: beside GRDB
/// inserting the same rows into the same tables. Both make indexes and full-text search after the rows.
struct AppCacheBenchmark {
    let count: Int
    let scratch: Scratch
    /// Where the log is or is to be left; without one it is made anew and removed.
    let log: String?
    private let rounds = 3

    func run() throws -> [Figure] {
        let path = log ?? scratch.fresh("app.eventlog")
        if !FileManager.default.fileExists(atPath: path) {
            try LogFilling.fill(try EventStore.openOrCreate(at: path), count: count, seed: 6)
        }
        var rates: (built: [Double], bare: [Double]) = ([], [])
        var megabytes = 0.0
        var readings: [CacheReader.Summary] = []
        for _ in 0..<rounds {
            let cache = scratch.fresh("app.sqlite")
            _ = try build(cache, version: 1, of: path)
            let reader = try CacheReader.start(on: cache, output: scratch.file("reader.json"))
            let built = try build(cache, version: 3, of: path)
            readings.append(try reader.summary())
            rates.built.append(Double(count) / built.seconds)
            megabytes = max(megabytes, built.megabytes)
            rates.bare.append(Double(count) / (try insertAll(of: cache)))
        }
        return [
            figure(rates.built, beside: "bare GRDB", rates.bare, goal: 0.5),
            figure(rates.built, beside: "events a second", [60_000], goal: 1),
            Figure("app cache, MB of memory that is no file", events: count, found: megabytes, allowed: 300),
            Figure(
                "app cache, queries a second meanwhile",
                events: count,
                rates: readings.map(\.rate),
                beside: "wanted",
                [CacheReader.wantedRate],
                goal: 0.95
            ),
            Figure(
                "app cache, ms: \(readings.max { $0.slowest < $1.slowest }?.slowestQuery ?? "")",
                events: count,
                found: (readings.map(\.slowest).max() ?? 0) * 1000,
                allowed: 100
            ),
        ]
    }

    private func figure(_ rates: [Double], beside name: String, _ others: [Double], goal: Double) -> Figure {
        Figure("app cache, v1 to v3", events: count, rates: rates, beside: name, others, goal: goal)
    }

    // MARK: - The app

    /// What building a version took.
    private struct Built: Codable {
        let seconds: Double
        /// The most memory that the process held, files aside.
        let megabytes: Double
    }

    private func build(_ cache: String, version: Int, of log: String) throws -> Built {
        let output = scratch.file("built.json")
        let arguments = ["app-cache", log, cache, String(version)].flatMap { ["--answer", $0] }
        guard Child.run(CommandLine.arguments[0], arguments, output: output) == 0 else {
            throw CocoaError(.executableLoad)
        }
        return try JSONDecoder().decode(Built.self, from: Data(contentsOf: URL(filePath: output)))
    }

    /// The app's own process: builds a version of its cache and prints what that took.
    static func answer(_ arguments: [String]) async throws {
        guard arguments.count == 3 else { return }
        let (log, cache, version) = (arguments[0], arguments[1], arguments[2])
        let peak = MemoryPeak()
        let start = ContinuousClock.now
        let store = try EventStore.open(at: log)
        let pool = try DatabasePool(path: cache)
        func build(_ schema: some CacheSchema) async throws {
            let cache = AppCache(of: store, in: pool, schema: schema, keeping: KeptStateOptions(build: "benchmark"))
            try await cache.step()
        }
        if version == "1" { try await build(ChatCacheV1()) } else { try await build(ChatCacheV3()) }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        print(String(decoding: try JSONEncoder().encode(Built(seconds: seconds, megabytes: peak.end())), as: UTF8.self))
    }

    // MARK: - Bare GRDB

    /// The seconds that it takes to insert the rows of a cache into another one; to read them is not counted.
    private func insertAll(of cache: String) throws -> Double {
        let target = scratch.fresh("bare.sqlite")
        let schema = ChatCacheV3()
        return try BareInsertion(from: cache, to: target).seconds(tables: Array(schema.tables.keys)) { database in
            try schema.create(in: database)
        } after: { database in
            try schema.finish(in: database)
        }
    }
}

/// A process that reads an app's cache as version 1 of the app does, while the cache is replaced.
struct CacheReader {
    static let wantedRate = 1000.0

    struct Summary: Codable {
        let rate: Double
        /// The seconds of the slowest query, and its SQL.
        let slowest: Double
        let slowestQuery: String
    }

    private let child: pid_t
    private let output: String

    static func start(on cache: String, output: String) throws -> CacheReader {
        let arguments = ["read-cache", cache].flatMap { ["--answer", $0] }
        guard let child = Child.start(CommandLine.arguments[0], arguments, output: output) else {
            throw CocoaError(.executableLoad)
        }
        return CacheReader(child: child, output: output)
    }

    /// Waits for the reader's end, which comes soon after the new version is there.
    func summary() throws -> Summary {
        guard Child.wait(for: child) == 0 else { throw ValidationError("the reader failed; see above") }
        return try JSONDecoder().decode(Summary.self, from: Data(contentsOf: URL(filePath: output)))
    }

    /// The reader's own process. Fails where a page of a channel is other than it was at first, or the tables are not those of the version.
    static func answer(_ arguments: [String]) throws {
        guard let cache = arguments.first else { return }
        var configuration = Configuration()
        configuration.readonly = true
        var reading = Reading(queue: try DatabaseQueue(path: cache, configuration: configuration))
        let summary = try reading.run()
        print(String(decoding: try JSONEncoder().encode(summary), as: UTF8.self))
    }
}

/// The queries of one reader.
private struct Reading {
    let queue: DatabaseQueue
    private var pages: [Int: [String]] = [:]
    private var slowest = (seconds: 0.0, query: "")
    private var count = 0

    private static let page = "SELECT id FROM message WHERE channel = ? ORDER BY id DESC LIMIT 50"
    private static let message = "SELECT text FROM message WHERE channel = ? AND id = ?"
    private static let version = "SELECT value FROM eventlog_meta WHERE name = 'schema'"
    /// Not as GRDB's `tableExists`, which remembers what it was told before the swap.
    private static let hasReactions = "SELECT count(*) FROM sqlite_master WHERE name = 'reaction'"

    init(queue: DatabaseQueue) {
        self.queue = queue
    }

    mutating func run() throws -> CacheReader.Summary {
        let clock = ContinuousClock()
        let start = clock.now
        var queriesOfNew = 0
        while queriesOfNew < 2000 {
            let due = start + .seconds(Double(count) / CacheReader.wantedRate)
            let early = due - clock.now
            if early > .zero { usleep(UInt32(early / .microseconds(1))) }
            let channel = count * 7 % 400
            if count % 10 == 0 {
                if try readVersion() == "version 3" { queriesOfNew += 10 }
            } else if count % 2 == 0 {
                try readPage(of: channel)
            } else {
                try readMessage(of: channel)
            }
            count += 1
        }
        let seconds = (clock.now - start) / .seconds(1)
        return CacheReader.Summary(
            rate: Double(count) / seconds,
            slowest: slowest.seconds,
            slowestQuery: slowest.query
        )
    }

    private mutating func readPage(of channel: Int) throws {
        let id = String(Corpus.channelID(channel))
        let page = try timed(Self.page) { try String.fetchAll($0, sql: Self.page, arguments: [id]) }
        let first = pages[channel, default: page]
        guard page == first else { throw ValidationError("channel \(id) has another page than at first") }
        pages[channel] = page
    }

    private mutating func readMessage(of channel: Int) throws {
        guard let message = pages[channel]?.first else { return try readPage(of: channel) }
        let id = String(Corpus.channelID(channel))
        let text = try timed(Self.message) { try String.fetchOne($0, sql: Self.message, arguments: [id, message]) }
        guard text != nil else { throw ValidationError("message \(message) of channel \(id) is gone") }
    }

    private mutating func readVersion() throws -> String? {
        let (version, isNew) = try timed(Self.version) {
            (try String.fetchOne($0, sql: Self.version), try Bool.fetchOne($0, sql: Self.hasReactions) ?? false)
        }
        guard (version == "version 3") == isNew else {
            throw ValidationError("\(version ?? "no version") has \(isNew ? "the" : "no") table of version 3")
        }
        return version
    }

    private mutating func timed<Result>(_ query: String, _ body: (Database) throws -> Result) throws -> Result {
        let start = ContinuousClock.now
        let result = try queue.read(body)
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        if seconds > slowest.seconds { slowest = (seconds, query) }
        return result
    }
}
