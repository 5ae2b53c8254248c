import EventLog
import JSON

/// Writes canonical JSON (RFC 8785) into a buffer that is used again and again.
///
/// The caller is responsible for the structure: brackets, commas, and members sorted by their names' UTF-16 code units.
/// Every write reserves its room first, so the pointer arithmetic stays within `capacity`. Not copyable, so that only
/// one value frees the buffer; for one thread.
struct CanonicalWriter: ~Copyable {
    /// The buffer, which only this value owns. Its first `count` bytes are written; the others are uninitialized or
    /// left over.
    private var room: UnsafeMutableRawPointer
    private var capacity: Int
    private var count = 0
    /// The day of `dayText`, in days since 1970 (UTC); `Int64.min` before the first. Times written together mostly
    /// share their day.
    private var day = Int64.min
    /// The first eight bytes of that day's text, and the four after them, lowest byte first.
    private var dayText: (UInt64, UInt64) = (0, 0)

    /// - Parameter byteCount: the room at first, in bytes; the buffer grows when it is full.
    init(byteCount: Int = 1024) {
        capacity = max(1, byteCount)
        room = .allocate(byteCount: capacity, alignment: 8)
    }

    deinit {
        room.deallocate()
    }

    /// Lends the written bytes to a closure; they are valid only during the call.
    @inline(__always)
    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: room, count: count))
    }

    /// Forgets what was written and keeps the room.
    @inline(__always)
    mutating func reset() {
        count = 0
    }

    /// The number of bytes written.
    var byteCount: Int { count }

    /// Replaces everything behind the first `start` bytes by parts of it, one behind another, which do not overlap.
    ///
    /// The parts are joined behind what is written and then moved to their place.
    mutating func replace(from start: Int, by parts: some Sequence<Range<Int>>) {
        reserve(count - start)
        var end = count
        for part in parts {
            assert(part.lowerBound >= start && part.upperBound <= count, "a part was written")
            assert(end + part.count <= capacity, "parts that do not overlap have room")
            (room + end).copyMemory(from: room + part.lowerBound, byteCount: part.count)
            end += part.count
        }
        (room + start).copyMemory(from: room + count, byteCount: end - count)
        count = start + end - count
    }

    /// Replaces a byte that was written.
    mutating func replaceByte(at offset: Int, by byte: UInt8) {
        assert(offset >= 0 && offset < count, "the byte was written")
        room.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
    }

    /// Takes back the last byte, if any, for an object that goes on.
    mutating func dropLast() {
        count = max(0, count - 1)
    }

    /// Writes text verbatim: braces, or names with their quotes and colons.
    @inline(__always)
    mutating func raw(_ text: StaticString) {
        raw(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Writes text verbatim. Disfavoured, so that a literal is bytes of the program and no `String`.
    @_disfavoredOverload
    mutating func raw(_ text: String) {
        var text = text
        text.withUTF8 { raw(UnsafeRawBufferPointer($0)) }
    }

    /// Writes bytes verbatim.
    mutating func raw(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { raw($0) }
    }

    /// Writes the four bytes of a number, big-endian.
    @inline(__always)
    mutating func raw(_ number: UInt32) {
        reserve(4)
        room.storeBytes(of: number.bigEndian, toByteOffset: count, as: UInt32.self)
        count &+= 4
    }

    /// Writes the eight bytes of a number, big-endian.
    @inline(__always)
    mutating func raw(_ number: UInt64) {
        reserve(8)
        room.storeBytes(of: number.bigEndian, toByteOffset: count, as: UInt64.self)
        count &+= 8
    }

    /// Writes bytes verbatim.
    @inline(__always)
    mutating func raw(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        reserve(bytes.count)
        (room + count).copyMemory(from: start, byteCount: bytes.count)
        count &+= bytes.count
    }

    /// Writes the escape of a control character, quote or backslash.
    mutating func escape(of byte: UInt8) {
        let (word, count) = JSONEscape.written(byte)
        reserve(8)
        put(word, bytes: count)
    }

    @inline(__always)
    private mutating func byte(_ byte: UInt8) {
        reserve(1)
        room.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count &+= 1
    }

    /// Writes the first `bytes` bytes of a word, lowest byte first. Stores all eight, so room for eight must be
    /// reserved; the next write overwrites the rest.
    @inline(__always)
    private mutating func put(_ word: UInt64, bytes: Int) {
        let left = capacity &- count
        assert(left >= 8, "room for a whole word was reserved")
        room.storeBytes(of: word.littleEndian, toByteOffset: count, as: UInt64.self)
        count &+= bytes
    }

    /// Makes room for more bytes behind those written.
    @inline(__always)
    private mutating func reserve(_ more: Int) {
        if capacity &- count < more { grow(more) }
    }

    /// Moves the written bytes into a buffer at least twice as large, so that all moves together cost O(bytes).
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
    /// Writes a whole number, without quotes.
    @inline(__always)
    mutating func number(_ number: UInt64) {
        self.number(number, digits: number.digitCount)
    }

    /// Writes a number that was read from a JSON text; see `JSONNumber.canonicalText`.
    mutating func number(_ digits: JSONDigits) {
        if digits.isCanonical { return raw(digits.bytes) }
        raw(digits.number.canonicalText)
    }

    /// Writes a number in lower-case hexadecimal digits, with leading zeros up to `digits` of them.
    mutating func hex(_ number: UInt64, digits: Int = 1) {
        let count = max(digits, (64 - number.leadingZeroBitCount + 3) / 4)
        for place in (0..<count).reversed() {
            let digit = UInt8(truncatingIfNeeded: number >> UInt64(4 * place) & 15)
            byte(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }

    /// Writes the last `digits` (1 to 24) digits of a whole number, with leading zeros.
    mutating func number(_ number: UInt64, digits: Int) {
        assert((1...24).contains(digits), "three groups of eight digits are written at most")
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

    /// Writes the last `digits` (1 to 8) digits of a number.
    @inline(__always)
    private mutating func putLast(_ digits: Int, of number: UInt64) {
        let text = Self.eightDigits(number % 100_000_000)
        put(text >> UInt64(truncatingIfNeeded: 64 &- 8 &* digits), bytes: digits)
    }

    /// The eight ASCII digits of a number below 10^8, the first one in the lowest byte.
    ///
    /// Splits the number in one word into two groups of four digits, then four of two, then eight of one. `10486 /
    /// 2^20` and `103 / 2^10` replace division by 100 and by 10. (Source: Paul Khuong, "How to print integers really
    /// fast", 2017.)
    @inline(__always)
    private static func eightDigits(_ number: UInt64) -> UInt64 {
        assert(number < 100_000_000, "eight digits hold the number")
        let fours = number / 10_000 | (number % 10_000) << 32
        let hundreds = (fours &* 10_486) >> 20 & 0x0000_007F_0000_007F
        let pairs = hundreds | (fours &- hundreds &* 100) << 16
        let tens = (pairs &* 103) >> 10 & 0x000F_000F_000F_000F
        return (tens | (pairs &- tens &* 10) << 8) | 0x3030_3030_3030_3030
    }

    /// Writes an instant as `Timestamp.description` gives it, with quotes. Its year must be one of 0 to 9999: others
    /// have no four digits.
    mutating func time(_ time: Timestamp) {
        let secondOfDay = (time.seconds % 86_400 + 86_400) % 86_400
        let day = (time.seconds - secondOfDay) / 86_400
        if day != self.day { note(day: day) }
        reserve(48)
        put(dayText.0, bytes: 8)
        put(dayText.1, bytes: 4)
        let clock = UInt64(truncatingIfNeeded: secondOfDay)
        put(Self.clockText(clock), bytes: 8)
        // Two zeros, then six digits. The shift drops the first zero, and the point takes the place of the second.
        let micros = Self.eightDigits(UInt64(time.nanoseconds / 1000) % 1_000_000)
        put(micros >> 8 & ~0xFF | UInt64(UInt8(ascii: ".")), bytes: 7)
        put(UInt64(UInt8(ascii: "Z")) | UInt64(UInt8(ascii: "\"")) << 8, bytes: 2)
    }

    /// The text of a second of the day, such as `08:30:00`, first byte lowest.
    @inline(__always)
    private static func clockText(_ second: UInt64) -> UInt64 {
        let digits = eightDigits(second / 3600 * 1_000_000 + second / 60 % 60 * 1000 + second % 60)
        // The digits are `08030000`; the zeros between the pairs become colons (0x30 ^ 0x0A is 0x3A).
        return digits ^ UInt64(0x0A) << 16 ^ UInt64(0x0A) << 40
    }

    /// Stores the twelve bytes that begin each time of a day: a quote, the date, and `T`. Writes them into the buffer,
    /// copies them from there and takes them back.
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
        let length = count &- start
        assert(length == 12, "the text of a day has twelve bytes")
        // The second word reaches four bytes beyond the twelve; they are not used.
        reserve(8)
        dayText.0 = UInt64(littleEndian: room.loadUnaligned(fromByteOffset: start, as: UInt64.self))
        dayText.1 = UInt64(littleEndian: room.loadUnaligned(fromByteOffset: start + 8, as: UInt64.self))
        count = start
    }
}

// MARK: - Texts

extension CanonicalWriter {
    /// Writes a string that was read from a JSON text, with quotes.
    mutating func string(_ text: JSONText) {
        byte(UInt8(ascii: "\""))
        // A string without escapes contains no character that canonical JSON escapes.
        if text.hasEscapes { appendUnescaped(text) } else { raw(text.bytes) }
        byte(UInt8(ascii: "\""))
    }

    /// Copies runs whole. Only `\u` and `\/` are rewritten; canonical JSON has the other escapes as they are. A `\u`
    /// that canonical JSON escapes otherwise, such as `\u000a`, is unescaped and escaped again.
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

    /// Writes the canonical form of an escape and returns the escape's end. Half a surrogate pair becomes U+FFFD.
    private mutating func appendEscape(of source: UnsafeRawBufferPointer, at start: Int) -> Int {
        let escape = JSONEscape.scalar(source.assumingMemoryBound(to: UInt8.self), at: start)
        let (scalar, length) = escape ?? ("\u{FFFD}", 6)
        if scalar.value < 0x20 || scalar == "\"" || scalar == "\\" {
            self.escape(of: UInt8(truncatingIfNeeded: scalar.value))
        } else {
            for unit in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { byte(unit) }
        }
        return start + length
    }
}

extension UInt64 {
    /// The number of decimal digits; 1 for 0.
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
