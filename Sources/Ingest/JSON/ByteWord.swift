/// Searches eight bytes at a time, for searches in which nearly no byte matches.
enum ByteWord {
    static let size = 8
    private static let lowBits: UInt64 = 0x0101_0101_0101_0101
    private static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// A word with `byte` in all eight places.
    @inline(__always)
    static func all(_ byte: UInt8) -> UInt64 { lowBits &* UInt64(byte) }

    /// Marks the zero bytes of a word, each by its byte's highest bit. Only the lowest mark is reliable; a higher one
    /// may be false. No mark means no zero byte.
    @inline(__always)
    static func zeros(_ word: UInt64) -> UInt64 { (word &- lowBits) & ~word & highBits }
}

extension UnsafeBufferPointer<UInt8> {
    /// The eight bytes from `index` on, the first in the lowest place. All eight must lie within the buffer: release
    /// builds do not check.
    @inline(__always)
    func word(at index: Int) -> UInt64 {
        assert(index >= 0 && index + ByteWord.size <= count, "a word lies within the buffer")
        return UInt64(littleEndian: UnsafeRawBufferPointer(self).loadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    /// The index behind the quote that ends a string; `start` is the index behind the opening quote. `count + 1` if no
    /// quote ends it.
    @inline(__always)
    func endOfString(from start: Int) -> Int {
        var index = start
        while true {
            index = firstQuoteOrBackslash(from: index)
            guard index < count else { return count + 1 }
            if self[index] == 0x22 { return index + 1 }
            index += 2
        }
    }

    /// The index of the first quote or backslash at or after `start`; `count` or more if there is none.
    @inline(__always)
    func firstQuoteOrBackslash(from start: Int) -> Int {
        var index = start
        while index + ByteWord.size <= count {
            let word = word(at: index)
            let marks = ByteWord.zeros(word ^ ByteWord.all(0x22)) | ByteWord.zeros(word ^ ByteWord.all(0x5C))
            if marks != 0 { return index + marks.trailingZeroBitCount / 8 }
            index += ByteWord.size
        }
        while index < count, self[index] != 0x22, self[index] != 0x5C { index += 1 }
        return index
    }
}
