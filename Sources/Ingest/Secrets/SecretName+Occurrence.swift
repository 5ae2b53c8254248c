import JSON

extension SecretName {
    /// False only if the bytes contain no secret by its name or form (docs/events.md), not even one hidden by escapes.
    ///
    /// Cost: a few operations for each sixteen bytes. Each name contains a rare letter, sign or pair: `token`, `apikey`
    /// and `cookie` a `k`, `authorization` a `z`, `jwt` and a token's `eyJ` a `j`, `password` the pair `sw`, `secret`
    /// the pair `cr` with a `t`; a signature in a query has an equals sign, a user in a URL an at sign. Only these, and
    /// characters that begin an escape, are examined further.
    static func mayOccur(in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        if isBinary(bytes) { return true }
        let size = Block.scalarCount
        let raw = UnsafeRawBufferPointer(bytes)
        guard bytes.count >= size + lookahead else { return occurs(in: bytes, at: 0..<bytes.count) }
        var index = 0
        while index + size + lookahead <= bytes.count {
            if mayMatter(raw, at: index), occurs(in: bytes, at: index..<index + size) { return true }
            index += size
        }
        // The rest, with bytes that were examined before it: a block is examined faster than a few bytes.
        let last = bytes.count - size - lookahead
        if last < index, mayMatter(raw, at: last), occurs(in: bytes, at: last..<last + size) { return true }
        return occurs(in: bytes, at: bytes.count - lookahead..<bytes.count)
    }

    /// The bytes that are compared at once.
    private typealias Block = SIMD16<UInt8>
    /// How far behind a byte others are compared with it.
    private static let lookahead = 3

    /// True for bytes that are no text in UTF-8: the first one begins no character, as in a MessagePack map or in
    /// Erlang's external term format, or one of the first two is zero, as in a JSON text in UTF-16.
    private static func isBinary(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard bytes.count > 1 else { return false }
        return bytes[0] >= 0x80 && bytes[0] < 0xC2 || bytes[0] > 0xF4 || bytes[0] == 0 || bytes[1] == 0
            || bytes[0] >= 0x80 && bytes[1] & 0xC0 != 0x80
    }

