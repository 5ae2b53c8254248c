/// The escapes of JSON strings (RFC 8259, section 7).
enum JSONEscape {
    /// The code unit of the `\u` escape at an index; `nil` if there is none.
    static func codeUnit(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> UInt16? {
        guard bytes.count - index >= 6, bytes[index] == 0x5C, bytes[index + 1] == 0x75 else { return nil }
        var value: UInt16 = 0
        for offset in 2..<6 {
            guard let digit = hexValue(bytes[index + offset]) else { return nil }
            value = value << 4 | UInt16(digit)
        }
        return value
    }

    /// The scalar of the escape at an index, and the escape's length in bytes; `nil` for half a surrogate pair, or if
    /// there is no escape.
    static func scalar(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> (scalar: Unicode.Scalar, length: Int)? {
        guard index + 1 < bytes.count else { return nil }
        if let simple = simpleEscape(bytes[index + 1]) { return (Unicode.Scalar(simple), 2) }
        guard let unit = codeUnit(bytes, at: index) else { return nil }
        if let scalar = Unicode.Scalar(unit) { return (scalar, 6) }
        guard UTF16.isLeadSurrogate(unit), let trail = codeUnit(bytes, at: index + 6), UTF16.isTrailSurrogate(trail)
        else { return nil }
        let value = 0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(trail) - 0xDC00)
        return Unicode.Scalar(value).map { ($0, 12) }
    }

    /// A string's bytes, with its escapes decoded.
    ///
    /// - Throws: `JSONFault` for half a surrogate pair, which has no UTF-8 form.
    static func decode(_ bytes: UnsafeBufferPointer<UInt8>, _ token: JSONScanner.Token) throws(JSONFault) -> [UInt8] {
        let raw = UnsafeBufferPointer(rebasing: bytes[token.range])
        guard token.hasEscapes else { return Array(raw) }
        var fault: Int?
        // No escape is shorter than the bytes that it stands for.
        let decoded = [UInt8](unsafeUninitializedCapacity: raw.count) { room, count in
            (count, fault) = decode(raw, into: room)
        }
        guard let fault else { return decoded }
        throw JSONFault(
            offset: token.range.lowerBound + fault,
            reason: "an escape is half a surrogate pair, which stands for no bytes"
        )
    }

    /// Decodes a string into `room`, which has at least as many bytes. Returns how many were written, and where an escape
    /// stands that has no UTF-8 form.
    private static func decode(
        _ raw: UnsafeBufferPointer<UInt8>,
        into room: UnsafeMutableBufferPointer<UInt8>
    ) -> (count: Int, fault: Int?) {
        var (index, count) = (0, 0)
        while index < raw.count {
            let byte = raw[index]
            if byte != 0x5C {
                room[count] = byte
                (index, count) = (index + 1, count + 1)
            } else if index + 1 < raw.count, let simple = simpleEscape(raw[index + 1]) {
                room[count] = simple
                (index, count) = (index + 2, count + 1)
            } else {
                guard let escape = scalar(raw, at: index) else { return (count, index) }
                for unit in UTF8.encode(escape.scalar) ?? UTF8.encodedReplacementCharacter {
                    room[count] = unit
                    count += 1
                }
                index += escape.length
            }
        }
        assert(count <= raw.count, "the room is as long as the string")
        return (count, nil)
    }

    static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }

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
