import EventLog

/// Fills the logs that other measurements read: one way for all of them.
enum LogFilling {
    /// Appends generated frames to a log, and to a bare LMDB beside it where there is one.
    static func fill(_ store: EventStore, _ bare: Bare? = nil, count: Int, seed: UInt64) throws {
        var corpus = Corpus(seed: seed)
        let turn = min(count, 50_000)
        let appender = Appender(store)
        for start in stride(from: 0, to: count, by: turn) {
            corpus.refill(count: min(turn, count - start))
            try bare?.append(corpus, batch: 10_000)
            for drafts in try corpus.drafts(firstNumber: start, keys: .growing).chunked(by: 10_000) {
                _ = try appender.append(drafts)
            }
        }
        try appender.finish()
    }
}
