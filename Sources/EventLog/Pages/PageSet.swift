/// A set of page numbers, one bit each. The words are in a dictionary and not an array, because a file may have
/// terabytes of holes.
struct PageSet {
    private var words: [UInt64: UInt64] = [:]

    /// Inserts a number; false if the set contained it.
    mutating func insert(_ number: UInt64) -> Bool {
        let bit: UInt64 = 1 << (number & 63)
        let former = words[number / 64, default: 0]
        words[number / 64] = former | bit
        return former & bit == 0
    }
}
