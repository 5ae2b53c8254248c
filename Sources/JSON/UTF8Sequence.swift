/// Sequences of UTF-8 (RFC 3629). Not `String`'s own check, which copies the bytes and does not tell where a fault is.
@usableFromInline
package enum UTF8Sequence {
    /// The length of the well-formed sequence at an address, from 1 to 4; 0 if none begins there. By table 3-7 of the
    /// Unicode standard, version 15.
    ///
    /// - Parameter left: How many bytes may be read, at least one.
    @usableFromInline
    package static func length(_ place: UnsafePointer<UInt8>, left: Int) -> Int {
        let lead = place[0]
        if lead < 0x80 { return 1 }
        // The second byte's range excludes overlong forms (E0, F0), surrogates (ED) and scalars above U+10FFFF (F4).
        let second: ClosedRange<UInt8>
        let length: Int
        switch lead {
        case 0xC2...0xDF: (second, length) = (0x80...0xBF, 2)
        case 0xE0: (second, length) = (0xA0...0xBF, 3)
        case 0xED: (second, length) = (0x80...0x9F, 3)
        case 0xE1...0xEF: (second, length) = (0x80...0xBF, 3)
        case 0xF0: (second, length) = (0x90...0xBF, 4)
        case 0xF1...0xF3: (second, length) = (0x80...0xBF, 4)
        case 0xF4: (second, length) = (0x80...0x8F, 4)
        default: return 0
        }
        guard left >= length, second.contains(place[1]) else { return 0 }
        // The second byte was checked above. The range is empty for sequences of two bytes.
        for index in 2..<max(length, 2) where place[index] & 0xC0 != 0x80 { return 0 }
        return length
    }

    /// The index of the first byte at or after `start` that is not part of well-formed UTF-8; `count` if none is. ASCII
    /// is passed eight bytes at a time.
    package static func firstFault(in bytes: UnsafeBufferPointer<UInt8>, from start: Int = 0) -> Int {
        guard let base = bytes.baseAddress else { return 0 }
        var index = start
        while index < bytes.count {
            if bytes.count - index >= ByteWord.size {
                // Eight bytes of ASCII at once; the byte order does not matter for that question.
                let eight = UnsafeRawPointer(base + index).loadUnaligned(as: UInt64.self)
                if eight & ByteWord.highBits == 0 {
                    index += ByteWord.size
                    continue
                }
            }
            let length = length(base + index, left: bytes.count - index)
            if length == 0 { return index }
            index += length
        }
        return bytes.count
    }
}
