// MARK: - Keys

extension ReadSession {
    /// The sequence of the event with a key of a source, held or dropped; `nil` if there is none.
    ///
    /// Cost: that of `sequences(of:source:)`.
    public func sequence(of key: EventKey, source: SourceName) throws -> SequenceNumber? {
        try sequences(of: [key], source: source).first ?? nil
    }

    /// The sequences of the events with keys of a source, held or dropped, one for each key in order; `nil` if there is
    /// none.
    ///
    /// Cost: O(log n) for each key that a dropped event had or that is in the runs of the derived data. All other keys
    /// together cost one pass over the records after the runs, or over all records if there are no runs.
    public func sequences(of keys: [EventKey], source: SourceName) throws -> [SequenceNumber?] {
        var search = KeySearch(keys, of: source)
        try search.lookAmongDropped(reader)
        let covered = search.lookInRuns(reader, generation)
        try search.lookAmongHeld(reader, after: covered)
        return search.found
    }
}

/// Searches for the events that have given keys.
///
/// Looks among the keys of dropped events, then in the runs, then at the records that no run covers. Compares sources
/// and keys as bytes (I4).
private struct KeySearch {
    /// One for each key, in order; `nil` while it is not found.
    private(set) var found: [SequenceNumber?]
    private let keys: [EventKey]
    private let source: SourceName
    /// The seed of the source: records of other sources are passed over without hashing their keys.
    private let seed: UInt64
    /// Has the secret of the runs if there are any, else a random one. Set before the first hash is made.
    private var hasher = KeyHash.random
    /// The places in `keys` still to be found, by the hash of the key.
    private var sought: [UInt64: [Int]] = [:]

    init(_ keys: [EventKey], of source: SourceName) {
        self.keys = keys
        self.source = source
        seed = KeyHash.seed(of: source)
        found = Array(repeating: nil, count: keys.count)
    }

    mutating func lookAmongDropped(_ reader: LogReader) throws {
        guard try reader.view.count(of: reader.tables.keys) > 0 else { return }
        for (place, key) in keys.enumerated() {
            var text = key.rawValue
            let entry = text.withUTF8 {
                DroppedKeys.entry(source: source, key: UnsafeRawBufferPointer($0), sequence: 0)
            }
            found[place] = try DroppedKeys.sequence(of: entry, in: reader).map { SequenceNumber($0) }
        }
    }

    /// - Returns: the last sequence that needs no further search. Where derived data fails, that is 0: the log has the
    ///   answer (I17).
    mutating func lookInRuns(_ reader: LogReader, _ generation: Generation) -> UInt64 {
        let stored = try? Self.runs(reader, generation)
        if let secret = stored?.list.secret { hasher = KeyHash(secret: secret) }
        seek()
        guard let stored, !sought.isEmpty else { return 0 }
        do {
            var lanes = LaneLookup(reader)
            for hash in sought.keys.sorted() {
                let found = try stored.runs.sequences(of: hash, by: hasher.secret, covered: stored.list.covered)
                for sequence in found {
                    _ = try reader.withRecord(at: sequence) { try look(at: $0, sequence, &lanes) }
                }
            }
            return stored.list.covered
        } catch {
            return 0
        }
    }

    /// The stored runs and their list if they fit this log; else `nil`.
    private static func runs(_ reader: LogReader, _ generation: Generation) throws -> (runs: KeyRuns, list: KeyRunList)?
    {
        guard let store = try generation.existingDerivedStore(), let runs = try KeyRuns(existingIn: store) else {
            return nil
        }
        let list = try runs.list()
        guard list.covered > 0, try reader.begins(with: list.prefix) else { return nil }
        return (runs, list)
    }

    mutating func lookAmongHeld(_ reader: LogReader, after covered: UInt64) throws {
        guard !sought.isEmpty, covered < UInt64.max else { return }
        var lanes = LaneLookup(reader)
        try reader.forEachRecord(in: covered + 1...UInt64.max) { sequence, record in
            try look(at: record, sequence, &lanes)
            return !sought.isEmpty
        }
    }

    /// Fills `sought` with the keys that no dropped event had. Call it once the secret is known.
    private mutating func seek() {
        for (place, key) in keys.enumerated() where found[place] == nil {
            var text = key.rawValue
            let hash = text.withUTF8 { hasher.hash(UnsafeRawBufferPointer($0), seed: seed) }
            sought[hash, default: []].append(place)
        }
    }

    /// Takes the record's sequence for the keys that it has.
    private mutating func look(at record: Record, _ sequence: UInt64, _ lanes: inout LaneLookup) throws {
        guard let key = record.key else { return }
        let lane = try lanes.lane(record.laneNumber)
        guard lane.keySeed == seed, let places = sought[hasher.hash(key, seed: seed)],
            lane.source.rawValue.utf8.elementsEqual(source.rawValue.utf8)
        else { return }
        take(places, key, sequence)
    }

    private mutating func take(_ places: [Int], _ key: UnsafeRawBufferPointer, _ sequence: UInt64) {
        let fitting = places.filter { keys[$0].rawValue.utf8.elementsEqual(key) }
        for place in fitting { found[place] = SequenceNumber(sequence) }
        let hash = hasher.hash(key, seed: seed)
        let rest = places.filter { !fitting.contains($0) }
        sought[hash] = rest.isEmpty ? nil : rest
    }
}
