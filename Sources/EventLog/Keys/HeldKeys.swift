/// Finds the held events of one generation by their keys (I4), as far as this process's writer knows the log.
///
/// Newer keys stand in a table in memory, older ones in sorted runs in the derived store; a filter in memory answers for
/// most keys that are in neither. A key above all keys of its source needs no lookup at all. Whoever asks compares the
/// records themselves, so equal hashes do no harm. Everything here is rebuilt from the log where the runs are missing,
/// damaged or of another log, and whatever goes wrong with them is no error of an append.
final class HeldKeys {
    /// So many lookups in the runs are answered without the filter, which costs a walk over all runs to make.
    private static let lookupsWithoutFilter = 64

    /// With the secret of the runs, or with one that they are going to have.
    private let hasher: KeyHash
    /// `nil` where all keys stay in memory.
    private var flusher: KeyFlusher?
    /// With so many keys a table is closed; also with four times as many events, which a later start has to look at.
    private let capacity: Int
    private var recent = KeyIndex()
    /// The first sequence that `recent` covers.
    private var firstRecent: UInt64 = 1
    /// The keys of all held events up to here are known.
    private(set) var head: UInt64 = 0
    private var maxima = KeyMaxima()
    private var filter: KeyFilter?
    private var lookups = 0

    /// Takes up what is stored and scans the rest of the log.
    ///
    /// - Parameters:
    ///   - committed: the head without what the reader's own transaction adds.
    ///   - capacity: how many keys stand in memory; `nil` where nothing may be stored, since the generation may never come
    ///     to be.
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

    /// The runs that are there and fit this log; none where they do not.
    private static func stored(
        _ reader: LogReader,
        of generation: Generation,
        _ committed: UInt64
    ) -> (KeyRuns?, KeyRunList) {
        do {
            guard let store = try generation.existingDerivedStore() else { return (nil, KeyRunList()) }
            let runs = try KeyRuns(store)
            let list = try runs.list()
            if list.covered == 0 { return (runs, list) }
            if list.covered <= committed, try reader.prefixHash(through: list.covered) == list.prefixHash,
                KeyMaxima(list.maxima) != nil
            {
                return (runs, list)
            }
            try runs.reset()
            return (runs, KeyRunList())
        } catch {
            try? generation.existingDerivedStore()?.discard()
            return (nil, KeyRunList())
        }
    }

    /// Whether another process has stored keys in a way that these do not fit: then they are to be made anew.
    var isForeign: Bool { flusher?.isForeign ?? false }

    // MARK: - Taking up

    /// Takes up the keys of the events up to a sequence that are not known yet.
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

    /// Notes the keys of events that are placed one after another from a sequence on, where none of them can be held.
    ///
    /// - Returns: whether that is so; where it is not, nothing is noted.
    func insertNew(_ batch: PreparedBatch, _ ascent: KeyAscent, from first: UInt64) -> Bool {
        guard let lane = batch.events.first?.lane, maxima.areAboveAll(ascent, in: lane) else { return false }
        for (offset, event) in batch.events.enumerated() { insert(hash(of: event), first + UInt64(offset)) }
        maxima.note(ascent, in: lane)
        return true
    }

    /// Notes the key of an event that is placed, but not committed yet.
    func insert(_ event: PreparedEvent, at sequence: UInt64) {
        insert(hash(of: event), sequence)
        if let key = event.record.key { maxima.note(key, in: event.lane) }
    }

    /// Forgets a key that was put in for a batch that came to nothing. What else was noted of it may stay: a filter and
    /// a greatest key that say too much cost a lookup.
    func remove(_ event: PreparedEvent, at sequence: UInt64) {
        recent.remove(hash(of: event), sequence)
    }

    /// Everything that was placed is committed.
    func committed(head newHead: UInt64) {
        head = newHead
        if isFull(at: newHead) { freeze(at: newHead) }
    }

    /// Waits until everything is stored that is to be.
    func drain() {
        flusher?.drain()
    }

    /// Of no meaning where there is no key.
    @inline(__always)
    private func hash(of event: PreparedEvent) -> UInt64 {
        event.record.key.map { hasher.hash($0, seed: event.lane.keySeed) } ?? 0
    }

    private func insert(_ hash: UInt64, _ sequence: UInt64) {
        recent.insert(hash, sequence)
        filter?.insert(hash)
    }

    private func isFull(at sequence: UInt64) -> Bool {
        recent.count >= capacity || (sequence - firstRecent) / 4 >= UInt64(capacity)
    }

    private func freeze(at sequence: UInt64) {
        guard let flusher else { return }
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
    /// Calls `body` with each sequence that may hold the event's key until it answers with something.
    func first(of event: PreparedEvent, _ reader: LogReader, _ body: (UInt64) throws -> UInt64?) throws -> UInt64? {
        guard let key = event.record.key, !maxima.isAboveAll(key, in: event.lane) else { return nil }
        let hash = hasher.hash(key, seed: event.lane.keySeed)
        if let filter, !filter.mayContain(hash) { return nil }
        if let found = try recent.first(of: hash, body) { return found }
        guard let flusher else { return nil }
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

    /// `nil` where the runs cannot be relied on.
    private func storedSequences(of hash: UInt64, _ places: KeyFlusher.Places) -> [UInt64]? {
        do {
            guard let runs = places.runs else { return nil }
            lookups += 1
            if lookups > Self.lookupsWithoutFilter, filter == nil {
                let filter = try makeFilter(places, runs)
                self.filter = filter
                if !filter.mayContain(hash) { return [] }
            }
            return try runs.sequences(of: hash, by: hasher.secret, covered: places.covered)
        } catch {
            return nil
        }
    }

    private func makeFilter(_ places: KeyFlusher.Places, _ runs: KeyRuns) throws -> KeyFilter {
        let list = try runs.list()
        guard list.covered >= places.covered, list.secret == hasher.secret else { throw KeyRuns.Lost() }
        var filter = KeyFilter(capacity: Int(clamping: list.runs.reduce(0) { $0 + $1.count }))
        try runs.forEachHash { filter.insert($0) }
        for frozen in places.frozen { frozen.keys.forEachHash { filter.insert($0) } }
        recent.forEachHash { filter.insert($0) }
        return filter
    }

    /// Goes on without runs: all keys in memory, by one scan. Events of this transaction that are placed and not yet
    /// written are known here only.
    private func rebuildInMemory(_ reader: LogReader) throws {
        flusher?.giveUp()
        let written = try reader.head()
        var all = KeyIndex(capacity: Int(clamping: try reader.view.count(of: reader.tables.events)))
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
