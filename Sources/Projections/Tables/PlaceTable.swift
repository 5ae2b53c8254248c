/// A hash table from keys to places. Open addressing with linear probing. A bucket has eight bytes: the hash's upper
/// half, which determines the bucket's home, and the place. The table is at most three quarters full and grows by half,
/// so a large one takes 11 to 16 bytes a place.
///
/// The table does not store the keys: the caller of `find` compares them. Entries are never removed, and never listed
/// in the table's order (I26). Places are below 2^32 - 1, as a bucket holds the place + 1 in 32 bits. Never saved: the
/// hashes depend on the process.
struct PlaceTable: Sendable {
    /// Zero for an empty bucket. Otherwise the hash's upper half, and below it the place + 1, which is never zero.
    private var buckets: [UInt64] = []
    private var count = 0
    private let key = TableKey.process
    /// The table grows when `count` reaches this.
    private var limit = 0
    /// A table with fewer buckets than this doubles when it grows.
    private static let smallMax = 1 << 12
    /// This many buckets (64 KiB) fit a processor's cache.
    private static let stretchBuckets = 1 << 13

    init() {}

    /// The hash for `add` and `find` of a key that is two words. Equal in all tables of the process.
    @inline(__always)
    func hash(_ left: UInt64, _ right: UInt64) -> UInt64 { key.hash(left, right) }

    /// The hash of a key that is a word and some bytes.
    @inline(__always)
    func hash(_ word: UInt64, _ bytes: UnsafeRawBufferPointer) -> UInt64 { key.hash(word, bytes) }

    /// The sum of the distances between all places and their homes: what searching each place once costs beyond the
    /// first buckets. O(buckets).
    var stepCount: Int {
        buckets.indices.reduce(0) { sum, index in
            guard buckets[index] != 0 else { return sum }
            let distance = index - Self.home(buckets[index] >> 32, buckets.count)
            return sum + (distance < 0 ? distance + buckets.count : distance)
        }
    }

    /// The place with this hash for which `isWanted` is true; `nil` if none is. `isWanted` must compare the keys, as
    /// hashes collide.
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

    /// Loads the buckets at which the searches for some hashes begin into the processor's cache. The reads follow one
    /// another directly, so their waits for memory overlap. The caller must store the result, which means nothing:
    /// otherwise the compiler could drop the reads.
    @inline(__always)
    func readAhead(_ hashes: UnsafeBufferPointer<UInt64>) -> UInt64 {
        guard !buckets.isEmpty else { return 0 }
        return buckets.withUnsafeBufferPointer { buckets in
            var mixed: UInt64 = 0
            for hash in hashes { mixed ^= buckets[Self.home(hash >> 32, buckets.count)] }
            return mixed
        }
    }

    /// Adds a place that the table lacks. O(1) on average; growing takes O(places) now and then.
    @inline(__always)
    mutating func add(_ hash: UInt64, place: Int) {
        if count >= limit { grow() }
        assert(count < limit && limit < buckets.count, "a search ends only at an empty bucket")
        buckets.withUnsafeMutableBufferPointer {
            Self.put(hash & ~0xFFFF_FFFF | UInt64(truncatingIfNeeded: place &+ 1), in: $0)
        }
        count += 1
    }

    /// Fills the first empty bucket from the home on; there must be one.
    @inline(__always)
    private static func put(_ bucket: UInt64, in buckets: UnsafeMutableBufferPointer<UInt64>) {
        var index = home(bucket >> 32, buckets.count)
        while buckets[index] != 0 { index = after(index, buckets.count) }
        buckets[index] = bucket
    }

    /// The bucket at which a search for a tag begins. Homes grow with the tags, evenly over all buckets: tag · count /
    /// 2^32 (Daniel Lemire, "Fast random integer generation in an interval", 2019) needs no division and accepts any
    /// count.
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
        // Doubling wastes little memory in a small table, and saves moves.
        let more = buckets.count < Self.smallMax ? buckets.count : buckets.count / 2
        resize(to: max(64, buckets.count + more))
    }

    /// Puts every bucket into a larger array. Buckets keep nearly their order, so both arrays are read and written from
    /// one end to the other.
    private mutating func resize(to bucketCount: Int) {
        let old = buckets
        buckets = [UInt64](repeating: 0, count: bucketCount)
        limit = buckets.count - buckets.count / 4
        buckets.withUnsafeMutableBufferPointer { buckets in
            for bucket in old where bucket != 0 { Self.put(bucket, in: buckets) }
        }
    }

    /// Builds the table at once; place *i* has the hash `hashes[i]`. Takes a fraction of the time of single `add`s: the
    /// hashes are sorted roughly first, so the buckets are filled from one end of the table to the other.
    init(hashes: [UInt64]) {
        guard !hashes.isEmpty else { return }
        count = hashes.count
        buckets = [UInt64](repeating: 0, count: count + count / 2 + 64)
        limit = buckets.count - buckets.count / 4
        // A counting sort by stretch: counts, then ends of the stretches before, then each place to its stretch.
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
        assert(ends[stretchCount - 1] == hashes.count, "every place of `sorted` is filled once")
        buckets.withUnsafeMutableBufferPointer { buckets in
            for bucket in sorted { Self.put(bucket, in: buckets) }
        }
    }
}
