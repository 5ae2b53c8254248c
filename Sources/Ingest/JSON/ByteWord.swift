/// Eight bytes at a time: most bytes of a frame are of no interest to whoever looks for a few.
enum ByteWord {
    static let size = 8
    private static let lowBits: UInt64 = 0x0101_0101_0101_0101
    private static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// One byte in all eight places.
    @inline(__always)
    static func all(_ byte: UInt8) -> UInt64 { lowBits &* UInt64(byte) }

    /// Marks of the bytes of a word that are zero, each in its byte's highest bit. The lowest mark is true; higher ones may
    /// be false.
    @inline(__always)
    static func zeros(_ word: UInt64) -> UInt64 { (word &- lowBits) & ~word & highBits }
}

extension UnsafeBufferPointer<UInt8> {
    /// Eight bytes from an index on, the first in the lowest place; so many must be there.
    @inline(__always)
    func word(at index: Int) -> UInt64 {
        UInt64(littleEndian: UnsafeRawBufferPointer(self).loadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    /// Behind the quote that ends a string, from behind the one that begins it; more than the count where none does.
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

    /// Where the first quote or backslash stands from an index on; the count, or more, where there is none.
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
