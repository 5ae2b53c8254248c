extension EventStore {
    /// Compares the runs of keys in the derived data with the keys of the events. Removes the derived data if they
    /// differ (I17).
    ///
    /// Cost: every event's key is hashed.
    ///
    /// - Returns: how many keys were compared, and what was wrong; `nil` if nothing was.
    /// - Throws: `EventLogError` if the log itself cannot be read.
    package func checkDerivedKeys() throws -> (count: UInt64, damage: String?) {
        try EventLogError.wrapping("check derived data of", path) {
            let generation = try newestGeneration()
            guard let store = try generation.existingDerivedStore(), let runs = try? KeyRuns(existingIn: store) else {
                return (0, nil)
            }
            let (count, isRight) = try generation.read { try runs.compare($0) }
            if isRight { return (count, nil) }
            store.discard()
            return (count, "the runs of keys are not what the events give")
        }
    }
}

extension KeyRuns {
    /// Whether the runs contain each key of the held events up to `covered` once, nothing else, and no key exceeds the
    /// stored maxima.
    fileprivate func compare(_ reader: LogReader) throws -> (count: UInt64, isRight: Bool) {
        var found = KeySum()
        // Runs that cannot be read are wrong runs, not a fault of the log.
        guard let list = try? sum(into: &found) else { return (found.count, false) }
        if list.covered == 0 { return (0, found.count == 0) }
        guard try reader.begins(with: list.prefix), var maxima = KeyMaxima(list.maxima), let secret = list.secret
        else { return (found.count, false) }
        let hasher = KeyHash(secret: secret)
        var expected = KeySum()
        var isBelow = true
        var lanes = LaneLookup(reader)
        try reader.forEachRecord(in: 1...list.covered) { sequence, record in
            guard let key = record.key else { return true }
            let lane = try lanes.lane(record.laneNumber)
            expected.add(KeyIndex.Entry(hash: hasher.hash(key, seed: lane.keySeed), sequence: sequence))
            isBelow = isBelow && !maxima.isAboveAll(key, in: lane)
            return true
        }
        return (expected.count, isBelow && expected == found)
    }

    /// Adds the entries of all listed runs to `sum`. Returns the list.
    private func sum(into sum: inout KeySum) throws -> KeyRunList {
        let list = try list()
        try forEachEntry { sum.add($0) }
        return list
    }
}

/// A sum that tells whether two lists have the same entries, in any order: two sums of 64 bits, so that memory does not
/// grow with the keys. `Hasher` has a seed of this process, so no log can aim at equal sums.
private struct KeySum: Equatable {
    private(set) var count: UInt64 = 0
    private var sums: [UInt64] = [0, 0]

    mutating func add(_ entry: KeyIndex.Entry) {
        count += 1
        for place in sums.indices {
            var hasher = Hasher()
            hasher.combine(place)
            hasher.combine(entry.hash)
            hasher.combine(entry.sequence)
            sums[place] &+= UInt64(bitPattern: Int64(hasher.finalize()))
        }
    }
}
