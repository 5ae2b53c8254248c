import EventLog
import Foundation
import GRDB

/// Durable appends in batches of 1,000: bare LMDB, the log with growing and with random keys, SQLite with a unique index
/// on the same random keys; slice by slice in turn, so that all meet the same machine.
struct AppendBenchmark {
    let count: Int
    let scratch: Scratch
    private let batch = 1000

    func run() throws -> [Figure] {
        let slice = min(1_000_000, count)
        let bare = try Bare(at: scratch.freshFolder("bare"))
        let growing = try EventStore.openOrCreate(at: scratch.fresh("growing.eventlog"))
        let random = try EventStore.openOrCreate(at: scratch.fresh("random.eventlog"))
        let sqlite = try UniqueTable(at: scratch.fresh("unique.sqlite"))
        // SQLite with a random unique index is slow; it gets a tenth of each slice.
        var rates: [String: [Double]] = [:]
        var payloadBytes = 0
        var corpus = Corpus(seed: 1)
        for start in stride(from: 0, to: count, by: slice) {
            corpus.refill(count: min(slice, count - start))
            payloadBytes += corpus.bytes.count
            let n = Double(corpus.count)
            rates["bare", default: []].append(n / (try seconds { try bare.append(corpus, batch: batch) }))
            rates["growing", default: []].append(n / (try append(corpus, to: growing, from: start, .growing)))
            rates["random", default: []].append(n / (try append(corpus, to: random, from: start, .random)))
            rates["sqlite", default: []].append(try sqliteRate(corpus, sqlite, from: start))
        }
        return try figures(rates, growing: growing, payloadBytes: payloadBytes)
    }

    private func append(_ corpus: Corpus, to store: EventStore, from start: Int, _ keys: KeyKind) throws -> Double {
        let batches = try corpus.drafts(firstNumber: start, keys: keys).chunked(by: batch)
        return try seconds { for drafts in batches { _ = try store.append(drafts) } }
    }

    private func sqliteRate(_ corpus: Corpus, _ table: UniqueTable, from start: Int) throws -> Double {
        let part = max(corpus.count / 10, min(corpus.count, 10_000))
        let batches = try Array(corpus.drafts(firstNumber: start, keys: .random).prefix(part)).chunked(by: batch)
        return Double(part) / (try seconds { for drafts in batches { try table.append(drafts) } })
    }

    private func figures(_ rates: [String: [Double]], growing: EventStore, payloadBytes: Int) throws -> [Figure] {
        let bare = rates["bare"] ?? []
        let sqlite = rates["sqlite"] ?? []
        var figures: [Figure] = []
        for keys in KeyKind.allCases {
            let own = rates[keys.rawValue] ?? []
            let name = "append, batch 1,000, \(keys.rawValue) keys"
            figures.append(Figure(name, events: count, rates: own, beside: "bare LMDB", bare, goal: 0.3))
            let goal = keys == .random ? 8.0 : 1.5
            figures.append(Figure(name, events: count, rates: own, beside: "SQLite FULL, unique", sqlite, goal: goal))
            if own.count >= 3 {
                figures.append(
                    Figure(
                        "\(name), last slice",
                        events: count,
                        rates: [own[own.count - 1]],
                        beside: "second slice",
                        [own[1]],
                        goal: 0.8
                    )
                )
            }
        }
        let keyBytes = Corpus.key(0, .growing).utf8.count
        let beyond =
            (Double(try growing.statistics().bytesOnDisk) - Double(payloadBytes)) / Double(count) - Double(keyBytes)
        figures.append(Figure("bytes per event beyond payload and key", events: count, found: beyond, allowed: 175))
        return figures
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
