import EventLog
import Foundation

/// Whether appends stay as fast as a log grows: the last tenth of a run beside the second one. One log at a time, since
/// several large ones together outgrow memory; a bare LMDB says what the disk alone makes of it.
struct GrowthBenchmark {
    let count: Int
    let scratch: Scratch
    private let batch = 1000
    private let turn = 10_000

    func run() throws -> [Figure] {
        let bare = try rates(scratch.freshFolder("bare")) { path in
            let bare = try Bare(at: path)
            return { corpus, _ in { try bare.append(corpus, batch: batch) } }
        }
        let logs = try KeyKind.allCases.map { keys in
            try rates(scratch.fresh("\(keys).eventlog")) { path in
                let appender = Appender(try EventStore.openOrCreate(at: path))
                return { corpus, start in
                    let batches = try corpus.drafts(firstNumber: start, keys: keys).chunked(by: batch)
                    return {
                        for drafts in batches { _ = try appender.append(drafts) }
                        try appender.finish()
                    }
                }
            }
        }
        return [figure("bare LMDB", bare, goal: nil)]
            + zip(KeyKind.allCases, logs).map { figure("\($0) keys", $1, goal: 0.8) }
    }

    /// Events a second in each tenth of a run into a fresh place. What makes events ready and hands out the work that
    /// appends them is not counted. Nothing is removed before the end: pages that a log gives back would have to be handed
    /// to the next one by the host, where the machine is a virtual one.
    private func rates(
        _ path: String,
        _ open: (String) throws -> (Corpus, _ firstNumber: Int) throws -> () throws -> Void
    ) throws -> [Double] {
        let append = try open(path)
        var corpus = Corpus(seed: 1)
        var watch = Stopwatch()
        for start in stride(from: 0, to: count, by: turn) {
            corpus.refill(count: min(turn, count - start))
            try watch.measure(corpus.count, append(corpus, start))
        }
        return watch.rates(per: max(turn, count / 10))
    }

    private func figure(_ name: String, _ rates: [Double], goal: Double?) -> Figure {
        Figure(
            "growth, \(name): last tenth",
            events: count,
            rates: [rates[rates.count - 1]],
            beside: "second tenth",
            [rates[min(1, rates.count - 1)]],
            goal: goal
        )
    }
}
