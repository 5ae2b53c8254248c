/// Finds places by the hash of what stands there. Open addressing with linear probing, at most two thirds full; eight
/// bytes a bucket: the hash's upper half, which also says where the bucket belongs, and the place.
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
        return buckets.withUnsafeBufferPointer { buckets in
            let mask = buckets.count &- 1
            let tag = hash >> 32
            var index = Int(truncatingIfNeeded: tag) & mask
            while true {
                let bucket = buckets[index]
                if bucket == 0 { return nil }
                if bucket >> 32 == tag {
                    let place = Int(truncatingIfNeeded: bucket & 0xFFFF_FFFF) &- 1
                    if isWanted(place) { return place }
                }
                index = (index &+ 1) & mask
            }
        }
    }

    /// What stands where a search begins; 0 for nothing.
    @inline(__always)
    func bucket(_ hash: UInt64) -> UInt64 {
        buckets.isEmpty ? 0 : buckets[Int(truncatingIfNeeded: hash >> 32) & (buckets.count &- 1)]
    }

    /// Adds a place that is not there yet.
    @inline(__always)
    mutating func add(_ hash: UInt64, place: Int) {
        if (count + 1) * 3 > buckets.count * 2 { grow() }
        buckets.withUnsafeMutableBufferPointer {
            Self.put(hash & ~0xFFFF_FFFF | UInt64(truncatingIfNeeded: place &+ 1), in: $0)
        }
        count += 1
    }

    @inline(__always)
    private static func put(_ bucket: UInt64, in buckets: UnsafeMutableBufferPointer<UInt64>) {
        let mask = buckets.count &- 1
        var index = Int(truncatingIfNeeded: bucket >> 32) & mask
        while buckets[index] != 0 { index = (index &+ 1) & mask }
        buckets[index] = bucket
    }

    /// Buckets stay nearly in their order, so that both rows are walked over once.
    @inline(never)
    private mutating func grow() {
        let old = buckets
        buckets = [UInt64](repeating: 0, count: max(64, 2 * old.count))
        buckets.withUnsafeMutableBufferPointer { buckets in
            for bucket in old where bucket != 0 { Self.put(bucket, in: buckets) }
        }
    }
}
