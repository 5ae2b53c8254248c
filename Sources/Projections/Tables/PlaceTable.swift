/// A hash table from keys to places. Open addressing with linear probing. The table is at most three quarters full and
/// grows by half, so a large one takes 5.5 to 8 bytes a place.
///
/// A bucket has four bytes: the place + 1 in as many bits as the table's places need, and above it a tag, as many of the
/// hash's bits as there is room for. The hash's upper half gives both: its upper bits determine the bucket's home, and its
/// lower ones are the tag.
///
/// The table does not store the keys: the caller of `find` compares them, and the caller of `grow` gives their hashes.
/// Entries are never removed, and never listed in the table's order (I26). Places are below 2^32 - 1. Never saved: the
/// hashes depend on the process.
struct PlaceTable: Sendable {
    /// Zero for an empty bucket, as no place + 1 is.
    private var buckets: [UInt32] = []
    private var count = 0
    /// The key of the hashes.
    let key = TableKey.process
    /// The table must grow when `count` reaches this.
    private var limit = 0
    /// How many bits of a bucket are the place + 1, and these bits.
    private var placeBits: UInt64 = 0
    private var placeMask: UInt32 = 0
    /// A table with fewer buckets than this doubles when it grows.
    private static let smallMax = 1 << 12
    /// This many buckets (32 KiB) fit a processor's cache.
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
    ///
    /// - Parameter hash: gives the hash of a place in the table.
    func stepCount(_ hash: (Int) -> UInt64) -> Int {
        buckets.indices.reduce(0) { sum, index in
            guard buckets[index] != 0 else { return sum }
            let distance = index - Self.home(hash(place(in: buckets[index])), buckets.count)
            return sum + (distance < 0 ? distance + buckets.count : distance)
        }
    }

    /// The place with this hash for which `isWanted` is true; `nil` if none is. `isWanted` must compare the keys, as
    /// hashes collide.
    @inline(__always)
    func find(_ hash: UInt64, _ isWanted: (Int) -> Bool) -> Int? {
        guard !buckets.isEmpty else { return nil }
        return buckets.withUnsafeBufferPointer { buckets in
            let (tag, mask) = (tag(of: hash), placeMask)
            var index = Self.home(hash, buckets.count)
            while true {
                let bucket = buckets[index]
                if bucket == 0 { return nil }
                if (bucket ^ tag) & ~mask == 0 {
                    let place = Int(bucket & mask) &- 1
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
            for hash in hashes { mixed ^= UInt64(buckets[Self.home(hash, buckets.count)]) }
            return mixed
        }
    }

    /// Whether the table must `grow` before a place is added.
    @inline(__always)
    func isFull(for place: Int) -> Bool { count >= limit || place &+ 1 > Int(placeMask) }

    /// Adds a place that the table lacks, and for which it must not be full. O(1).
    @inline(__always)
    mutating func add(_ hash: UInt64, place: Int) {
        assert(!isFull(for: place) && limit < buckets.count, "a search ends only at an empty bucket")
        let bucket = tag(of: hash) | UInt32(truncatingIfNeeded: place &+ 1)
        buckets.withUnsafeMutableBufferPointer { Self.put(bucket, hash, in: $0) }
        count += 1
    }

    /// Makes room for a place, in O(places); O(1) for each place added, on average.
    ///
    /// - Parameter hash: gives the hash of a place in the table.
    @inline(never)
    mutating func grow(for place: Int, _ hash: (Int) -> UInt64) {
        let old = self
        if count >= limit {
            // Doubling wastes little memory in a small table, and saves moves.
            let more = buckets.count < Self.smallMax ? buckets.count : buckets.count / 2
            resize(to: max(64, buckets.count + more), for: place)
        } else {
            resize(to: buckets.count, for: place)
        }
        if old.count == place {
            // All places before: their keys are read in the order of memory.
            for place in 0..<place { add(hash(place), place: place) }
        } else {
            for place in old.buckets.lazy.map({ old.place(in: $0) }) where place >= 0 { add(hash(place), place: place) }
        }
        assert(count == old.count, "every place is moved")
    }

    /// Empties the table and gives it so many buckets, for places up to one.
    private mutating func resize(to bucketCount: Int, for place: Int) {
        buckets = [UInt32](repeating: 0, count: bucketCount)
        count = 0
        limit = bucketCount - bucketCount / 4
        placeBits = UInt64(Int.bitWidth - max(limit, place + 1).leadingZeroBitCount)
        assert(placeBits <= UInt32.bitWidth, "a bucket has room for every place")
        placeMask = UInt32(truncatingIfNeeded: (1 as UInt64) << placeBits - 1)
    }

    @inline(__always)
    private func place(in bucket: UInt32) -> Int { Int(bucket & placeMask) &- 1 }

    /// The bits above the place; none where the place takes all.
    @inline(__always)
    private func tag(of hash: UInt64) -> UInt32 {
        UInt32(truncatingIfNeeded: (hash >> 32) &<< placeBits)
    }

    /// Fills the first empty bucket from the home on; there must be one.
    @inline(__always)
    private static func put(_ bucket: UInt32, _ hash: UInt64, in buckets: UnsafeMutableBufferPointer<UInt32>) {
        var index = home(hash, buckets.count)
        while buckets[index] != 0 { index = after(index, buckets.count) }
        buckets[index] = bucket
    }

    /// The bucket at which a search for a hash begins. Homes grow with the hashes, evenly over all buckets: upper half ·
    /// count / 2^32 (Daniel Lemire, "Fast random integer generation in an interval", 2019) needs no division and accepts
    /// any count.
    @inline(__always)
    private static func home(_ hash: UInt64, _ count: Int) -> Int {
        Int(truncatingIfNeeded: ((hash >> 32) &* UInt64(truncatingIfNeeded: count)) >> 32)
    }

    @inline(__always)
    private static func after(_ index: Int, _ count: Int) -> Int {
        index &+ 1 == count ? 0 : index &+ 1
    }

    /// Builds the table at once; place *i* has the hash `hashes[i]`. Takes a fraction of the time of single `add`s: the
    /// hashes are sorted roughly first, so the buckets are filled from one end of the table to the other.
    init(hashes: [UInt64]) {
        guard !hashes.isEmpty else { return }
        resize(to: hashes.count + hashes.count / 2 + 64, for: hashes.count)
        // A counting sort by stretch: counts, then ends of the stretches before, then each place to its stretch.
        let stretchCount = buckets.count / Self.stretchBuckets + 1
        func stretch(_ hash: UInt64) -> Int { Self.home(hash, stretchCount) }
        var ends = [Int](repeating: 0, count: stretchCount + 1)
        for hash in hashes { ends[stretch(hash) + 1] += 1 }
        for index in 1...stretchCount { ends[index] += ends[index - 1] }
        // The upper half of each hash, and the place below it.
        var sorted = [UInt64](repeating: 0, count: hashes.count)
        for (place, hash) in hashes.enumerated() {
            let stretch = stretch(hash)
            sorted[ends[stretch]] = hash & ~0xFFFF_FFFF | UInt64(truncatingIfNeeded: place)
            ends[stretch] += 1
        }
        assert(ends[stretchCount - 1] == hashes.count, "every place of `sorted` is filled once")
        for hash in sorted { add(hash, place: Int(truncatingIfNeeded: hash & 0xFFFF_FFFF)) }
    }
}
