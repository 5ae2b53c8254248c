public import EventLog

extension Replay {
    /// The digest after each event: what `LogState.digest()` gives to an observer of `logState`.
    ///
    /// If the options allow a second thread, this one folds and hashes rows while the other keeps the trie of these
    /// hashes. `body`, which this thread calls, then gets each event some hundred events late.
    ///
    /// - Parameter body: Gets each folded event, acts included, in order; returns false to stop.
    /// - Throws: as `logState`, and what `body` throws.
    public static func digests(
        of session: borrowing ReadSession,
        through point: SequenceNumber? = nil,
        options: ReplayOptions = ReplayOptions(),
        _ body: @escaping (_ event: Envelope, _ digest: Hash256) throws -> Bool
    ) throws {
        guard options.decodesAhead else {
            _ = try logState(of: session, through: point, options: options) { try body($0, $1.digest()) }
            return
        }
        var batches = DigestBatches(body)
        _ = try logState(of: session, through: point, options: options) { event, state in
            try batches.add(event, state: &state)
        }
        try batches.finish()
    }
}

/// Sends the events of one replay through a `DigestQueue` and hands them to `body`, each with its digest, in order. At
/// most four batches exist at a time.
private struct DigestBatches {
    private let body: (Envelope, Hash256) throws -> Bool
    /// Made at the first event, with the trie of the state after it.
    private var queue: DigestQueue?
    private var batch = DigestBatch()
    /// False once `body` wanted no more; it gets no event after that, though some may be under way.
    private var goesOn = true

    init(_ body: @escaping (Envelope, Hash256) throws -> Bool) {
        self.body = body
    }

    /// Takes an event and the state after it; false once `body` wants no more, which shows some batches late.
    mutating func add(_ event: Envelope, state: inout LogState) throws -> Bool {
        // The first trie contains the changes of this event and all before it, so this event adds no changes of its
        // own.
        if queue == nil { queue = DigestQueue(state.startDigest()) }
        batch.add(event) { state.takeDigestChanges(into: &$0) }
        if batch.isFull { try handOver() }
        return goesOn
    }

    /// Hands over the last batch, full or not, and waits for all.
    mutating func finish() throws {
        queue?.work(on: batch)
        while let done = queue?.next(all: true) { try tell(done) }
    }

    private mutating func handOver() throws {
        queue?.work(on: batch)
        guard let done = queue?.next(all: false) else {
            batch = DigestBatch()
            return
        }
        try tell(done)
        done.empty()
        batch = done
    }

    private mutating func tell(_ batch: DigestBatch) throws {
        assert(batch.digests.count == batch.events.count, "a finished batch has one digest for each event")
        for (event, digest) in zip(batch.events, batch.digests) where goesOn { goesOn = try body(event, digest) }
    }
}
