import EventLog

/// Walks over the bytes of one JSON text, as strictly as `JSONReader`, but knows only the plain forms of things and says
/// `nil` for any other, be it a fault or merely unusual. Borrows the bytes.
struct ByteScanner {
    let bytes: UnsafeRawBufferPointer
    private(set) var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// The byte at the place reached; 0, which may stand nowhere in a JSON text, at the end.
    @inline(__always)
    var current: UInt8 { offset < bytes.count ? bytes[offset] : 0 }

    /// The byte after the one at the place reached; 0 beyond the end.
    @inline(__always)
    var second: UInt8 { bytes.count &- offset > 1 ? bytes[offset &+ 1] : 0 }

    var isAtEnd: Bool { offset == bytes.count }

    @inline(__always)
    mutating func skipSpace() {
        if current > 0x20 { return }
        while current == 0x20 || current == 0x0A || current == 0x0D || current == 0x09 { offset += 1 }
    }

    /// Passes a byte that means itself, after white space; whether it was there.
    @inline(__always)
    mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard current == byte else { return false }
        offset &+= 1
        return true
    }

    /// Passes `null`; whether it was there.
    @inline(__always)
    mutating func takeNull() -> Bool {
        skipSpace()
        guard current == UInt8(ascii: "n"), holds("null", at: offset) else { return false }
        offset += 4
        return true
    }

    /// Passes a literal; whether it stood there.
    @inline(__always)
    mutating func takeLiteral(_ literal: StaticString) -> Bool {
        guard holds(literal, at: offset) else { return false }
        offset += literal.utf8CodeUnitCount
        return true
    }

    /// Passes a member's name and its colon; `nil` also for a name with escapes or other than ASCII.
    @inline(__always)
    mutating func name() -> Range<Int>? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let start = offset
        skipPlain()
        guard current == UInt8(ascii: "\"") else { return nil }
        let name = start..<offset
        offset &+= 1
        return take(UInt8(ascii: ":")) ? name : nil
    }

    /// Whether a literal of at least one byte stands at a place.
    @inline(__always)
    func holds(_ literal: StaticString, at start: Int) -> Bool {
        let count = literal.utf8CodeUnitCount
        guard bytes.count &- start >= count else { return false }
        let wanted = UnsafeRawBufferPointer(start: literal.utf8Start, count: count)
        var index = 0
        while count &- index >= 8 {
            if bytes.word(start &+ index) != wanted.word(index) { return false }
            index &+= 8
        }
        if index == count { return true }
        // The last eight bytes once more, some of them a second time.
        if count > 8 { return bytes.word(start &+ count &- 8) == wanted.word(count &- 8) }
        while index < count {
            if bytes[start &+ index] != wanted[index] { return false }
            index &+= 1
        }
        return true
    }
}

// MARK: - Texts

extension ByteScanner {
    /// Reads a text, checked to the last byte.
    @inline(__always)
    mutating func text() -> JSONText? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let start = offset
        var hasEscapes = false
        while true {
            skipPlain()
            let byte = current
            if byte == UInt8(ascii: "\"") {
                let text = UnsafeRawBufferPointer(rebasing: bytes[start..<offset])
                offset &+= 1
                return JSONText(bytes: text, hasEscapes: hasEscapes)
            }
            if byte == UInt8(ascii: "\\") {
                hasEscapes = true
                guard skipEscape() else { return nil }
            } else {
                guard byte >= 0x80, skipScalar() else { return nil }
            }
        }
    }

    /// Passes bytes of a text that mean themselves, eight at a time; see `JSONReader`.
    @inline(__always)
    private mutating func skipPlain() {
        while bytes.count &- offset >= 8 {
            let marks = Self.marks(bytes.word(offset))
            if marks != 0 {
                offset &+= marks.trailingZeroBitCount / 8
                return
            }
            offset &+= 8
        }
        while isPlain(current) { offset &+= 1 }
    }

    /// A word in which the lowest bit that is set is the top bit of the first byte that does not mean itself.
    @inline(__always)
    private static func marks(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let tops: UInt64 = 0x8080_8080_8080_8080
        let quotes = word ^ ones &* UInt64(UInt8(ascii: "\""))
        let slashes = word ^ ones &* UInt64(UInt8(ascii: "\\"))
        return ((word &- ones &* 0x20) | (quotes &- ones) | (slashes &- ones) | word) & tops
    }

    private func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x80 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private mutating func skipEscape() -> Bool {
        offset &+= 1
        let letter = current
        offset &+= 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return true
        case UInt8(ascii: "u"):
            for _ in 0..<4 {
                guard JSONText.hexDigit(current) != nil else { return false }
                offset &+= 1
            }
            return true
        default: return false
        }
    }

    /// Passes one scalar of two bytes or more; see `JSONReader`.
    private mutating func skipScalar() -> Bool {
        // The most frequent one first: two bytes.
        if bytes.count &- offset >= 2, (0xC2...0xDF).contains(current), bytes[offset &+ 1] & 0xC0 == 0x80 {
            offset &+= 2
            return true
        }
        let second: ClosedRange<UInt8>
        let length: Int
        switch current {
        case 0xC2...0xDF: (second, length) = (0x80...0xBF, 2)
        case 0xE0: (second, length) = (0xA0...0xBF, 3)
        case 0xED: (second, length) = (0x80...0x9F, 3)
        case 0xE1...0xEF: (second, length) = (0x80...0xBF, 3)
        case 0xF0: (second, length) = (0x90...0xBF, 4)
        case 0xF1...0xF3: (second, length) = (0x80...0xBF, 4)
        case 0xF4: (second, length) = (0x80...0x8F, 4)
        default: return false
        }
        guard bytes.count - offset >= length, second.contains(bytes[offset + 1]) else { return false }
        for index in 2..<max(length, 2) where bytes[offset + index] & 0xC0 != 0x80 { return false }
        offset += length
        return true
    }
}

