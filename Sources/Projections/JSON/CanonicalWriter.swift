import EventLog

/// Writes canonical JSON (RFC 8785) straight into bytes that are used again and again.
///
/// The caller keeps to the rule: members in the order of their names' UTF-16 code units.
struct CanonicalWriter: ~Copyable {
    private var room: UnsafeMutableRawPointer
    private var capacity: Int
    private var count = 0
    /// The day written last, in days since 1970: times written together mostly share it.
    private var day = Int64.min
    /// The first eight bytes of that day's text, and the four after them.
    private var dayText: (UInt64, UInt64) = (0, 0)

    /// - Parameter byteCount: room for so many bytes at first, at least one.
    init(byteCount: Int = 1024) {
        capacity = max(1, byteCount)
        room = .allocate(byteCount: capacity, alignment: 8)
    }

    deinit {
        room.deallocate()
    }

    /// Lends what was written to a closure.
    @inline(__always)
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(UnsafeRawBufferPointer(start: room, count: count))
    }

    /// Forgets what was written and keeps the room.
    @inline(__always)
    mutating func reset() {
        count = 0
    }

    /// Takes back the last byte.
    mutating func dropLast() {
        count = max(0, count - 1)
    }

    /// Text that is written as it is: braces, and names with their quotes and colons.
    @inline(__always)
    mutating func raw(_ text: StaticString) {
        raw(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func raw(_ text: String) {
        var text = text
        text.withUTF8 { raw(UnsafeRawBufferPointer($0)) }
    }

    /// Bytes that are written as they are.
    mutating func raw(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { raw($0) }
    }

    /// A number of 32 bits, big-endian.
    @inline(__always)
    mutating func raw(_ number: UInt32) {
        reserve(4)
        room.storeBytes(of: number.bigEndian, toByteOffset: count, as: UInt32.self)
        count &+= 4
    }

    @inline(__always)
    private mutating func raw(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        reserve(bytes.count)
        (room + count).copyMemory(from: start, byteCount: bytes.count)
        count &+= bytes.count
    }

    @inline(__always)
    private mutating func byte(_ byte: UInt8) {
        reserve(1)
        room.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count &+= 1
    }

    /// The first bytes of a word, its lowest byte first; the room for all eight must have been reserved.
    @inline(__always)
    private mutating func put(_ word: UInt64, bytes: Int) {
        room.storeBytes(of: word.littleEndian, toByteOffset: count, as: UInt64.self)
        count &+= bytes
    }

    @inline(__always)
    private mutating func reserve(_ more: Int) {
        if capacity &- count < more { grow(more) }
    }

    @inline(never)
    private mutating func grow(_ more: Int) {
        capacity = max(2 * capacity, count + more)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
        larger.copyMemory(from: room, byteCount: count)
        room.deallocate()
        room = larger
    }
}

// MARK: - Numbers and times

extension CanonicalWriter {
    /// A whole number, without quotes.
    @inline(__always)
    mutating func number(_ number: UInt64) {
        self.number(number, digits: number.digitCount)
    }

    /// The last so many digits of a whole number, 1 to 24 of them.
    mutating func number(_ number: UInt64, digits: Int) {
        reserve(32)
        if digits <= 8 { return putLast(digits, of: number) }
        let upper = number / 100_000_000
        if digits <= 16 {
            putLast(digits &- 8, of: upper)
        } else {
            putLast(digits &- 16, of: upper / 100_000_000)
            putLast(8, of: upper)
        }
        putLast(8, of: number)
    }

    /// The last so many digits of a number, 1 to 8 of them.
    @inline(__always)
    private mutating func putLast(_ digits: Int, of number: UInt64) {
        let text = Self.eightDigits(number % 100_000_000)
        put(text >> UInt64(truncatingIfNeeded: 64 &- 8 &* digits), bytes: digits)
    }

    /// The eight ASCII digits of a number below 10^8, the first one in the lowest byte.
    ///
    /// Two groups of four digits in one word, then four groups of two, then eight of one; `10486 / 2^20` and `103 / 2^10`
    /// stand for a hundredth and a tenth. (Source: Paul Khuong, "How to print integers really fast", 2017.)
    @inline(__always)
    private static func eightDigits(_ number: UInt64) -> UInt64 {
        let fours = number / 10_000 | (number % 10_000) << 32
        let hundreds = (fours &* 10_486) >> 20 & 0x0000_007F_0000_007F
        let pairs = hundreds | (fours &- hundreds &* 100) << 16
        let tens = (pairs &* 103) >> 10 & 0x000F_000F_000F_000F
        return (tens | (pairs &- tens &* 10) << 8) | 0x3030_3030_3030_3030
    }

    /// An instant as `Timestamp.description`, with its quotes.
    mutating func time(_ time: Timestamp) {
        let secondOfDay = (time.seconds % 86_400 + 86_400) % 86_400
        let day = (time.seconds - secondOfDay) / 86_400
        if day != self.day { note(day: day) }
        reserve(48)
        put(dayText.0, bytes: 8)
        put(dayText.1, bytes: 4)
        let clock = UInt64(truncatingIfNeeded: secondOfDay)
        put(Self.clockText(clock), bytes: 8)
        let micros = Self.eightDigits(UInt64(time.nanoseconds / 1000) % 1_000_000)
        put(micros >> 8 & ~0xFF | UInt64(UInt8(ascii: ".")), bytes: 7)
        put(UInt64(UInt8(ascii: "Z")) | UInt64(UInt8(ascii: "\"")) << 8, bytes: 2)
    }

    /// `08:30:00` for a second of the day.
    @inline(__always)
    private static func clockText(_ second: UInt64) -> UInt64 {
        let digits = eightDigits(second / 3600 * 1_000_000 + second / 60 % 60 * 1000 + second % 60)
        // `08030000`: the zeros between the pairs make way for colons.
        return digits ^ UInt64(0x0A) << 16 ^ UInt64(0x0A) << 40
    }

    /// Takes down the text of a day: a quote, the date, and `T`.
    @inline(never)
    private mutating func note(day: Int64) {
        self.day = day
        let date = CivilDate(daysSince1970: day)
        let start = count
        byte(UInt8(ascii: "\""))
        number(UInt64(clamping: date.year), digits: 4)
        byte(UInt8(ascii: "-"))
        number(UInt64(clamping: date.month), digits: 2)
        byte(UInt8(ascii: "-"))
        number(UInt64(clamping: date.day), digits: 2)
        byte(UInt8(ascii: "T"))
        reserve(8)
        dayText.0 = UInt64(littleEndian: room.loadUnaligned(fromByteOffset: start, as: UInt64.self))
        dayText.1 = UInt64(littleEndian: room.loadUnaligned(fromByteOffset: start + 8, as: UInt64.self))
        count = start
    }
}

// MARK: - Texts

extension CanonicalWriter {
    /// A text that stood in a JSON text, with its quotes.
    mutating func string(_ text: JSONText) {
        byte(UInt8(ascii: "\""))
        // Without escapes there is nothing in it that canonical JSON escapes.
        if text.hasEscapes { appendUnescaped(text) } else { raw(text.bytes) }
        byte(UInt8(ascii: "\""))
    }

    /// Escapes are rare, and short ones are the same in canonical JSON: runs between them are copied whole.
    private mutating func appendUnescaped(_ text: JSONText) {
        let source = text.bytes
        var start = 0
        var index = source.backslash(from: 0)
        while source.count - index > 1 {
            let letter = source[index + 1]
            guard letter == UInt8(ascii: "u") || letter == UInt8(ascii: "/") else {
                index = source.backslash(from: index + 2)
                continue
            }
            raw(UnsafeRawBufferPointer(rebasing: source[start..<index]))
            start = appendEscape(of: source, at: index)
            index = source.backslash(from: start)
        }
        raw(UnsafeRawBufferPointer(rebasing: source[start...]))
    }

    /// Writes what an escape means, and gives its end.
    private mutating func appendEscape(of source: UnsafeRawBufferPointer, at start: Int) -> Int {
        if let unit = JSONText.plainEscape(in: source, at: start) {
            append(unit)
            return start + 6
        }
        let end = JSONText.escapeEnd(in: source, at: start)
        append(JSONText(bytes: UnsafeRawBufferPointer(rebasing: source[start..<end]), hasEscapes: true))
        return end
    }

    /// A scalar below U+10000 in UTF-8.
    private mutating func append(_ scalar: UInt32) {
        let tail = UInt8(truncatingIfNeeded: scalar & 0x3F) | 0x80
        if scalar < 0x80 { return byte(UInt8(truncatingIfNeeded: scalar)) }
        if scalar < 0x800 {
            byte(UInt8(truncatingIfNeeded: scalar >> 6) | 0xC0)
        } else {
            byte(UInt8(truncatingIfNeeded: scalar >> 12) | 0xE0)
            byte(UInt8(truncatingIfNeeded: scalar >> 6 & 0x3F) | 0x80)
        }
        byte(tail)
    }

    private mutating func append(_ escape: JSONText) {
        let quoted = JSONValue.string(escape.string).canonicalBytes
        quoted.withUnsafeBytes { raw(UnsafeRawBufferPointer(rebasing: $0[1..<$0.count - 1])) }
    }
}

extension JSONText {
    /// The scalar of an escape such as `\u0026` at a backslash; `nil` where canonical JSON escapes it, for halves of pairs,
    /// and for other escapes.
    fileprivate static func plainEscape(in bytes: UnsafeRawBufferPointer, at start: Int) -> UInt32? {
        guard bytes.count - start >= 6, bytes[start + 1] == UInt8(ascii: "u") else { return nil }
        var unit: UInt32 = 0
        for index in start + 2..<start + 6 {
            guard let digit = hexDigit(bytes[index]) else { return nil }
            unit = unit << 4 | UInt32(digit)
        }
        let isPlain = unit >= 0x20 && unit != 0x22 && unit != 0x5C && !(0xD800...0xDFFF).contains(unit)
        return isPlain ? unit : nil
    }

    /// Where the escape that begins at a backslash ends, both halves of a surrogate pair taken together.
    fileprivate static func escapeEnd(in bytes: UnsafeRawBufferPointer, at start: Int) -> Int {
        guard bytes[start + 1] == UInt8(ascii: "u") else { return start + 2 }
        let end = min(start + 6, bytes.count)
        let isHigh = bytes[start + 2] | 0x20 == UInt8(ascii: "d") && (hexDigit(bytes[start + 3]) ?? 0) / 4 == 2
        guard isHigh, bytes.count - end >= 6, bytes[end] == UInt8(ascii: "\\"), bytes[end + 1] == UInt8(ascii: "u"),
            bytes[end + 2] | 0x20 == UInt8(ascii: "d"), (hexDigit(bytes[end + 3]) ?? 0) / 4 == 3
        else { return end }
        return end + 6
    }
}

extension UInt64 {
    /// How many decimal digits it has.
    var digitCount: Int {
        var (count, rest) = (1, self)
        while rest >= 10_000 {
            rest /= 10_000
            count += 4
        }
        if rest >= 1000 { return count + 3 }
        if rest >= 100 { return count + 2 }
        if rest >= 10 { return count + 1 }
        return count
    }
}
