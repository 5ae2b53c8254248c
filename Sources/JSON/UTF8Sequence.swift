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

    /// How many bytes from an address on are part of a JSON text as it is written: well-formed UTF-8 without quotes,
    /// backslashes and control characters. Tested sixteen at a time, so it may end before the last such byte, but only
    /// between two scalars.
    ///
    /// - Parameters:
    ///   - place: where a scalar begins; the three bytes before must be readable.
    ///   - left: How many bytes may be read.
    @usableFromInline
    static func plainCount(_ place: UnsafePointer<UInt8>, left: Int) -> Int {
        var count = 0
        while left - count >= 16 {
            let marks = unsafeBitCast(marks(place + count), to: SIMD2<UInt64>.self)
            if marks == SIMD2(0, 0) {
                count += 16
                continue
            }
            // The first byte of a number in memory is its lowest.
            let low = UInt64(littleEndian: marks[0])
            count +=
                low != 0 ? low.trailingZeroBitCount / 8 : 8 + UInt64(littleEndian: marks[1]).trailingZeroBitCount / 8
            break
        }
        // Back to the beginning of the last scalar, which may be cut.
        var back = 1
        while back < min(4, count), place[count - back] & 0xC0 == 0x80 { back += 1 }
        return back <= count && place[count - back] >= 0xC0 ? count - back : count
    }

    /// Marks those of sixteen bytes that end a text, or are wrong behind the three bytes before: by table 3-7 of the Unicode
    /// standard, as `length`. Behind the first wrong byte, marks mean nothing. Every operation has two vectors: those with
    /// a number are many times as slow.
    @inline(__always)
    private static func marks(_ place: UnsafePointer<UInt8>) -> SIMDMask<SIMD16<Int8>> {
        func sixteen(_ offset: Int) -> SIMD16<UInt8> {
            UnsafeRawPointer(place + offset).loadUnaligned(as: SIMD16<UInt8>.self)
        }
        func all(_ byte: UInt8) -> SIMD16<UInt8> { SIMD16(repeating: byte) }
        let (bytes, first, second, third) = (sixteen(0), sixteen(-1), sixteen(-2), sixteen(-3))
        let ends = (bytes .< all(0x20)) .| (bytes .== all(UInt8(ascii: "\""))) .| (bytes .== all(UInt8(ascii: "\\")))
        // A byte goes on with a scalar exactly if one of the bytes before is a lead that reaches here.
        let goesOn = (bytes & all(0xC0)) .== all(0x80)
        let isReached = (first .>= all(0xC0)) .| (second .>= all(0xE0)) .| (third .>= all(0xF0))
        let isNoLead = ((bytes & all(0xFE)) .== all(0xC0)) .| (bytes .>= all(0xF5))
        let isOverlong =
            ((first .== all(0xE0)) .& (bytes .< all(0xA0))) .| ((first .== all(0xF0)) .& (bytes .< all(0x90)))
        let isSurrogate = (first .== all(0xED)) .& (bytes .>= all(0xA0))
        let isTooLarge = (first .== all(0xF4)) .& (bytes .>= all(0x90))
        return ends .| (goesOn .^ isReached) .| isNoLead .| isOverlong .| isSurrogate .| isTooLarge
    }
}
