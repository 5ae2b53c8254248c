/// One line for people, put together from bytes. It is used again for the next line, so that a log of many messages
/// costs no allocation for each of them.
struct TextLine {
    private(set) var bytes: [UInt8] = []

    init() {}

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// Adds text as it is.
    mutating func add(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    /// Adds bytes as they are.
    mutating func add(_ text: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: text)
    }

    /// Adds what `write` adds in a role's colour, as `Style.text` does.
    mutating func add(_ role: Style.Role?, _ style: Style, _ write: (inout TextLine) -> Void) {
        guard style.hasColor, let role else { return write(&self) }
        let start = bytes.count
        add("\u{1B}[\(role.rawValue)m")
        let inner = bytes.count
        write(&self)
        if bytes.count == inner { bytes.removeSubrange(start...) } else { add("\u{1B}[0m") }
    }

    /// Removes the spaces at the end, as `trimmingTrailingSpaces` does.
    mutating func trimTrailingSpaces() {
        var end = bytes.count
        while end > 0, bytes[end - 1] == UInt8(ascii: " ") { end -= 1 }
        if end == bytes.count { return }
        // A character before ASCII's end never forms one character with a space behind it; others may.
        if end == 0 || bytes[end - 1] < 0x80 { return bytes.removeSubrange(end...) }
        bytes = Array(String(decoding: bytes, as: UTF8.self).trimmingTrailingSpaces().utf8)
    }
}

extension StandardOutput {
    /// Writes the line that `add` puts together.
    func line(_ add: (inout TextLine) -> Void) throws {
        add(&scratch)
        try write(scratch.bytes)
        try write(CollectionOfOne(UInt8(ascii: "\n")))
        scratch.removeAll()
    }

    /// Writes a line without the spaces at its end, and empties it.
    func line(trimming line: inout TextLine) throws {
        line.trimTrailingSpaces()
        try write(line.bytes)
        try write(CollectionOfOne(UInt8(ascii: "\n")))
        line.removeAll()
    }
}

extension DisplayText {
    /// Whether UTF-8 bytes are a visible line that `escaped` and `firstLine` leave as it is. Looks for the first bytes
    /// of all characters that they change; false for some texts that have none of these.
    static func isPlainLine(_ text: UnsafeRawBufferPointer) -> Bool {
        guard text.contains(where: { (0x21...0x7E).contains($0) }) else { return false }
        var index = 0
        while text.count - index >= 8 {
            if hasUnsafeByte(text.loadUnaligned(fromByteOffset: index, as: UInt64.self)) { return false }
            index += 8
        }
        // The rest, behind spaces.
        var rest: UInt64 = 0x2020_2020_2020_2020
        while index < text.count {
            rest = rest << 8 | UInt64(text[index])
            index += 1
        }
        return !hasUnsafeByte(rest)
    }

    /// Whether one of eight bytes is a control character, or the first of a character that may be written out or end a
    /// line.
    @inline(__always)
    private static func hasUnsafeByte(_ word: UInt64) -> Bool {
        let (ones, tops) = (0x0101_0101_0101_0101 as UInt64, 0x8080_8080_8080_8080 as UInt64)
        // A byte below 0x20 borrows its top bit. Of a byte that equals another one, the difference is zero, which
        // borrows the same way.
        var found = (word &- ones &* 0x20) & ~word
        for byte in [0x7F, 0xC2, 0xD8, 0xE2, 0xEF] as [UInt64] {
            let difference = word ^ ones &* byte
            found |= (difference &- ones) & ~difference
        }
        return found & tops != 0
    }
}
