/// Base 64 with padding (RFC 4648, section 4), the form in which JSON texts carry bytes.
///
/// Not Foundation's: the modules below it do without, and a log's export has a text for each event.
///
/// Strict: each byte sequence has exactly one text, and `decode` accepts no other. So two texts differ exactly if their
/// bytes do, and an export read back is written the same.
package enum Base64 {
    /// Appends the text of bytes. Four bytes of text for each three, the last group padded.
    package static func append(_ bytes: UnsafeRawBufferPointer, to text: inout [UInt8]) {
        text.reserveCapacity(text.count + (bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            // Three bytes are four digits of six bits. Missing bytes count as zero, and their digits are padding.
            let left = bytes.count - index
            let second = left > 1 ? UInt32(bytes[index + 1]) : 0
            let third = left > 2 ? UInt32(bytes[index + 2]) : 0
            let group = UInt32(bytes[index]) << 16 | second << 8 | third
            text.append(digit(group >> 18))
            text.append(digit(group >> 12 & 0x3F))
            text.append(left > 1 ? digit(group >> 6 & 0x3F) : padding)
            text.append(left > 2 ? digit(group & 0x3F) : padding)
            index += 3
        }
    }

    /// The text of bytes.
    package static func encode(_ bytes: UnsafeRawBufferPointer) -> String {
        var text: [UInt8] = []
        append(bytes, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// The text of bytes.
    package static func encode(_ bytes: [UInt8]) -> String {
        bytes.withUnsafeBytes { encode($0) }
    }

    /// The bytes of a text; `nil` for one that `encode` does not write: with other characters, without padding, or with
    /// bits set that no byte has.
    package static func decode(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        guard text.count.isMultiple(of: 4) else { return nil }
        let padded = text.suffix(2).count { $0 == padding }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        // Holds up to four digits, 24 bits. Of an unfinished group the bytes are in the highest of the bits that were
        // read.
        var group: UInt32 = 0
        for index in 0..<text.count - padded {
            guard let value = value(text[index]) else { return nil }
            group = group << 6 | value
            if index % 4 == 3 {
                bytes.append(UInt8(truncatingIfNeeded: group >> 16))
                bytes.append(UInt8(truncatingIfNeeded: group >> 8))
                bytes.append(UInt8(truncatingIfNeeded: group))
                group = 0
            }
        }
        // The bits of the last digit that no byte has must be zero: two bits before one `=`, four before two.
        switch padded {
        case 1:
            guard group & 0b11 == 0 else { return nil }
            bytes.append(UInt8(truncatingIfNeeded: group >> 10))
            bytes.append(UInt8(truncatingIfNeeded: group >> 2))
        case 2:
            guard group & 0b1111 == 0 else { return nil }
            bytes.append(UInt8(truncatingIfNeeded: group >> 4))
        default: break
        }
        return bytes
    }

    /// The bytes of a text; see `decode` of bytes. Copies only a text that is not stored as contiguous UTF-8.
    package static func decode(_ text: String) -> [UInt8]? {
        var text = text
        return text.withUTF8 { decode(UnsafeRawBufferPointer($0)) }
    }

    private static let padding = UInt8(ascii: "=")

    /// The digit of six bits.
    private static func digit(_ value: UInt32) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: value)
        switch value {
        case 0..<26: return value + UInt8(ascii: "A")
        case 26..<52: return value - 26 + UInt8(ascii: "a")
        case 52..<62: return value - 52 + UInt8(ascii: "0")
        case 62: return UInt8(ascii: "+")
        default: return UInt8(ascii: "/")
        }
    }

    /// The six bits of a digit; `nil` for other bytes, padding among them.
    private static func value(_ digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
