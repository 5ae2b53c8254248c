import JSON

/// Numbers of variable length: LEB128 (seven bits a byte, the lowest first, the top bit set before another byte),
/// signed ones in zigzag (0, -1, 1, -2 become 0, 1, 2, 3), so that small ones of either sign are short.
extension [UInt8] {
    @inline(__always)
    mutating func appendNumber(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }

    @inline(__always)
    mutating func appendSigned(_ value: Int64) {
        appendNumber(UInt64(bitPattern: value &<< 1 ^ value &>> 63))
    }
}

/// Reads numbers that `appendNumber` and `appendSigned` wrote, and other bytes between them. Borrows the bytes. Accepts
/// any bytes: `nil` means that they end early or that a number is too long. Such a number may have moved the position.
struct NumberReader {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { offset == bytes.count }

    /// The bytes that were not read yet, borrowed.
    var rest: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[offset...]) }

    /// Passes over the rest.
    mutating func skipAll() {
        offset = bytes.count
    }

    @inline(__always)
    mutating func byte() -> UInt8? {
        guard offset < bytes.count else { return nil }
        defer { offset += 1 }
        return bytes[offset]
    }

    /// The next `count` bytes, borrowed; `nil`, without moving, if fewer are left.
    @inline(__always)
    mutating func bytes(_ count: UInt64) -> UnsafeRawBufferPointer? {
        guard count <= UInt64(bytes.count - offset) else { return nil }
        defer { offset += Int(count) }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + Int(count)])
    }

    @inline(__always)
    mutating func signed() -> Int64? {
        number().map { Int64(bitPattern: $0 >> 1) ^ -Int64($0 & 1) }
    }

    /// Reads up to eight bytes as one word: most numbers need no loop.
    @inline(__always)
    mutating func number() -> UInt64? {
        guard bytes.count - offset >= 8 else { return numberByBytes(0, 0) }
        let word = bytes.word(offset)
        // A clear top bit marks a number's last byte.
        let ends = ~word & 0x8080_8080_8080_8080
        // A longer number ends beyond this word.
        guard ends != 0 else {
            offset += 8
            return numberByBytes(Self.joined(word & 0x7F7F_7F7F_7F7F_7F7F), 56)
        }
        offset += ends.trailingZeroBitCount / 8 + 1
        assert(offset <= bytes.count, "a number of at most eight bytes ends within its word")
        // `ends ^ (ends - 1)` has all bits up to the first mark, so later numbers in the word are left out.
        return Self.joined(word & (ends ^ (ends &- 1)) & 0x7F7F_7F7F_7F7F_7F7F)
    }

    /// Joins eight groups of seven bits, one a byte, into 56 bits: pairs of groups, then pairs of pairs, then both
    /// halves.
    @inline(__always)
    private static func joined(_ groups: UInt64) -> UInt64 {
        var bits = groups
        bits = (bits & 0x7F00_7F00_7F00_7F00) >> 1 | bits & 0x007F_007F_007F_007F
        bits = (bits & 0x3FFF_0000_3FFF_0000) >> 2 | bits & 0x0000_3FFF_0000_3FFF
        return (bits & 0x0FFF_FFFF_0000_0000) >> 4 | bits & 0x0000_0000_0FFF_FFFF
    }

    /// Reads the rest of a number whose `lowerBits` lower bits are known. At most ten bytes make a number; bits beyond
    /// 64 are dropped.
    private mutating func numberByBytes(_ lower: UInt64, _ lowerBits: UInt64) -> UInt64? {
        var value = lower
        var shift = lowerBits
        while offset < bytes.count, shift < 70 {
            let byte = bytes[offset]
            offset += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        return nil
    }
}
