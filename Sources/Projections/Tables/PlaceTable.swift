/// Finds places by the hash of what stands there. Open addressing with linear probing; eight bytes a bucket: the hash's
/// upper half, which also says where the bucket belongs, and the place. At most three quarters full and growing by half:
/// of a large table 11 to 16 bytes a place.
///
/// The table does not hold the keys: whoever asks says whether a place is the one. Nothing is ever taken out, and nothing
/// is read out in the table's own order.
struct PlaceTable: Sendable {
    /// Zero: empty. Else the hash's upper half above the place + 1.
    private var buckets: [UInt64] = []
    private var count = 0
    private let key = TableKey.process
    /// How many places it takes before it grows.
    private var limit = 0
    /// Up to so many buckets the table doubles.
    private static let smallMax = 1 << 12
    /// So many buckets lie in a processor's cache together.
    private static let stretchBuckets = 1 << 13

    init() {}

    /// The hash under which a place is added and found: of two words that say together what lies there.
    @inline(__always)
    func hash(_ left: UInt64, _ right: UInt64) -> UInt64 { key.hash(left, right) }

    /// As `hash(_:_:)`, of a word and bytes.
    @inline(__always)
    func hash(_ word: UInt64, _ bytes: UnsafeRawBufferPointer) -> UInt64 { key.hash(word, bytes) }

    /// How many buckets searches for all places pass over together.
    var stepCount: Int {
        buckets.indices.reduce(0) { sum, index in
            guard buckets[index] != 0 else { return sum }
            let distance = index - Self.home(buckets[index] >> 32, buckets.count)
            return sum + (distance < 0 ? distance + buckets.count : distance)
        }
    }

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

    /// Reads where the searches for some hashes begin, one right after another and nothing else between, so that they
    /// wait for memory together: afterwards these buckets are near. The result means nothing; it is there because what
    /// nobody asks for is not read.
    @inline(__always)
    func readAhead(_ hashes: UnsafeBufferPointer<UInt64>) -> UInt64 {
        guard !buckets.isEmpty else { return 0 }
        return buckets.withUnsafeBufferPointer { buckets in
            var mixed: UInt64 = 0
            for hash in hashes { mixed ^= buckets[Self.home(hash >> 32, buckets.count)] }
            return mixed
        }
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

    @inline(never)
    private mutating func grow() {
        // A small table costs nothing; it does not stay small for long.
        let more = buckets.count < Self.smallMax ? buckets.count : buckets.count / 2
        resize(to: max(64, buckets.count + more))
    }

    /// Buckets stay nearly in their order, so that both rows are walked over once.
    private mutating func resize(to bucketCount: Int) {
        let old = buckets
        buckets = [UInt64](repeating: 0, count: bucketCount)
        limit = buckets.count - buckets.count / 4
        buckets.withUnsafeMutableBufferPointer { buckets in
            for bucket in old where bucket != 0 { Self.put(bucket, in: buckets) }
        }
    }

    /// Makes the table of places of which the hashes are known, each at its place: at once, and in a fraction of the time
    /// that adding one after another takes. They are sorted roughly first, so that buckets are filled from one end of the
    /// table to the other.
    init(hashes: [UInt64]) {
        guard !hashes.isEmpty else { return }
        count = hashes.count
        buckets = [UInt64](repeating: 0, count: count + count / 2 + 64)
        limit = buckets.count - buckets.count / 4
        let stretchCount = buckets.count / Self.stretchBuckets + 1
        func stretch(_ hash: UInt64) -> Int { Self.home(hash >> 32, stretchCount) }
        var ends = [Int](repeating: 0, count: stretchCount + 1)
        for hash in hashes { ends[stretch(hash) + 1] += 1 }
        for index in 1...stretchCount { ends[index] += ends[index - 1] }
        var sorted = [UInt64](repeating: 0, count: count)
        for (place, hash) in hashes.enumerated() {
            let stretch = stretch(hash)
            sorted[ends[stretch]] = hash & ~0xFFFF_FFFF | UInt64(truncatingIfNeeded: place &+ 1)
            ends[stretch] += 1
        }
        buckets.withUnsafeMutableBufferPointer { buckets in
            for bucket in sorted { Self.put(bucket, in: buckets) }
        }
    }
}
