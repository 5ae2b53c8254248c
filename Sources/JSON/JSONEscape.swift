/// The escapes of JSON strings (RFC 8259, section 7).
///
/// `codeUnit` and `scalar` check bounds themselves, so they may get bytes that no reader has checked.
package enum JSONEscape {
    /// The code unit of the `\u` escape at an index; `nil` if no such escape begins there. An index behind the end is
    /// allowed.
    package static func codeUnit(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> UInt16? {
        guard bytes.count - index >= 6, bytes[index] == 0x5C, bytes[index + 1] == 0x75 else { return nil }
        var value: UInt16 = 0
        for offset in 2..<6 {
            guard let digit = JSONText.hexDigit(bytes[index + offset]) else { return nil }
            value = value << 4 | UInt16(digit)
        }
        return value
    }

    /// The scalar of the escape at an index, and the escape's length in bytes; `nil` for half a surrogate pair, or if no
    /// escape begins there.
    ///
    /// The byte at the index must be a backslash; only `\u` escapes are checked for it. Neither half of a pair stands
    /// for a character alone. RFC 8259 allows such a text (section 8.2), and each caller decides what it means.
    package static func scalar(
        _ bytes: UnsafeBufferPointer<UInt8>,
        at index: Int
    ) -> (scalar: Unicode.Scalar, length: Int)? {
        guard index + 1 < bytes.count else { return nil }
        if let simple = simpleEscape(bytes[index + 1]) { return (Unicode.Scalar(simple), 2) }
        guard let unit = codeUnit(bytes, at: index) else { return nil }
        // `nil` for surrogates, which are no scalars.
        if let scalar = Unicode.Scalar(unit) { return (scalar, 6) }
        guard UTF16.isLeadSurrogate(unit), let trail = codeUnit(bytes, at: index + 6), UTF16.isTrailSurrogate(trail)
        else { return nil }
        // UTF-16 (RFC 2781, section 2.2): ten bits from each half.
        let value = 0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(trail) - 0xDC00)
        return Unicode.Scalar(value).map { ($0, 12) }
    }

    /// A string's bytes with its escapes decoded. Half a surrogate pair has no UTF-8 form: it becomes U+FFFD, or ends the
    /// decoding, and then `fault` is its index.
    ///
    /// Allocates once. The bytes must have well-formed escapes, as `JSONText` promises.
    static func decode(_ raw: UnsafeRawBufferPointer, replacingHalves: Bool) -> (bytes: [UInt8], fault: Int?) {
        var fault: Int?
        // No escape is shorter than the bytes that it stands for.
        let decoded = [UInt8](unsafeUninitializedCapacity: raw.count) { room, count in
            (count, fault) = decode(raw, into: room, replacingHalves: replacingHalves)
        }
        return (decoded, fault)
    }

    /// Decodes into `room`, which has at least as many bytes as `raw`. The first `count` bytes of it are initialized in
    /// either case.
    private static func decode(
        _ raw: UnsafeRawBufferPointer,
        into room: UnsafeMutableBufferPointer<UInt8>,
        replacingHalves: Bool
    ) -> (count: Int, fault: Int?) {
        let bytes = raw.assumingMemoryBound(to: UInt8.self)
        guard var target = room.baseAddress else { return (0, nil) }
        let first = target
        var index = 0
        while index < raw.count {
            assert(target - first <= index, "no escape is shorter than the bytes that it stands for")
            if raw.count - index >= ByteWord.size {
                // All eight bytes are copied, and those from the backslash on overwritten.
                let word = raw.word(index)
                UnsafeMutableRawPointer(target).storeBytes(of: word.littleEndian, as: UInt64.self)
                let marks = ByteWord.zeros(word ^ ByteWord.all(UInt8(ascii: "\\")))
                let plain = marks == 0 ? ByteWord.size : marks.trailingZeroBitCount / 8
                index += plain
                target += plain
                if marks == 0 { continue }
            } else if raw[index] != UInt8(ascii: "\\") {
                target.pointee = raw[index]
                index += 1
                target += 1
                continue
            }
            // An escape of one letter is by far the most frequent.
            if index + 1 < raw.count, let letter = simpleEscape(raw[index + 1]) {
                target.pointee = letter
                target += 1
                index += 2
            } else if let (scalar, length) = scalar(bytes, at: index) {
                append(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter, to: &target)
                index += length
            } else {
                guard replacingHalves else { return (target - first, index) }
                append(UTF8.encodedReplacementCharacter, to: &target)
                // Among well-formed escapes only half a pair has no scalar: `\u` and four digits.
                index += 6
            }
        }
        return (target - first, nil)
    }

    /// Writes the one to four bytes of a scalar, and moves behind them.
    private static func append(_ units: UTF8.EncodedScalar, to target: inout UnsafeMutablePointer<UInt8>) {
        for unit in units {
            target.pointee = unit
            target += 1
        }
    }

    /// The room that `write` needs for so many bytes.
    static func room(for byteCount: Int) -> Int { 6 * byteCount + ByteWord.size }

    /// Writes a text with its escapes, and returns their number of bytes. The room must be that of `room(for:)`.
    ///
    /// A text of JSON, such as a payload, has a quote every few bytes. So whole words are copied, and what they copied behind
    /// such a byte is overwritten.
    static func write(_ text: UnsafeRawBufferPointer, into room: UnsafeMutableRawBufferPointer) -> Int {
        assert(room.count >= Self.room(for: text.count), "no byte takes more than six")
        var (index, count) = (0, 0)
        while index < text.count {
            let word = text.partialWord(index)
            room.storeBytes(of: word.littleEndian, toByteOffset: count, as: UInt64.self)
            let marks = ByteWord.escaped(word)
            // The zeros behind the end are marked, too.
            let plain = marks == 0 ? ByteWord.size : marks.trailingZeroBitCount / 8
            index += plain
            count += plain
            guard index < text.count, marks != 0 else { continue }
            let (escape, length) = written(text[index])
            room.storeBytes(of: escape.littleEndian, toByteOffset: count, as: UInt64.self)
            index += 1
            count += length
        }
        return count
    }

    /// The escape that RFC 8785 asks for: its bytes, the first in the lowest place, and their number. Only for control
    /// characters, quotes and backslashes.
    @inlinable
    package static func written(_ byte: UInt8) -> (word: UInt64, count: Int) {
        let letter: UInt8? =
            switch byte {
            case 0x22, 0x5C: byte
            case 0x08: 0x62
            case 0x09: 0x74
            case 0x0A: 0x6E
            case 0x0C: 0x66
            case 0x0D: 0x72
            default: nil
            }
        if let letter { return (0x5C | UInt64(letter) << 8, 2) }
        // `\u00` and two digits in lower case.
        return (0x3030_755C | hexDigit(byte >> 4) << 32 | hexDigit(byte & 15) << 40, 6)
    }

    /// In lower case, as RFC 8785 (section 3.2.2.2) writes them.
    @inlinable
    static func hexDigit(_ value: UInt8) -> UInt64 {
        UInt64(value < 10 ? 0x30 + value : 0x61 + value - 10)
    }

    /// The byte that an escape of one letter stands for; `nil` for other letters.
    private static func simpleEscape(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x22, 0x5C, 0x2F: byte
        case 0x62: 0x08
        case 0x66: 0x0C
        case 0x6E: 0x0A
        case 0x72: 0x0D
        case 0x74: 0x09
        default: nil
        }
    }
}
