/// Finds the held events of one generation by their keys (I4), up to the head that this process's writer knows.
///
/// Newer keys are in a table in memory, older ones in sorted runs in the derived store. A filter in memory answers for
/// most keys that are in neither, and a key above all keys of its source needs no lookup at all. Callers compare the
/// records themselves, so equal hashes do no harm. If the runs are missing, damaged or of another log, everything is
/// rebuilt from the log; no fault of the runs fails an append (I17). Use it under the write lock only, except for
/// `drain`. See `docs/decisions/0002-keys-in-memory.md`.
final class HeldKeys {
    /// How many lookups in the runs are answered before the filter is made, which takes a walk over all runs.
    private static let lookupsWithoutFilter = 64

    /// Has the secret of the runs, or the one that the first run will get.
    private let hasher: KeyHash
    /// Writes and reads the runs; `nil` if all keys stay in memory.
    private var flusher: KeyFlusher?
    /// A table with this many keys is closed. So is one that covers four times as many events, because a later start
    /// has to read these events again.
    private let capacity: Int
    /// The table in memory that new keys are added to.
    private var recent = KeyIndex()
    /// The first sequence that `recent` covers. Runs and closed tables cover all before it.
    private var firstRecent: UInt64 = 1
    /// The keys of all held events up to this sequence are known.
    private(set) var head: UInt64 = 0
    /// The greatest keys of all held events up to `head`, and of placed ones.
    private var maxima = KeyMaxima()
    /// Knows all keys in runs, closed tables and `recent`; `nil` until the lookups in the runs pay for it.
    private var filter: KeyFilter?
    /// How many lookups have reached the runs.
    private var lookups = 0

    /// Reads what is stored. `catchUp` must then read the rest of the log.
    ///
    /// - Parameters:
    ///   - committed: the head without what the reader's own transaction adds.
    ///   - capacity: how many keys are kept in memory; `nil` if nothing may be stored, because the generation may be
    ///     discarded.
    init(_ reader: LogReader, of generation: Generation, committed: UInt64, capacity: Int?) throws {
        self.capacity = capacity ?? .max
        guard capacity != nil else {
            hasher = .random
            return
        }
        let (runs, list) = Self.stored(reader, of: generation, committed)
        hasher = list.secret.map { KeyHash(secret: $0) } ?? .random
        flusher = KeyFlusher(generation, runs: runs, covered: list.covered)
        head = list.covered
        firstRecent = head + 1
        maxima = KeyMaxima(list.maxima) ?? KeyMaxima()
    }

    /// The stored runs and their list if they fit this log; else none. Runs of another log are emptied.
    private static func stored(
        _ reader: LogReader,
        of generation: Generation,
        _ committed: UInt64
    ) -> (KeyRuns?, KeyRunList) {
        do {
            guard let store = try generation.existingDerivedStore() else { return (nil, KeyRunList()) }
            let runs = try KeyRuns(store)
            let list = try runs.list()
            // Nothing is stored yet, so there is nothing to compare with the log.
            if list.covered == 0 { return (runs, list) }
            if list.covered <= committed, try reader.begins(with: list.prefix), KeyMaxima(list.maxima) != nil {
                return (runs, list)
            }
            try runs.reset()
            return (runs, KeyRunList())
        } catch {
            try? generation.existingDerivedStore()?.discard()
            return (nil, KeyRunList())
        }
    }

    /// Whether another process has stored keys with another secret. Then this object must be made anew.
    var isForeign: Bool { flusher?.isForeign ?? false }

    // MARK: - Taking up

    /// Reads the keys of the events after `head`, up to a sequence.
    func catchUp(to newHead: UInt64, _ reader: LogReader) throws {
        guard head < newHead else { return }
        var lanes = LaneLookup(reader)
        try reader.forEachRecord(in: head + 1...newHead) { sequence, record in
            if let key = record.key {
                let lane = try lanes.lane(record.laneNumber)
                insert(hasher.hash(key, seed: lane.keySeed), sequence)
                maxima.note(key, in: lane)
            }
            if isFull(at: sequence) { freeze(at: sequence) }
            return true
        }
        head = newHead
    }

    /// Notes the keys of a batch placed from a sequence on, if its keys show that no event holds any of them.
    ///
    /// - Returns: whether they do. If not, nothing is noted.
    func insertNew(_ batch: PreparedBatch, _ ascent: KeyAscent, from first: UInt64) -> Bool {
        guard let lane = batch.events.first?.lane, maxima.areAboveAll(ascent, in: lane) else { return false }
        for (offset, event) in batch.events.enumerated() { insert(hash(of: event), first + UInt64(offset)) }
        maxima.note(ascent, in: lane)
        return true
    }

    /// Notes the key of an event that is placed but not committed yet.
    func insert(_ event: PreparedEvent, at sequence: UInt64) {
        insert(hash(of: event), sequence)
        if let key = event.record.key { maxima.note(key, in: event.lane) }
    }

