import EventLog

/// Scans the bytes of one JSON text, as strictly as `JSONReader`. It reads only the plain forms of values and returns
/// `nil` or false for any other, malformed or merely unusual. Borrows the bytes.
///
/// A scanner is two pointers, so a function that takes one and returns one keeps it in registers.
struct ByteScanner: BitwiseCopyable {
    private(set) var place: UnsafePointer<UInt8>
    private let end: UnsafePointer<UInt8>

    /// `nil` for an empty buffer.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return nil }
        place = start.assumingMemoryBound(to: UInt8.self)
        end = place + bytes.count
    }

    /// The current byte; 0 at the end, a byte that no JSON text contains.
    @inline(__always)
    var current: UInt8 { place < end ? place.pointee : 0 }

    /// The byte after `current`; 0 beyond the end.
    @inline(__always)
    var second: UInt8 { left > 1 ? place[1] : 0 }

    @inline(__always)
    var isAtEnd: Bool { place == end }

    @inline(__always)
    private var left: Int { end - place }

    @inline(__always)
    mutating func skipSpace() {
        if current > 0x20 { return }
        while current == 0x20 || current == 0x0A || current == 0x0D || current == 0x09 { place += 1 }
    }

    /// Skips white space, then passes `byte`; false if another byte follows.
    @inline(__always)
    mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard current == byte else { return false }
        place += 1
        return true
    }

    /// Skips white space, then passes `null`; false if something else follows.
    @inline(__always)
    mutating func takeNull() -> Bool {
        skipSpace()
        return current == UInt8(ascii: "n") && takeLiteral("null")
    }

    /// Passes a literal of at least one byte; false, without moving, if something else follows.
    @inline(__always)
    mutating func takeLiteral(_ literal: StaticString) -> Bool {
        let count = literal.utf8CodeUnitCount
        assert(count > 0, "a literal has at least one byte")
        guard left >= count, Self.isSame(place, literal.utf8Start, count) else { return false }
        place += count
        return true
    }

    /// Passes a member's name without escapes and its colon; false, without moving, if something else follows. `current` must
    /// be the opening quote.
    @inline(__always)
    mutating func takeName(_ name: StaticString) -> Bool {
        let count = name.utf8CodeUnitCount
        guard left > count + 1, Self.isSame(place + 1, name.utf8Start, count), place[count + 1] == UInt8(ascii: "\"")
        else { return false }
        let start = place
        place += count + 2
        if take(UInt8(ascii: ":")) { return true }
        place = start
        return false
    }

    /// Passes any member's name of ASCII without escapes, and its colon; false for other names.
    mutating func passName() -> Bool {
        guard take(UInt8(ascii: "\"")) else { return false }
        skipPlain()
        return take(UInt8(ascii: "\"")) && take(UInt8(ascii: ":"))
    }

    @inline(__always)
    private static func isSame(_ left: UnsafePointer<UInt8>, _ right: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        var index = 0
        while count &- index >= 8 {
            if word(left + index) != word(right + index) { return false }
            index &+= 8
        }
        if index == count { return true }
        // The rest is compared in whole words, which may overlap bytes compared before.
        if count > 8 { return word(left + (count &- 8)) == word(right + (count &- 8)) }
        if count >= 4 {
            return half(left) == half(right) && half(left + (count &- 4)) == half(right + (count &- 4))
        }
        while index < count {
            if left[index] != right[index] { return false }
            index &+= 1
        }
        return true
    }

    /// Eight bytes as one little-endian number.
    @inline(__always)
    private static func word(_ place: UnsafePointer<UInt8>) -> UInt64 {
        UInt64(littleEndian: UnsafeRawPointer(place).loadUnaligned(as: UInt64.self))
    }

    @inline(__always)
    private static func half(_ place: UnsafePointer<UInt8>) -> UInt32 {
        UnsafeRawPointer(place).loadUnaligned(as: UInt32.self)
    }
}

// MARK: - Texts