// MARK: - Numbers and times

extension ByteScanner {
    /// Reads a whole number from 0 on without sign, below 2^63.
    @inline(__always)
    mutating func wholeNumber() -> UInt64? {
        skipSpace()
        let start = offset
        guard let value = digits() else { return nil }
        if bytes[start] == UInt8(ascii: "0"), offset > start + 1 { return nil }
        return value
    }

    /// Reads an id that is a number below 2^63 without leading zeros, written as a text or as a number.
    @inline(__always)
    mutating func id() -> UInt64? {
        skipSpace()
        guard current == UInt8(ascii: "\"") else { return wholeNumber() }
        offset &+= 1
        let start = offset
        guard let value = digits(), current == UInt8(ascii: "\"") else { return nil }
        if bytes[start] == UInt8(ascii: "0"), offset > start + 1 { return nil }
        offset &+= 1
        return value
    }

    /// Passes 1 to 19 digits whose number is below 2^63.
    @inline(__always)
    private mutating func digits() -> UInt64? {
        let start = offset
        var value: UInt64 = 0
        while bytes.count - offset >= 8, let eight = Self.eightDigits(bytes.word(offset)) {
            value = value &* 100_000_000 &+ eight
            offset &+= 8
        }
        while case let digit = current &- 0x30, digit < 10 {
            value = value &* 10 &+ UInt64(digit)
            offset &+= 1
        }
        let count = offset - start
        return count > 0 && count < 20 && value < 1 << 63 ? value : nil
    }

    /// The number that eight ASCII digits write; `nil` where one is no digit. (Source: Daniel Lemire, "Quickly parsing
    /// eight digits", 2018.)
    @inline(__always)
    private static func eightDigits(_ word: UInt64) -> UInt64? {
        let high: UInt64 = 0xF0F0_F0F0_F0F0_F0F0
        guard word & high | ((word &+ 0x0606_0606_0606_0606) & high) >> 4 == 0x3333_3333_3333_3333 else { return nil }
        let pairs = ((word & 0x0F0F_0F0F_0F0F_0F0F) &* 2561) >> 8
        let fours = ((pairs & 0x00FF_00FF_00FF_00FF) &* 6_553_601) >> 16
        return ((fours & 0x0000_FFFF_0000_FFFF) &* 42_949_672_960_001) >> 32
    }

    /// Reads a text such as `2026-01-19T08:30:00.25Z`, of a year that `PackedTime` holds.
    @inline(__always)
    mutating func time() -> PackedTime? {
        guard take(UInt8(ascii: "\"")), bytes.count - offset >= 21 else { return nil }
        let start = offset
        guard bytes[start + 4] == UInt8(ascii: "-"), bytes[start + 7] == UInt8(ascii: "-"),
            bytes[start + 10] == UInt8(ascii: "T"), bytes[start + 13] == UInt8(ascii: ":"),
            bytes[start + 16] == UInt8(ascii: ":"), let century = pair(start), let year = pair(start + 2),
            let month = pair(start + 5), let day = pair(start + 8), let hour = pair(start + 11),
            let minute = pair(start + 14), let second = pair(start + 17), hour < 24, minute < 60, second < 60,
            PackedTime.years.contains(century * 100 + year),
            let date = CivilDate(year: century * 100 + year, month: month, day: day)
        else { return nil }
        offset = start + 19
        guard let nanoseconds = fraction(), current == UInt8(ascii: "Z") else { return nil }
        offset &+= 1
        guard current == UInt8(ascii: "\"") else { return nil }
        offset &+= 1
        let clock = hour * 3600 + minute * 60 + second
        return PackedTime(seconds: date.daysSince1970 * 86_400 + clock, nanoseconds: nanoseconds)
    }

    @inline(__always)
    private func pair(_ place: Int) -> Int64? {
        let (tens, ones) = (bytes[place] &- 0x30, bytes[place + 1] &- 0x30)
        return tens < 10 && ones < 10 ? Int64(tens) * 10 + Int64(ones) : nil
    }

    /// Nanoseconds after a point, zero without one; `nil` for more than nine digits or none.
    @inline(__always)
    private mutating func fraction() -> Int64? {
        guard current == UInt8(ascii: ".") else { return 0 }
        offset &+= 1
        var value: Int64 = 0
        var unit: Int64 = 1_000_000_000
        while case let digit = current &- 0x30, digit < 10 {
            guard unit > 1 else { return nil }
            unit /= 10
            value += Int64(digit) * unit
            offset &+= 1
        }
        return unit < 1_000_000_000 ? value : nil
    }
}
