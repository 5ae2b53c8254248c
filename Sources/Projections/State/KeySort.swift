/// What `KeySort` sorts: a value with a key of some bytes.
protocol Keyed: BitwiseCopyable {
    /// The length of every key.
    static var keyBytes: Int { get }
    /// A byte of the key, 0 to 255; the first one has the number 0.
    func keyByte(_ number: Int) -> Int
    /// Whether the key stands before another one.
    func isBefore(_ other: Self) -> Bool
}

/// Sorts values by the bytes of their keys: by one byte after another, from the first on, until few share all bytes so
/// far. Keys are hashes and so spread evenly, and each byte divides the values by 256; hence O(n), where comparisons would
/// take O(n log n).
struct KeySort<Value: Keyed> {
    let values: UnsafeMutableBufferPointer<Value>
    /// As large as `values`; what it holds means nothing before and after.
    let room: UnsafeMutableBufferPointer<Value>

    /// The most values that are sorted by insertion: counting 256 bytes would cost more. Computed, as a generic type has
    /// no stored static properties.
    private static var insertedCountMax: Int { 24 }

    /// Sorts the values at some places, whose keys share the bytes before `byte`. Recursion goes at most as deep as a key
    /// has bytes.
    func sort(_ places: Range<Int>, byte: Int) {
        if places.count <= Self.insertedCountMax { return insert(places) }
        // Equal keys share all bytes.
        guard byte < Value.keyBytes else { return }
        withUnsafeTemporaryAllocation(of: Int.self, capacity: 256) { ends in
            ends.initialize(repeating: 0)
            for place in places { ends[values[place].keyByte(byte)] += 1 }
            var start = places.lowerBound
            for value in 0..<256 { (start, ends[value]) = (start + ends[value], start) }
            for place in places {
                let value = values[place].keyByte(byte)
                room[ends[value]] = values[place]
                ends[value] += 1
            }
            for place in places { values[place] = room[place] }
            start = places.lowerBound
            for value in 0..<256 {
                if ends[value] - start > 1 { sort(start..<ends[value], byte: byte + 1) }
                start = ends[value]
            }
        }
    }

    private func insert(_ places: Range<Int>) {
        for place in places.dropFirst() {
            let value = values[place]
            var hole = place
            while hole > places.lowerBound, value.isBefore(values[hole - 1]) {
                values[hole] = values[hole - 1]
                hole -= 1
            }
            values[hole] = value
        }
    }
}

extension UInt128: Keyed {
    static var keyBytes: Int { 16 }

    func keyByte(_ number: Int) -> Int { Int(truncatingIfNeeded: self >> (120 - 8 * number)) & 0xFF }

    func isBefore(_ other: UInt128) -> Bool { self < other }
}

extension [UInt128] {
    /// Sorts hashes, smallest first.
    mutating func sortHashes() {
        withUnsafeMutableBufferPointer { values in
            withUnsafeTemporaryAllocation(of: UInt128.self, capacity: values.count) { room in
                KeySort(values: values, room: room).sort(values.indices, byte: 0)
            }
        }
    }
}
