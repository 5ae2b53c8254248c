import JSON

/// JSON escapes (RFC 8259, section 7) in bytes that need not be JSON as a whole: a payload may be text, HTML or cut JSON,
/// and a search must not fail on it.
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
            index = JSONEscape.appendDecoded(payload, at: index, to: &result)
        }
        return result
    }
}
