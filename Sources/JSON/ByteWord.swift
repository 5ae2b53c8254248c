/// Tests eight bytes at once. (Source of the tests: Sean Eron Anderson, "Bit Twiddling Hacks", "Determine if a word has
/// a zero byte" and "Determine if a word has a byte less than n".) The first byte is the lowest (`word`), so the number
/// of trailing zero bits of a result gives the first marked byte. Inlined everywhere: most bytes of a log pass through
/// here, and a call would cost as much as the test.
@usableFromInline
package enum ByteWord {
    @usableFromInline
    package static let size = 8
    /// The highest bit of each byte. A word without any of them is ASCII.
    @usableFromInline package static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// A word with `byte` in all eight places.
    @inlinable @inline(__always)
    package static func all(_ byte: UInt8) -> UInt64 { 0x0101_0101_0101_0101 &* UInt64(byte) }

    /// Marks the zero bytes of a word, each by its byte's highest bit. Only the lowest mark is reliable; a higher one
    /// may be false, because borrows run upwards. No mark means no zero byte.
    @inlinable @inline(__always)
    package static func zeros(_ word: UInt64) -> UInt64 {
        (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
    }

    /// Marks the bytes of a JSON string that are not plain: quotes, backslashes, control characters and bytes above
    /// 0x7F. Only the lowest mark is reliable. No mark means that all eight bytes are plain. Each subtraction sets the
    /// highest bit of a byte that matches. No `& ~word` as in `zeros`: the bytes whose mark it would clear are above
    /// 0x7F and marked in any case.
    @inlinable @inline(__always)
    static func specials(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quotes = word ^ ones &* UInt64(UInt8(ascii: "\""))
        let slashes = word ^ ones &* UInt64(UInt8(ascii: "\\"))
        return ((word &- ones &* 0x20) | (quotes &- ones) | (slashes &- ones) | word) & 0x8080_8080_8080_8080
    }

    /// Marks the bytes that JSON strings escape: control characters, quotes and backslashes. Only the lowest mark is
    /// reliable. Bytes above 0x7F are not escaped, so unlike in `specials` they are not marked.
    @inlinable @inline(__always)
    static func escaped(_ word: UInt64) -> UInt64 {
        let controls = (word &- all(0x20)) & ~word & highBits
        return controls | zeros(word ^ all(UInt8(ascii: "\""))) | zeros(word ^ all(UInt8(ascii: "\\")))
    }
}

extension UnsafeRawBufferPointer {
    /// Eight bytes as one little-endian number. They must lie within the buffer; release builds do not check that.
    @inlinable @inline(__always)
    package func word(_ offset: Int) -> UInt64 {
        assert(offset >= 0 && offset + ByteWord.size <= count, "a word lies within the buffer")
        return UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// The next eight bytes from an offset as one little-endian number; bytes beyond the end are zero.
    @inlinable @inline(__always)
    package func partialWord(_ offset: Int) -> UInt64 {
        if count - offset >= 8 { return word(offset) }
        // The last whole word, shifted: one read instead of one for each byte.
        if count >= 8 { return word(count - 8) >> UInt64(8 * (8 - (count - offset))) }
        var word: UInt64 = 0
        for index in offset..<count { word |= UInt64(self[index]) << UInt64(8 * (index - offset)) }
        return word
    }

    /// Whether another buffer contains the same bytes. Compares by words, the last of which may reach back over bytes that are
    /// compared already.
    @inlinable @inline(__always)
    package func isSame(_ other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        if count < 8 { return isSame(asShort: other) }
        var offset = 0
        while count - offset > 8 {
            if word(offset) != other.word(offset) { return false }
            offset += 8
        }
        return word(count - 8) == other.word(count - 8)
    }

    /// `isSame` for two buffers of the same seven bytes at most.
    @inlinable @inline(__always)
    func isSame(asShort other: UnsafeRawBufferPointer) -> Bool {
        func half(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt32 {
            bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        }
        if count >= 4 { return half(self, 0) == half(other, 0) && half(self, count - 4) == half(other, count - 4) }
        var offset = 0
        while offset < count, self[offset] == other[offset] { offset += 1 }
        return offset == count
    }

    /// The offset of the next backslash at or after `start`; `count` if none follows.
    @inlinable @inline(__always)
    package func backslash(from start: Int) -> Int {
        var index = start
        while count - index >= 8 {
            let marks = ByteWord.zeros(word(index) ^ ByteWord.all(UInt8(ascii: "\\")))
            if marks != 0 { return index + marks.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < count, self[index] != UInt8(ascii: "\\") { index += 1 }
        return index
    }

    /// The offset of the next byte at or after `start` that JSON strings escape, a control character, quote or
    /// backslash; `count` if none follows.
    @inlinable
    package func escaped(from start: Int) -> Int {
        var index = start
        while count - index >= ByteWord.size {
            let marks = ByteWord.escaped(word(index))
            if marks != 0 { return index + marks.trailingZeroBitCount / 8 }
            index += ByteWord.size
        }
        while index < count, self[index] >= 0x20, self[index] != 0x22, self[index] != 0x5C { index += 1 }
        return index
    }
}