extension ByteScanner {
    /// Reads a text, checked to the last byte.
    @inline(__always)
    mutating func text() -> JSONText? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let start = place
        var hasEscapes = false
        while true {
            skipPlain()
            let byte = current
            if byte == UInt8(ascii: "\"") {
                let text = UnsafeRawBufferPointer(start: start, count: place - start)
                place += 1
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

    /// Passes the plain bytes of a text, eight at a time: ASCII from 0x20 on, no quote and no backslash. See `JSONReader`.
    @inline(__always)
    private mutating func skipPlain() {
        while left >= 8 {
            let marks = Self.marks(Self.word(place))
            if marks != 0 {
                place += marks.trailingZeroBitCount / 8
                return
            }
            place += 8
        }
        while isPlain(current) { place += 1 }
    }

    /// A word whose lowest set bit is the top bit of the first byte that is not plain. Higher bits may be wrong, as borrows
    /// run upwards. Zero if all eight bytes are plain.
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

    @inline(__always)
    private mutating func skipEscape() -> Bool {
        let letter = second
        guard letter == UInt8(ascii: "u") else {
            place += min(left, 2)
            return Self.isEscape(letter)
        }
        guard left >= 6, JSONText.hexDigit(place[2]) != nil, JSONText.hexDigit(place[3]) != nil,
            JSONText.hexDigit(place[4]) != nil, JSONText.hexDigit(place[5]) != nil
        else { return false }
        place += 6
        return true
    }

    /// Whether a backslash and this letter make an escape of two bytes.
    @inline(__always)
    private static func isEscape(_ letter: UInt8) -> Bool {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return true
        default: return false
        }
    }

    /// Passes one scalar of two bytes or more; see `JSONReader`.
    @inline(__always)
    private mutating func skipScalar() -> Bool {
        // The most frequent one first: two bytes.
        if left >= 2, (0xC2...0xDF).contains(place[0]), place[1] & 0xC0 == 0x80 {
            place += 2
            return true
        }
        return skipLongScalar()
    }

    private mutating func skipLongScalar() -> Bool {
        let second: ClosedRange<UInt8>
        let length: Int
        switch current {
        case 0xE0: (second, length) = (0xA0...0xBF, 3)
        case 0xED: (second, length) = (0x80...0x9F, 3)
        case 0xE1...0xEF: (second, length) = (0x80...0xBF, 3)
        case 0xF0: (second, length) = (0x90...0xBF, 4)
        case 0xF1...0xF3: (second, length) = (0x80...0xBF, 4)
        case 0xF4: (second, length) = (0x80...0x8F, 4)
        default: return false
        }
        guard left >= length, second.contains(place[1]) else { return false }
        for index in 2..<length where place[index] & 0xC0 != 0x80 { return false }
        place += length
        return true
    }
}

// MARK: - Any values

extension ByteScanner {
    /// At most so many objects enclose a value that is passed: the frame, its `d`, an object in `d`.
    private static let levelsAround = 3

    /// Passes one value of any form; false if `JSONReader` would refuse it at this depth.
    mutating func passValue() -> Bool {
        var reader = JSONReader(UnsafeRawBufferPointer(start: place, count: left), within: Self.levelsAround)
        guard (try? reader.skip()) != nil else { return false }
        assert(reader.offset <= left, "a value ends within the text")
        place += reader.offset
        return true
    }

    /// The bytes between `start`, an earlier scanner of the same text, and this one.
    func bytes(from start: ByteScanner) -> UnsafeRawBufferPointer {
        assert(start.place <= place && start.end == end, "both scanners walk over one text, the other one is behind")
        return UnsafeRawBufferPointer(start: start.place, count: place - start.place)
    }
}

// MARK: - Numbers and times

extension ByteScanner {
    /// Reads an unsigned whole number below 2^63, without leading zeros.
    @inline(__always)
    mutating func wholeNumber() -> UInt64? {
        skipSpace()
        let start = place
        guard let value = digits() else { return nil }
        if start.pointee == UInt8(ascii: "0"), place > start + 1 { return nil }
        return value
    }

