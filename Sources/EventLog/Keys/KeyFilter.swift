/// Tells for most hashes that they were never inserted: a Bloom filter in which a hash sets eight bits of one cache
/// line (Putze, Sanders and Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2007).
///
/// It takes two bytes a hash. It grows by a further layer as large as all before, so that nothing is ever rehashed;
/// each layer lets about one absent hash in a thousand pass.
struct KeyFilter {
    private struct Layer {
        private(set) var words: [UInt64]
        /// After this many hashes, further ones go to the next layer.
        let capacity: Int
        var count = 0
        private let blockMask: UInt64

        init(capacity: Int) {
            // A block is a cache line of 512 bits for 32 hashes: 16 bits for each.
            var blocks = 1
            while blocks * 32 < capacity { blocks *= 2 }
            self.capacity = blocks * 32
            assert(blocks & (blocks - 1) == 0, "the filter's mask needs a power of two")
            blockMask = UInt64(blocks - 1)
            words = Array(repeating: 0, count: blocks * 8)
        }

        /// The block comes from the upper half of the hash, the bits from the whole hash mixed once more.
        @inline(__always)
        private func place(_ hash: UInt64) -> (start: Int, bits: UInt64) {
            (Int((hash >> 32) & blockMask) << 3, hash &* 0x9E37_79B9_7F4A_7C15)
        }

        @inline(__always)
        func contains(_ hash: UInt64) -> Bool {
            let (start, bits) = place(hash)
            var missing: UInt64 = 0
            for word in 0..<8 {
                let bit: UInt64 = 1 << ((bits >> UInt64(word * 6 + 8)) & 63)
                missing |= bit & ~words[start + word]
            }
            return missing == 0
        }

        @inline(__always)
        mutating func insert(_ hash: UInt64) {
            let (start, bits) = place(hash)
            for word in 0..<8 { words[start + word] |= 1 << ((bits >> UInt64(word * 6 + 8)) & 63) }
            count += 1
        }
    }

    private static let layerCapacityMin = 1 << 20
    private var layers: [Layer]

    /// A filter whose first layer has room for `capacity` hashes.
    init(capacity: Int) {
        layers = [Layer(capacity: max(capacity, Self.layerCapacityMin))]
    }

    /// False if the hash was certainly never inserted.
    @inline(__always)
    func mayContain(_ hash: UInt64) -> Bool {
        layers.contains { $0.contains(hash) }
    }

    mutating func insert(_ hash: UInt64) {
        let last = layers.count - 1
        if layers[last].count < layers[last].capacity { return layers[last].insert(hash) }
        // As large as all layers so far, so that a lookup passes few layers.
        layers.append(Layer(capacity: layers.reduce(0) { $0 + $1.capacity }))
        layers[last + 1].insert(hash)
    }
}
