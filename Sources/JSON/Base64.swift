/// Base 64 with padding (RFC 4648, section 4), the form in which JSON texts carry bytes.
///
/// Not Foundation's: the modules below it do without, and a log's export has a text for each event.
///
/// Strict: each byte sequence has exactly one text, and `decode` accepts no other. So two texts differ exactly if their
/// bytes do, and an export read back is written the same.
package enum Base64 {
    /// Appends the text of bytes. Four bytes of text for each three, the last group padded.
    package static func append(_ bytes: UnsafeRawBufferPointer, to text: inout [UInt8]) {
        let start = text.count
        text.append(contentsOf: repeatElement(padding, count: (bytes.count + 2) / 3 * 4))
        text.withUnsafeMutableBytes { text in
            var target = start
            for index in stride(from: 0, to: bytes.count, by: 3) {
                // Three bytes are four digits of six bits. Missing bytes count as zero, and their digits are padding.
                let left = bytes.count - index
                let second = left > 1 ? UInt32(bytes[index + 1]) : 0
                let third = left > 2 ? UInt32(bytes[index + 2]) : 0
                let group = UInt32(bytes[index]) << 16 | second << 8 | third
                text[target] = digit(group >> 18)
                text[target + 1] = digit(group >> 12 & 0x3F)
                if left > 1 { text[target + 2] = digit(group >> 6 & 0x3F) }
                if left > 2 { text[target + 3] = digit(group & 0x3F) }
                target += 4
            }
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
        var isWhole = true
        let bytes = [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3) { room, count in
            for start in stride(from: 0, to: text.count, by: 4) {
                // Missing digits count as zero.
                let given = min(4, text.count - padded - start)
                let third = given > 2 ? value(text[start + 2]) : 0
                let last = given > 3 ? value(text[start + 3]) : 0
                let (first, second) = (value(text[start]), value(text[start + 1]))
                let group = first << 18 | second << 12 | third << 6 | last
                // The bits of the last digit that no byte has must be zero: two bits before one `=`, four before two.
                let unused: UInt32 = given == 4 ? 0 : given == 3 ? 0xFF : 0xFFFF
                guard first | second | third | last < 64, group & unused == 0 else {
                    isWhole = false
                    return
                }
                // All three: the room has as many for each group.
                room[count] = UInt8(truncatingIfNeeded: group >> 16)
                room[count + 1] = UInt8(truncatingIfNeeded: group >> 8)
                room[count + 2] = UInt8(truncatingIfNeeded: group)
                count += given - 1
            }
        }
        return isWhole ? bytes : nil
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

    /// The six bits of a digit; 64 for other bytes, padding among them.
    private static func value(_ digit: UInt8) -> UInt32 {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: 64
        }
    }
}
