import ArgumentParser
import EventLog
import Foundation
import GRDB

/// A rebuild of the program's own cache from a log, in a process of its own, beside GRDB inserting the same rows into the same tables. Both
/// make indexes and full-text search after the rows.
struct CacheBenchmark {
    let count: Int
    let scratch: Scratch
    /// The logtool that rebuilds.
    let program: String?
    /// Where the log is or is to be left; without one it is made anew and removed.
    let log: String?
    private let rounds = 3

    func run() throws -> [Figure] {
        guard let program else { throw ValidationError("cache needs --program, a logtool") }
        let path = log ?? scratch.fresh("cache.eventlog")
        if !FileManager.default.fileExists(atPath: path) {
            try LogFilling.fill(try EventStore.openOrCreate(at: path), count: count, seed: 6)
        }
        let cache = scratch.fresh("cache.sqlite")
        let schema = scratch.file("schema.sql")
        guard Child.run(program, ["rebuild", "--print-schema"], output: schema) == 0 else {
            throw CocoaError(.executableLoad)
        }
        let sql = try String(contentsOfFile: schema, encoding: .utf8)
        var rates: (rebuild: [Double], bare: [Double]) = ([], [])
        for _ in 0..<rounds {
            let time = try seconds {
                let status = Child.run(
                    program,
                    ["rebuild", path, "--to", cache, "--quiet"],
                    output: scratch.file("out")
                )
                guard status == 0 else { throw CocoaError(.executableLoad) }
            }
            rates.rebuild.append(Double(count) / time)
            rates.bare.append(Double(count) / (try insertAll(of: cache, sql)))
        }
        return [
            Figure("cache, rebuild", events: count, rates: rates.rebuild, beside: "bare GRDB", rates.bare, goal: 0.5),
            Figure(
                "cache, rebuild",
                events: count,
                rates: rates.rebuild,
                beside: "events a second",
                [60_000],
                goal: 1
            ),
        ]
    }

    /// The seconds that it takes to insert the rows of a cache into another one; to read them is not counted.
    private func insertAll(of cache: String, _ sql: String) throws -> Double {
        let parts = sql.components(separatedBy: "-- What follows runs after the rows.")
        guard parts.count == 2 else { throw ValidationError("the schema has no mark between its parts") }
        return try BareInsertion(from: cache, to: scratch.fresh("bare.sqlite")).seconds { database in
            try database.execute(sql: parts[0])
        } after: { database in
            try database.execute(sql: parts[1])
        }
    }
}