    /// Forgets the key of an event whose batch was refused. The filter and the greatest keys may keep it: that costs a
    /// lookup at most.
    func remove(_ event: PreparedEvent, at sequence: UInt64) {
        recent.remove(hash(of: event), sequence)
    }

    /// Notes that all placed events are committed. Closes the table in memory if it is full.
    func committed(head newHead: UInt64) {
        assert(newHead >= head, "the head never moves back")
        head = newHead
        if isFull(at: newHead) { freeze(at: newHead) }
    }

    /// Waits until every closed table is stored, as far as that can be done.
    func drain() {
        flusher?.drain()
    }

    /// The hash of the event's key; meaningless if it has none.
    @inline(__always)
    private func hash(of event: PreparedEvent) -> UInt64 {
        event.record.key.map { hasher.hash($0, seed: event.lane.keySeed) } ?? 0
    }

    private func insert(_ hash: UInt64, _ sequence: UInt64) {
        recent.insert(hash, sequence)
        filter?.insert(hash)
    }

    /// Whether the table in memory is due to be closed. `sequence` must not be before `firstRecent`.
    private func isFull(at sequence: UInt64) -> Bool {
        recent.count >= capacity || (sequence - firstRecent) / 4 >= UInt64(capacity)
    }

    /// Closes the table in memory, hands it to the flusher and begins another. Without a flusher nothing happens.
    private func freeze(at sequence: UInt64) {
        guard let flusher else { return }
        assert(firstRecent <= sequence, "a closed table covers a sequence")
        flusher.add(
            FrozenKeys(
                keys: recent,
                secret: hasher.secret,
                first: firstRecent,
                last: sequence,
                maxima: maxima.bytes
            )
        )
        recent = KeyIndex(capacity: capacity)
        firstRecent = sequence + 1
    }
}

// MARK: - Looking up

extension HeldKeys {
    /// Calls `body` with each sequence that may hold the event's key, until `body` returns a result. Tries the cheapest
    /// source first: maxima, filter, table in memory, closed tables, runs.
    func first(of event: PreparedEvent, _ reader: LogReader, _ body: (UInt64) throws -> UInt64?) throws -> UInt64? {
        guard let key = event.record.key, !maxima.isAboveAll(key, in: event.lane) else { return nil }
        let hash = hasher.hash(key, seed: event.lane.keySeed)
        if let filter, !filter.mayContain(hash) { return nil }
        if let found = try recent.first(of: hash, body) { return found }
        guard let flusher else { return nil }
        // Read before the runs: see `KeyFlusher.Places`.
        let places = flusher.places
        for frozen in places.frozen {
            if let found = try frozen.keys.first(of: hash, body) { return found }
        }
        guard places.covered > 0 else { return nil }
        guard let sequences = storedSequences(of: hash, places) else {
            try rebuildInMemory(reader)
            return try recent.first(of: hash, body)
        }
        for sequence in sequences {
            if let found = try body(sequence) { return found }
        }
        return nil
    }

    /// The sequences that the runs have under a hash; `nil` if the runs cannot be relied on.
    private func storedSequences(of hash: UInt64, _ places: KeyFlusher.Places) -> [UInt64]? {
        do {
            guard let runs = places.runs else { return nil }
            lookups += 1
            if lookups > Self.lookupsWithoutFilter, filter == nil {
                let filter = try makeFilter(places, runs)
                self.filter = filter
                // The new filter knows all keys of the runs, so it can answer this lookup as well.
                if !filter.mayContain(hash) { return [] }
            }
            return try runs.sequences(of: hash, by: hasher.secret, covered: places.covered)
        } catch {
            return nil
        }
    }

    /// A filter of all known keys. Throws if the runs do not cover what the caller relies on.
    private func makeFilter(_ places: KeyFlusher.Places, _ runs: KeyRuns) throws -> KeyFilter {
        let list = try runs.list()
        guard list.covered >= places.covered, list.secret == hasher.secret else { throw KeyRuns.Lost() }
        var filter = KeyFilter(capacity: Int(clamping: list.runs.reduce(0) { $0 + $1.count }))
        try runs.forEachHash { filter.insert($0) }
        for frozen in places.frozen { frozen.keys.forEachHash { filter.insert($0) } }
        recent.forEachHash { filter.insert($0) }
        return filter
    }

    /// Gives up the runs and takes all keys into memory by one scan. Events that this transaction has placed but not
    /// written are known only here, so they are carried over.
    ///
    /// Cost: reads every record.
    private func rebuildInMemory(_ reader: LogReader) throws {
        flusher?.giveUp()
        let written = try reader.head()
        var all = KeyIndex(capacity: Int(clamping: try reader.heldCount()))
        for entry in recent.sorted() where entry.sequence > written { all.insert(entry.hash, entry.sequence) }
        if written > 0 {
            var lanes = LaneLookup(reader)
            try reader.forEachRecord(in: 1...written) { sequence, record in
                guard let key = record.key else { return true }
                all.insert(hasher.hash(key, seed: try lanes.lane(record.laneNumber).keySeed), sequence)
                return true
            }
        }
        recent = all
        filter = nil
        flusher = nil
    }
}
