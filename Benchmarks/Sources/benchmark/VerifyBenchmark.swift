import EventLog

/// `verify` on one core.
struct VerifyBenchmark {
    let count: Int
    let scratch: Scratch

    func run() throws -> [Figure] {
        let store = try EventStore.openOrCreate(at: scratch.fresh("verify.eventlog"))
        var corpus = Corpus(seed: 5)
        let slice = min(count, 200_000)
        for start in stride(from: 0, to: count, by: slice) {
            corpus.refill(count: min(slice, count - start))
            for drafts in try corpus.drafts(firstNumber: start, keys: .growing).chunked(by: 10_000) {
                _ = try store.append(drafts)
            }
        }
        let rate = Double(count) / (try seconds { _ = try store.verify() })
        return [Figure("verify", events: count, rates: [rate], beside: "events a second", [800_000], goal: 1)]
    }
}