    /// Reads an id: a number below 2^63 without leading zeros, written as a text or as a number.
    @inline(__always)
    mutating func id() -> UInt64? {
        skipSpace()
        guard current == UInt8(ascii: "\"") else { return wholeNumber() }
        place += 1
        let start = place
        guard let value = digits(), current == UInt8(ascii: "\"") else { return nil }
        if start.pointee == UInt8(ascii: "0"), place > start + 1 { return nil }
        place += 1
        return value
    }

    /// Reads 1 to 19 digits; `nil` from 2^63 on.
    @inline(__always)
    private mutating func digits() -> UInt64? {
        let start = place
        var value: UInt64 = 0
        while left >= 8, let eight = Self.eightDigits(Self.word(place)) {
            value = value &* 100_000_000 &+ eight
            place += 8
        }
        while case let digit = current &- 0x30, digit < 10 {
            value = value &* 10 &+ UInt64(digit)
            place += 1
        }
        let count = place - start
        return count > 0 && count < 20 && value < 1 << 63 ? value : nil
    }

    /// The value of eight ASCII digits; `nil` if one is no digit. (Source: Daniel Lemire, "Quickly parsing eight digits",
    /// 2018.)
    @inline(__always)
    private static func eightDigits(_ word: UInt64) -> UInt64? {
        let high: UInt64 = 0xF0F0_F0F0_F0F0_F0F0
        guard word & high | ((word &+ 0x0606_0606_0606_0606) & high) >> 4 == 0x3333_3333_3333_3333 else { return nil }
        let pairs = ((word & 0x0F0F_0F0F_0F0F_0F0F) &* 2561) >> 8
        let fours = ((pairs & 0x00FF_00FF_00FF_00FF) &* 6_553_601) >> 16
        return ((fours & 0x0000_FFFF_0000_FFFF) &* 42_949_672_960_001) >> 32
    }

    /// Reads a text such as `2026-01-19T08:30:00.25Z`, in UTC, of a year that `PackedTime` holds.
    @inline(__always)
    mutating func time() -> PackedTime? {
        guard take(UInt8(ascii: "\"")), left >= 21 else { return nil }
        guard place[4] == UInt8(ascii: "-"), place[7] == UInt8(ascii: "-"), place[10] == UInt8(ascii: "T"),
            place[13] == UInt8(ascii: ":"), place[16] == UInt8(ascii: ":"), let century = pair(0), let year = pair(2),
            let month = pair(5), let day = pair(8), let hour = pair(11), let minute = pair(14),
            let second = pair(17), hour < 24, minute < 60, second < 60,
            PackedTime.years.contains(century * 100 + year),
            let date = CivilDate(year: century * 100 + year, month: month, day: day)
        else { return nil }
        place += 19
        guard let nanoseconds = fraction(), current == UInt8(ascii: "Z"), self.second == UInt8(ascii: "\"") else {
            return nil
        }
        place += 2
        let clock = hour * 3600 + minute * 60 + second
        return PackedTime(seconds: date.daysSince1970 * 86_400 + clock, nanoseconds: nanoseconds)
    }

    @inline(__always)
    private func pair(_ offset: Int) -> Int64? {
        let (tens, ones) = (place[offset] &- 0x30, place[offset + 1] &- 0x30)
        return tens < 10 && ones < 10 ? Int64(tens) * 10 + Int64(ones) : nil
    }

    /// Reads a point and 1 to 9 digits as nanoseconds; 0 without a point, `nil` for other counts of digits.
    @inline(__always)
    private mutating func fraction() -> Int64? {
        guard current == UInt8(ascii: ".") else { return 0 }
        place += 1
        var value: Int64 = 0
        var unit: Int64 = 1_000_000_000
        while case let digit = current &- 0x30, digit < 10 {
            guard unit > 1 else { return nil }
            unit /= 10
            value += Int64(digit) * unit
            place += 1
        }
        return unit < 1_000_000_000 ? value : nil
    }
}
