/// Finds places by the hash of what stands there. Open addressing with linear probing; eight bytes a bucket: the hash's
/// upper half, which also says where the bucket belongs, and the place. At most three quarters full and growing by a
/// quarter: of a large table 11 to 14 bytes a place.
///
/// The table does not hold the keys: whoever asks says whether a place is the one. Nothing is ever taken out, and nothing
/// is read out in the table's own order.
struct PlaceTable: Sendable {
    /// Zero: empty. Else the hash's upper half above the place + 1.
    private var buckets: [UInt64] = []
    private var count = 0
    /// How many places it takes before it grows.
    private var limit = 0
    /// Up to so many buckets the table doubles.
    private static let smallMax = 1 << 12

    init() {}

    @inline(__always)
    func find(_ hash: UInt64, _ isWanted: (Int) -> Bool) -> Int? {
        guard !buckets.isEmpty else { return nil }
        return buckets.withUnsafeBufferPointer { buckets in
            let tag = hash >> 32
            var index = Self.home(tag, buckets.count)
            while true {
                let bucket = buckets[index]
                if bucket == 0 { return nil }
                if bucket >> 32 == tag {
                    let place = Int(truncatingIfNeeded: bucket & 0xFFFF_FFFF) &- 1
                    if isWanted(place) { return place }
                }
                index = Self.after(index, buckets.count)
            }
        }
    }

    /// What stands where a search begins; 0 for nothing.
    @inline(__always)
    func bucket(_ hash: UInt64) -> UInt64 {
        buckets.isEmpty ? 0 : buckets[Self.home(hash >> 32, buckets.count)]
    }

    /// Adds a place that is not there yet.
    @inline(__always)
    mutating func add(_ hash: UInt64, place: Int) {
        if count >= limit { grow() }
        buckets.withUnsafeMutableBufferPointer {
            Self.put(hash & ~0xFFFF_FFFF | UInt64(truncatingIfNeeded: place &+ 1), in: $0)
        }
        count += 1
    }

    @inline(__always)
    private static func put(_ bucket: UInt64, in buckets: UnsafeMutableBufferPointer<UInt64>) {
        var index = home(bucket >> 32, buckets.count)
        while buckets[index] != 0 { index = after(index, buckets.count) }
        buckets[index] = bucket
    }

    /// The bucket that a search for a tag begins at: tags in their order are spread evenly over all buckets.
    @inline(__always)
    private static func home(_ tag: UInt64, _ count: Int) -> Int {
        Int(truncatingIfNeeded: (tag &* UInt64(truncatingIfNeeded: count)) >> 32)
    }

    @inline(__always)
    private static func after(_ index: Int, _ count: Int) -> Int {
        index &+ 1 == count ? 0 : index &+ 1
    }

    /// Buckets stay nearly in their order, so that both rows are walked over once.
    @inline(never)
    private mutating func grow() {
        let old = buckets
        // A small table costs nothing; it does not stay small for long.
        let more = old.count < Self.smallMax ? old.count : old.count / 4
        buckets = [UInt64](repeating: 0, count: max(64, old.count + more))
        limit = buckets.count - buckets.count / 4
        buckets.withUnsafeMutableBufferPointer { buckets in
            for bucket in old where bucket != 0 { Self.put(bucket, in: buckets) }
        }
    }
}
