// MARK: - Keys

extension ReadSession {
    /// Where the event with a key of a source is, held or dropped; `nil` where there is none.
    ///
    /// Cost: as `sequences(of:source:)`.
    public func sequence(of key: EventKey, source: SourceName) throws -> SequenceNumber? {
        try sequences(of: [key], source: source).first ?? nil
    }

    /// Where the events with keys of a source are, held or dropped, one answer a key; `nil` where there is none.
    ///
    /// Cost: O(log n) a key of a dropped event; for the others together one pass over the records of the log, which
    /// ends where all are found.
    public func sequences(of keys: [EventKey], source: SourceName) throws -> [SequenceNumber?] {
        var search = KeySearch(keys, of: source)
        try search.lookAmongDropped(reader)
        try search.lookAmongHeld(reader)
        return search.found
    }
}

/// A search for the events that have given keys.
private struct KeySearch {
    private(set) var found: [SequenceNumber?]
    private let keys: [EventKey]
    private let source: SourceName
    /// The places in `keys` that are still sought, by the hash of the key.
    private var sought: [UInt64: [Int]] = [:]

    init(_ keys: [EventKey], of source: SourceName) {
        self.keys = keys
        self.source = source
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

    mutating func lookAmongHeld(_ reader: LogReader) throws {
        let seed = KeyHash.seed(of: source)
        for (place, key) in keys.enumerated() where found[place] == nil {
            var text = key.rawValue
            let hash = text.withUTF8 { KeyHash.hash(UnsafeRawBufferPointer($0), seed: seed) }
            sought[hash, default: []].append(place)
        }
        guard !sought.isEmpty else { return }
        var lanes = LaneLookup(reader)
        try reader.forEachRecord(in: 1...UInt64.max) { sequence, record in
            guard let key = record.key else { return true }
            let lane = try lanes.lane(record.laneNumber)
            guard lane.keySeed == seed, let places = sought[KeyHash.hash(key, seed: seed)],
                lane.source.rawValue.utf8.elementsEqual(source.rawValue.utf8)
            else { return true }
            take(places, key, sequence)
            return !sought.isEmpty
        }
    }

    private mutating func take(_ places: [Int], _ key: UnsafeRawBufferPointer, _ sequence: UInt64) {
        let fitting = places.filter { keys[$0].rawValue.utf8.elementsEqual(key) }
        for place in fitting { found[place] = SequenceNumber(sequence) }
        let hash = KeyHash.hash(key, seed: KeyHash.seed(of: source))
        let rest = places.filter { !fitting.contains($0) }
        sought[hash] = rest.isEmpty ? nil : rest
    }
}
