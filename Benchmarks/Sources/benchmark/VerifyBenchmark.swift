import EventLog

/// `verify` on one core, beside bare SHA-256 of the same bytes, and proofs.
struct VerifyBenchmark {
    let count: Int
    let scratch: Scratch
    private let rounds = 5

    func run() throws -> [Figure] {
        let store = try EventStore.openOrCreate(at: scratch.fresh("verify.eventlog"))
        try LogFilling.fill(store, count: count, seed: 5)
        let hashed = try hashedLengths(store)
        var (rates, bare): ([Double], [Double]) = ([], [])
        for _ in 0..<rounds {
            // In processor time: what one core does that nobody else uses.
            rates.append(Double(count) / (try processorSeconds { _ = try store.verify() }))
            bare.append(Double(count) / processorSeconds { Self.hash(hashed) })
        }
        let proof = try milliseconds(ofProofs: 200, store)
        return [
            Figure("verify, of processor time", events: count, rates: rates, beside: "bare SHA-256", bare, goal: 0.6),
            Figure("proof of an event, ms", events: count, found: proof, allowed: 1),
        ]
    }

    /// How many bytes each hash covers that proves the events: for each event its salt and payload, its leaf, and one node of the tree.
    private func hashedLengths(_ store: EventStore) throws -> [Int] {
        // A salt of 16 bytes; a prefix and two hashes.
        let (salt, node) = (16, 65)
        return try store.read { session in
            var lengths: [Int] = []
            try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                lengths += [salt + event.payloadCount, Self.leafLength(event.envelope), node]
                return true
            }
            return lengths
        }
    }

    /// A prefix, a version, the time and the commitment; texts behind their lengths; a mark before the key, and the attributes' count.
    private static func leafLength(_ envelope: Envelope) -> Int {
        let texts =
            [envelope.source.rawValue, envelope.kind.rawValue]
            + envelope.attributes.pairs.flatMap { [$0.name, $0.value] }
        return 42 + texts.reduce(0) { $0 + 2 + $1.utf8.count } + 1
            + (envelope.key.map { 2 + $0.rawValue.utf8.count } ?? 0) + 2
    }

    /// Hashes that many runs of bytes out of memory that stays in the processor's caches, and does nothing else.
    private static func hash(_ lengths: [Int]) {
        let bytes = [UInt8](repeating: 0x61, count: lengths.max() ?? 0)
        bytes.withUnsafeBytes { bytes in
            for length in lengths { _ = Hasher256.hash(UnsafeRawBufferPointer(rebasing: bytes[..<length])) }
        }
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
