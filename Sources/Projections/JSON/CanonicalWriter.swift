import EventLog

/// Writes canonical JSON (RFC 8785) straight into bytes that are used again and again.
///
/// The caller keeps to the rule: members in the order of their names' UTF-16 code units.
struct CanonicalWriter: ~Copyable {
    private var room: UnsafeMutableRawBufferPointer
    private var count = 0

    init() {
        room = .allocate(byteCount: 1024, alignment: 8)
    }

    deinit {
        room.deallocate()
    }

    /// Lends what was written to a closure.
    @inline(__always)
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(UnsafeRawBufferPointer(rebasing: room[..<count]))
    }

    /// Forgets what was written and keeps the room.
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

    /// A number of 32 bits, big-endian.
    mutating func raw(_ number: UInt32) {
        reserve(4)
        room.storeBytes(of: number.bigEndian, toByteOffset: count, as: UInt32.self)
        count &+= 4
    }

    @inline(__always)
    private mutating func raw(_ bytes: UnsafeRawBufferPointer) {
        reserve(bytes.count)
        UnsafeMutableRawBufferPointer(rebasing: room[count..<count &+ bytes.count]).copyMemory(from: bytes)
        count &+= bytes.count
    }

    @inline(__always)
    private mutating func byte(_ byte: UInt8) {
        reserve(1)
        room[count] = byte
        count &+= 1
    }

    @inline(__always)
    private mutating func reserve(_ more: Int) {
        if room.count &- count < more { grow(more) }
    }

    @inline(never)
    private mutating func grow(_ more: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: max(2 * room.count, count + more), alignment: 8)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: room[..<count]))
        room.deallocate()
        room = larger
    }

    /// A whole number, without quotes.
    @inline(__always)
    mutating func number(_ number: UInt64) {
        self.number(number, digits: number.digitCount)
    }

    /// A whole number of so many digits.
    mutating func number(_ number: UInt64, digits: Int) {
        reserve(digits)
        var (rest, place) = (number, count &+ digits)
        while place &- count >= 2 {
            let (quotient, pair) = rest.quotientAndRemainder(dividingBy: 100)
            place &-= 2
            room[place] = 0x30 &+ UInt8(truncatingIfNeeded: pair / 10)
            room[place &+ 1] = 0x30 &+ UInt8(truncatingIfNeeded: pair % 10)
            rest = quotient
        }
        if place > count { room[count] = 0x30 &+ UInt8(truncatingIfNeeded: rest % 10) }
        count &+= digits
    }

    /// A text that stood in a JSON text, with its quotes.
    mutating func string(_ text: JSONText) {
        byte(UInt8(ascii: "\""))
        // Without escapes there is nothing in it that canonical JSON escapes.
        if text.hasEscapes { appendUnescaped(text) } else { raw(text.bytes) }
        byte(UInt8(ascii: "\""))
    }

    /// An instant as `Timestamp.description`, with its quotes.
    mutating func time(_ time: Timestamp) {
        let secondOfDay = (time.seconds % 86_400 + 86_400) % 86_400
        let date = CivilDate(daysSince1970: (time.seconds - secondOfDay) / 86_400)
        byte(UInt8(ascii: "\""))
        number(UInt64(clamping: date.year), digits: 4)
        byte(UInt8(ascii: "-"))
        number(UInt64(clamping: date.month), digits: 2)
        byte(UInt8(ascii: "-"))
        number(UInt64(clamping: date.day), digits: 2)
        byte(UInt8(ascii: "T"))
        number(UInt64(clamping: secondOfDay / 3600), digits: 2)
        byte(UInt8(ascii: ":"))
        number(UInt64(clamping: secondOfDay / 60 % 60), digits: 2)
        byte(UInt8(ascii: ":"))
        number(UInt64(clamping: secondOfDay % 60), digits: 2)
        byte(UInt8(ascii: "."))
        number(UInt64(time.nanoseconds / 1000), digits: 6)
        raw("Z\"")
    }

    /// Escapes are rare, and short ones are the same in canonical JSON: runs between them are copied whole.
    private mutating func appendUnescaped(_ text: JSONText) {
        let source = text.bytes
        var start = 0
        var index = 0
        while index < source.count {
            while source.count - index >= 8, !Self.hasBackslash(source.word(index)) { index += 8 }
            guard index < source.count else { break }
            guard source[index] == UInt8(ascii: "\\"), index + 1 < source.count else {
                index += 1
                continue
            }
            let letter = source[index + 1]
            if letter != UInt8(ascii: "u"), letter != UInt8(ascii: "/") {
                index += 2
                continue
            }
            raw(UnsafeRawBufferPointer(rebasing: source[start..<index]))
            let end = JSONText.escapeEnd(in: source, at: index)
            append(JSONText(bytes: UnsafeRawBufferPointer(rebasing: source[index..<end]), hasEscapes: true))
            index = end
            start = end
        }
        raw(UnsafeRawBufferPointer(rebasing: source[start...]))
    }

    @inline(__always)
    private static func hasBackslash(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let marks = word ^ ones &* UInt64(UInt8(ascii: "\\"))
        return (marks &- ones) & ~marks & ones << 7 != 0
    }

    private mutating func append(_ escape: JSONText) {
        let quoted = JSONValue.string(escape.string).canonicalBytes
        quoted.withUnsafeBytes { raw(UnsafeRawBufferPointer(rebasing: $0[1..<$0.count - 1])) }
    }
}

extension JSONText {
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
