/// JSON escapes (RFC 8259, section 7) in bytes that need not be JSON as a whole.
///
/// Not `JSONEscape` of the module `JSON`, which needs well-formed strings: a payload may be text, HTML or cut JSON, and
/// a search must not fail on it.
enum JSONEscapes {
    /// Replaces each escape by the character that it encodes; other bytes stay. The result is for searching, not for
    /// parsing: decoded quotes look like those of the syntax.
    static func undone(in payload: UnsafeRawBufferPointer) -> [UInt8] {
        var result: [UInt8] = []
        // No escape is shorter than what it stands for.
        result.reserveCapacity(payload.count)
        var index = 0
        while index < payload.count {
            guard payload[index] == UInt8(ascii: "\\"), index + 1 < payload.count else {
                result.append(payload[index])
                index += 1
                continue
            }
            index = undo(at: index, in: payload, into: &result)
        }
        return result
    }

    /// Decodes the escape at a backslash, and returns the index after it. An unpaired surrogate becomes U+FFFD.
    private static func undo(at index: Int, in payload: UnsafeRawBufferPointer, into result: inout [UInt8]) -> Int {
        let plain: [UInt8: UInt8] = [
            UInt8(ascii: "\""): UInt8(ascii: "\""), UInt8(ascii: "\\"): UInt8(ascii: "\\"),
            UInt8(ascii: "/"): UInt8(ascii: "/"), UInt8(ascii: "b"): 8, UInt8(ascii: "f"): 12,
            UInt8(ascii: "n"): 10, UInt8(ascii: "r"): 13, UInt8(ascii: "t"): 9,
        ]
        if let byte = plain[payload[index + 1]] {
            result.append(byte)
            return index + 2
        }
        // A backslash that begins no escape stays.
        guard let unit = unit(at: index, in: payload) else {
            result.append(payload[index])
            return index + 1
        }
        // Characters beyond U+FFFF are two escapes, a pair of surrogates.
        if UTF16.isLeadSurrogate(unit), let second = self.unit(at: index + 6, in: payload),
            UTF16.isTrailSurrogate(second)
        {
            result += String(decoding: [unit, second], as: UTF16.self).utf8
            return index + 12
        }
        result += String(decoding: [unit], as: UTF16.self).utf8
        return index + 6
    }

    /// The code unit of `\uXXXX` at an index; `nil` if there is none. An index beyond the end is allowed.
    private static func unit(at index: Int, in payload: UnsafeRawBufferPointer) -> UInt16? {
        guard index + 6 <= payload.count, payload[index] == UInt8(ascii: "\\"), payload[index + 1] == UInt8(ascii: "u")
        else { return nil }
        let digits = String(decoding: payload[index + 2..<index + 6], as: UTF8.self)
        return digits.utf8.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit } ? UInt16(digits, radix: 16) : nil
    }
}
