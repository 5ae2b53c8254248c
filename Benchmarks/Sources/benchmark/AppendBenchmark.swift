import EventLog
import Foundation
import GRDB

/// Durable appends in batches of 1,000: bare LMDB, the log with growing and with random keys, SQLite with a unique index on
/// the same keys. In turns of 20,000 events, so that all meet the same machine.
struct AppendBenchmark {
    let count: Int
    let scratch: Scratch
    private let batch = 1000
    private let turn = 20_000
    /// SQLite with a random unique index is slow: in a long run it gets one turn of so many, spread over the whole run.
    private var sqliteShare: Int { count > 2_000_000 ? 5 : 1 }

    func run() throws -> [Figure] {
        let bare = try Bare(at: scratch.freshFolder("bare"))
        let stores = try KeyKind.allCases.map { try EventStore.openOrCreate(at: scratch.fresh("\($0).eventlog")) }
        let tables = try KeyKind.allCases.map { try UniqueTable(at: scratch.fresh("\($0).sqlite")) }
        var watches = (bare: Stopwatch(), stores: [Stopwatch(), Stopwatch()], tables: [Stopwatch(), Stopwatch()])
        var corpus = Corpus(seed: 1)
        var payloadBytes = 0
        var memory = 0.0
        for (number, start) in stride(from: 0, to: count, by: turn).enumerated() {
            corpus.refill(count: min(turn, count - start))
            payloadBytes += corpus.bytes.count
            try watches.bare.measure(corpus.count) { try bare.append(corpus, batch: batch) }
            for (index, keys) in KeyKind.allCases.enumerated() {
                let batches = try corpus.drafts(firstNumber: start, keys: keys).chunked(by: batch)
                try watches.stores[index].measure(corpus.count) { try append(batches, to: stores[index]) }
                guard number.isMultiple(of: sqliteShare) else { continue }
                try watches.tables[index].measure(corpus.count) {
                    for drafts in batches { try tables[index].append(drafts) }
                }
            }
            memory = max(memory, Memory.anonymousMegabytes)
        }
        var figures = KeyKind.allCases.enumerated().flatMap { index, keys in
            self.figures(keys, watches.stores[index], bare: watches.bare, sqlite: watches.tables[index])
        }
        figures += try sizes(stores[0], payloadBytes: payloadBytes)
        figures.append(Figure("anonymous memory while appending, MB", events: count, found: memory, allowed: 300))
        return figures
    }

    /// The next batch is prepared while one is written.
    private func append(_ batches: [[DraftEvent]], to store: EventStore) throws {
        let appender = Appender(store)
        for drafts in batches { _ = try appender.append(drafts) }
        try appender.finish()
    }

    private func figures(_ keys: KeyKind, _ watch: Stopwatch, bare: Stopwatch, sqlite: Stopwatch) -> [Figure] {
        let name = "append, batch 1,000, \(keys) keys"
        return [
            Figure(name, events: count, rates: [watch.rate], beside: "bare LMDB", [bare.rate], goal: 0.3),
            Figure(
                name,
                events: count,
                rates: [watch.rate],
                beside: sqliteShare == 1 ? "SQLite FULL, unique" : "SQLite FULL, unique, 1 of \(sqliteShare)",
                [sqlite.rate],
                goal: keys == .random ? 8 : 1.5
            ),
        ]
    }

    private func sizes(_ store: EventStore, payloadBytes: Int) throws -> [Figure] {
        let statistics = try store.statistics()
        let keyBytes = Corpus.key(0, .growing).utf8.count
        let beyond = (Double(statistics.bytesOnDisk) - Double(payloadBytes)) / Double(count) - Double(keyBytes)
        let derived = Double(Scratch.bytes(of: store.path + "/cache-000001")) / Double(count)
        return [
            Figure("bytes per event beyond payload and key", events: count, found: beyond, allowed: 135),
            Figure("bytes of derived data per event", events: count, found: derived, allowed: 40),
        ]
    }
}

/// What a user would pick instead: a table with a unique key, WAL, synced at each commit.
final class UniqueTable {
    private let queue: DatabaseQueue

    init(at path: String) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
        }
        queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { db in
            try db.execute(
                sql:
                    "CREATE TABLE events (sequence INTEGER PRIMARY KEY, recordedAt INTEGER, key BLOB UNIQUE, payload BLOB)"
            )
        }
    }

    func append(_ drafts: [DraftEvent]) throws {
        try queue.write { db in
            let statement = try db.cachedStatement(
                sql: "INSERT INTO events (recordedAt, key, payload) VALUES (?, ?, ?)"
            )
            for draft in drafts {
                try statement.execute(arguments: [
                    draft.recordedAt.microseconds, Data((draft.key?.rawValue ?? "").utf8), Data(draft.payload),
                ])
            }
        }
    }
}

extension Array {
    func chunked(by size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