    /// False only if none of sixteen bytes can belong to a name or form, or begin an escape.
    @inline(__always)
    private static func mayMatter(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Bool {
        assert(index >= 0 && index + Block.scalarCount + lookahead <= bytes.count, "a block lies within the bytes")
        // Bit 0x20 makes letters lower case. It turns some other bytes into letters, too, which `occurs` rejects.
        let lowering = Block(repeating: 0x20)
        let block = bytes.loadUnaligned(fromByteOffset: index, as: Block.self)
        let next = bytes.loadUnaligned(fromByteOffset: index + 1, as: Block.self) | lowering
        let third = bytes.loadUnaligned(fromByteOffset: index + 3, as: Block.self) | lowering
        let lower = block | lowering
        // J and K differ in the lowest bit.
        let jk = (lower | Block(repeating: 0x01)) .== Block(repeating: 0x6B)
        let letters = jk .| (lower .== Block(repeating: 0x7A))
        let escapes = (block .== Block(repeating: 0x25)) .| (block .== Block(repeating: 0x5C))
        let signs = (block .== Block(repeating: 0x3D)) .| (block .== Block(repeating: 0x40))
        let sw = (lower .== Block(repeating: 0x73)) .& (next .== Block(repeating: 0x77))
        let cret =
            (lower .== Block(repeating: 0x63)) .& (next .== Block(repeating: 0x72))
            .& (third .== Block(repeating: 0x74))
        let found = letters .| escapes .| signs .| sw .| cret
        let marks = Block(repeating: 0).replacing(with: Block(repeating: 0xFF), where: found)
        let words = unsafeBitCast(marks, to: SIMD2<UInt64>.self)
        return words[0] | words[1] != 0
    }

    /// True if a byte of the range belongs to a name or form, or begins an escape that may hide one.
    private static func occurs(in bytes: UnsafeBufferPointer<UInt8>, at range: Range<Int>) -> Bool {
        for index in range {
            switch bytes[index] {
            case 0x5C where index + 1 < bytes.count && bytes[index + 1] == 0x75:
                if escapesASCII(bytes, behind: index + 1, digits: 4) { return true }
            case 0x25: if escapesASCII(bytes, behind: index, digits: 2) { return true }
            case 0x4B, 0x6B:
                if stands("to", "ken", bytes, at: index) || stands("coo", "kie", bytes, at: index)
                    || stands("api", "key", bytes, at: index, isJoint: true)
                    || stands("access", "key", bytes, at: index, isJoint: true)
                {
                    return true
                }
            // The whole word, because every chat message has an `author`.
            case 0x5A, 0x7A: if stands("authori", "zation", bytes, at: index) { return true }
            case 0x4A, 0x6A: if stands("", "jwt", bytes, at: index) || isWebTokenStart(bytes, index) { return true }
            case 0x53, 0x73: if stands("pas", "sw", bytes, at: index) { return true }
            case 0x43, 0x63: if stands("se", "cret", bytes, at: index) { return true }
            case 0x3D: if stands("sig", "=", bytes, at: index) || stands("ure", "=", bytes, at: index) { return true }
            case 0x40: if endsUser(bytes, index) { return true }
            default: continue
            }
        }
        return false
    }

    /// True if the hex digits behind the index are those of an ASCII character, which may belong to a name. Not decoded further
    /// here: a percent sign of a URL may stand behind an escape itself.
    private static func escapesASCII(_ bytes: UnsafeBufferPointer<UInt8>, behind index: Int, digits: Int) -> Bool {
        guard index + digits < bytes.count else { return false }
        var value = 0
        for byte in bytes[index + 1...index + digits] {
            guard let digit = JSONText.hexDigit(byte) else { return false }
            value = value << 4 | Int(digit)
        }
        return value < 0x80
    }

    /// True if the J at the index is the third letter of `eyJ`, in this case alone: with it base64url begins `{"`.
    private static func isWebTokenStart(_ bytes: UnsafeBufferPointer<UInt8>, _ index: Int) -> Bool {
        index >= 2 && bytes[index] == 0x4A && bytes[index - 1] == 0x79 && bytes[index - 2] == 0x65
    }

    /// True if the at sign at the index may end the user of a URL: `://` comes before it, and a user between. The text
    /// up to a slash or another at sign is read, so each byte once.
    private static func endsUser(_ bytes: UnsafeBufferPointer<UInt8>, _ index: Int) -> Bool {
        var start = index - 1
        while start >= 0, bytes[start] > 0x20, bytes[start] != 0x22, bytes[start] != 0x2F, bytes[start] != 0x40 {
            start -= 1
        }
        // A slash may be written as `\/`.
        return start > 0 && start < index - 1 && bytes[start] == 0x2F
            && (bytes[start - 1] == 0x2F || bytes[start - 1] == 0x5C)
    }

    /// True if the bytes contain the word `start` + `end`, with `end` at `index`, in any case and with any `_` and `-`
    /// between its letters; with `isJoint` also with a dot or a space between its two parts.
    private static func stands(
        _ start: StaticString,
        _ end: StaticString,
        _ bytes: UnsafeBufferPointer<UInt8>,
        at index: Int,
        isJoint: Bool = false
    ) -> Bool {
        var position = index
        if isJoint, position > 0, [0x2E, 0x20].contains(bytes[position - 1]) { position -= 1 }
        for offset in (0..<start.utf8CodeUnitCount).reversed() {
            // Backwards through `start`, from the byte before `index`.
            repeat { position -= 1 } while position >= 0 && isSeparator(bytes[position])
            guard position >= 0, bytes[position] | 0x20 == start.utf8Start[offset] else { return false }
        }
        position = index
        for offset in 0..<end.utf8CodeUnitCount {
            while offset > 0, position < bytes.count, isSeparator(bytes[position]) { position += 1 }
            guard position < bytes.count, bytes[position] | 0x20 == end.utf8Start[offset] | 0x20 else { return false }
            position += 1
        }
        return true
    }
}
