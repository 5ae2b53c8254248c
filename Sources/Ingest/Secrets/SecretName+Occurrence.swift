import JSON

extension SecretName {
    /// False only if the bytes contain no name of a secret, not even one hidden by escapes.
    ///
    /// Cost: a few operations for each eight bytes. Each name contains a rare letter: `token` and `apikey` a `k`,
    /// `authorization` a `z`, `jwt` a `j`. Only these letters, and characters that begin an escape, are examined
    /// further.
    static func mayOccur(in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var index = 0
        while index + ByteWord.size <= bytes.count {
            if mayMatter(UnsafeRawBufferPointer(bytes).word(index)),
                occurs(in: bytes, at: index..<index + ByteWord.size)
            {
                return true
            }
            index += ByteWord.size
        }
        return occurs(in: bytes, at: index..<bytes.count)
    }

    /// False only if no byte of the word can belong to a name or begin an escape.
    @inline(__always)
    private static func mayMatter(_ word: UInt64) -> Bool {
        let lower = word | ByteWord.all(0x20)
        // J and K differ in the lowest bit.
        // Bit 0x20 makes letters lower case. It turns some other bytes into letters, too, which `occurs` rejects.
        let letters =
            ByteWord.zeros((lower | ByteWord.all(0x01)) ^ ByteWord.all(0x6B))
            | ByteWord.zeros(lower ^ ByteWord.all(0x7A))
        let escapes = ByteWord.zeros(word ^ ByteWord.all(0x25)) | ByteWord.zeros(word ^ ByteWord.all(0x5C))
        return letters | escapes != 0
    }

    /// True if a byte of the range belongs to a name, or begins an escape that may hide one.
    private static func occurs(in bytes: UnsafeBufferPointer<UInt8>, at range: Range<Int>) -> Bool {
        for index in range {
            switch bytes[index] {
            case 0x5C where index + 1 < bytes.count && bytes[index + 1] == 0x75: return true
            // A percent sign may hide any letter in a URL; so may `\u` in a string. Both are rare, so they are not
            // decoded here.
            case 0x25: return true
            case 0x4B, 0x6B:
                if stands("to", "ken", bytes, at: index) || stands("api", "key", bytes, at: index) { return true }
            // The whole word, because every chat message has an `author`.
            case 0x5A, 0x7A: if stands("authori", "zation", bytes, at: index) { return true }
            case 0x4A, 0x6A: if stands("", "jwt", bytes, at: index) { return true }
            default: continue
            }
        }
        return false
    }

    /// True if the bytes contain the word `start` + `end`, with `end` at `index`, in any case and with any `_` and `-`
    /// between its letters.
    private static func stands(
        _ start: StaticString,
        _ end: StaticString,
        _ bytes: UnsafeBufferPointer<UInt8>,
        at index: Int
    ) -> Bool {
        var position = index
        for offset in (0..<start.utf8CodeUnitCount).reversed() {
            // Backwards through `start`, from the byte before `index`.
            repeat { position -= 1 } while position >= 0 && isSeparator(bytes[position])
            guard position >= 0, bytes[position] | 0x20 == start.utf8Start[offset] else { return false }
        }
        position = index
        for offset in 0..<end.utf8CodeUnitCount {
            while offset > 0, position < bytes.count, isSeparator(bytes[position]) { position += 1 }
            guard position < bytes.count, bytes[position] | 0x20 == end.utf8Start[offset] else { return false }
            position += 1
        }
        return true
    }

    private static func isSeparator(_ byte: UInt8) -> Bool { byte == 0x5F || byte == 0x2D }
}
