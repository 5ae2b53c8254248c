/// Finds places by the hash of what stands there. Open addressing with linear probing, at most two thirds full; eight
/// bytes a bucket: half of the hash and the place.
///
/// The table does not hold the keys: whoever asks says whether a place is the one. Nothing is ever taken out, and nothing
/// is read out in the table's own order.
struct PlaceTable: Sendable {
    /// Zero: empty. Else the hash's upper half above the place + 1.
    private var buckets: [UInt64] = []
    private var count = 0

    init() {}

    @inline(__always)
    func find(_ hash: UInt64, _ isWanted: (Int) -> Bool) -> Int? {
        guard !buckets.isEmpty else { return nil }
        let mask = buckets.count - 1
        var index = Int(truncatingIfNeeded: hash) & mask
        while true {
            let bucket = buckets[index]
            if bucket == 0 { return nil }
            if bucket >> 32 == hash >> 32 {
                let place = Int(bucket & 0xFFFF_FFFF) - 1
                if isWanted(place) { return place }
            }
            index = (index + 1) & mask
        }
    }

    /// Adds a place that is not there yet. `hashOf` gives the hash of a place when the table grows.
    @inline(__always)
    mutating func add(_ hash: UInt64, place: Int, hashOf: (Int) -> UInt64) {
        if (count + 1) * 3 > buckets.count * 2 { grow(hashOf) }
        put(hash & ~0xFFFF_FFFF | UInt64(place + 1), hash)
        count += 1
    }

    @inline(__always)
    private mutating func put(_ bucket: UInt64, _ hash: UInt64) {
        let mask = buckets.count - 1
        var index = Int(truncatingIfNeeded: hash) & mask
        while buckets[index] != 0 { index = (index + 1) & mask }
        buckets[index] = bucket
    }

    @inline(never)
    private mutating func grow(_ hashOf: (Int) -> UInt64) {
        let old = buckets
        buckets = [UInt64](repeating: 0, count: max(64, 2 * old.count))
        for bucket in old where bucket != 0 { put(bucket, hashOf(Int(bucket & 0xFFFF_FFFF) - 1)) }
    }
}
