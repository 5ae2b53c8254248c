import EventLog

/// `verify` on one core, and proofs.
struct VerifyBenchmark {
    let count: Int
    let scratch: Scratch

    func run() throws -> [Figure] {
        let store = try EventStore.openOrCreate(at: scratch.fresh("verify.eventlog"))
        try LogFilling.fill(store, count: count, seed: 5)
        // In processor time: what one core does that nobody else uses.
        let rates = try (0..<5).map { _ in Double(count) / (try processorSeconds { _ = try store.verify() }) }
        let proof = try milliseconds(ofProofs: 200, store)
        return [
            Figure("verify, of processor time", events: count, rates: rates, beside: "goal", [800_000], goal: 1),
            Figure("proof of an event, ms", events: count, found: proof, allowed: 1),
        ]
    }

    /// The mean over events spread over the log, after the first proof, which reads all tree nodes.
    private func milliseconds(ofProofs number: Int, _ store: EventStore) throws -> Double {
        try store.read { session in
            let size = session.head.rawValue
            _ = try session.inclusionProof(of: session.head, size: size)
            let taken = try seconds {
                for place in 0..<number {
                    let sequence = SequenceNumber(1 + UInt64(place) * size / UInt64(number))
                    _ = try session.inclusionProof(of: sequence, size: size)
                }
            }
            return taken * 1000 / Double(number)
        }
    }
}
