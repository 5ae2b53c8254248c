/// A text to look for in bytes, such as payloads and the texts of a state.
///
/// Without regard to case it decides only where the text cannot be: it looks for a piece of the text whose letters have no
/// other forms than their two cases. Sixteen bytes are compared at a time, so 100 MB take some 20 ms.
package struct TextSearch: Sendable {
    /// The wanted text; in lower case if case is ignored.
    private let bytes: [UInt8]
    /// The first and the last byte in all places, and which bits of a byte do not count in each.
    private let first: (bytes: ByteBlock.Bytes, ignored: ByteBlock.Bytes)
    private let last: (bytes: ByteBlock.Bytes, ignored: ByteBlock.Bytes)
    private let ignoresCase: Bool

    /// Prepares a search.
    ///
    /// - Returns: `nil` if bytes cannot tell where the text is not: it is empty or, without regard to case, has no letter,
    ///   digit or mark of ASCII but K, which is also the small form of the Kelvin sign.
    package init?(_ text: String, ignoresCase: Bool) {
        let bytes = ignoresCase ? Self.longestPlainPiece(of: text) : Array(text.utf8)
        guard let first = bytes.first, let last = bytes.last else { return nil }
        func pattern(_ byte: UInt8) -> (ByteBlock.Bytes, ByteBlock.Bytes) {
            let ignored: UInt8 = ignoresCase && Self.isSmallLetter(byte) ? 0x20 : 0
            return (ByteBlock.Bytes(repeating: byte), ByteBlock.Bytes(repeating: ignored))
        }
        self.bytes = bytes
        (self.first, self.last) = (pattern(first), pattern(last))
        self.ignoresCase = ignoresCase
    }

    /// The longest run of ASCII that has no forms beyond its cases, in small letters.
    private static func longestPlainPiece(of text: String) -> [UInt8] {
        let small = text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        let pieces = small.split { !(0x20..<0x7F).contains($0) || $0 == UInt8(ascii: "k") }
        return pieces.max { $0.count < $1.count }.map(Array.init) ?? []
    }

    private static func isSmallLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }

    /// Whether bytes contain the text as it stands; without regard to case, whether they may.
    package func occurs(in text: UnsafeRawBufferPointer) -> Bool {
        occurs(in: text) { _ in }
    }

    /// As `occurs(in:)`. If the text is not found, `look` has got all bytes before the last `bytes.count - 1`, but of a text shorter
    /// than a block none.
    @inline(__always)
    private func occurs(in text: UnsafeRawBufferPointer, _ look: (ByteBlock.Bytes) -> Void) -> Bool {
        let reach = bytes.count - 1
        let end = text.count - reach
        guard end >= ByteBlock.size else {
            return end > 0 && (0..<end).contains { isHere(text, $0) }
        }
        var index = 0
        while index < end {
            // The last block ends with the last place: it may have places of the block before it again.
            let place = min(index, end - ByteBlock.size)
            let block = text.block(place)
            look(block)
            let starts = (block | first.ignored) .== first.bytes
            let ends = (text.block(place + reach) | last.ignored) .== last.bytes
            let marks = ByteBlock.marks(starts .& ends)
            if marks.low | marks.high != 0,
                isAny(marks.low, text, place) || isAny(marks.high, text, place + ByteBlock.size / 2)
            {
                return true
            }
            index += ByteBlock.size
        }
        return false
    }

    /// Whether the text begins at any of eight places: those whose byte in `marks` is not zero.
    private func isAny(_ marks: UInt64, _ text: UnsafeRawBufferPointer, _ index: Int) -> Bool {
        var marks = marks & ByteWord.highBits
        while marks != 0 {
            if isHere(text, index + marks.trailingZeroBitCount / 8) { return true }
            marks &= marks - 1
        }
        return false
    }

    /// Whether the text begins at an index; so many bytes follow it.
    @inline(__always)
    private func isHere(_ text: UnsafeRawBufferPointer, _ index: Int) -> Bool {
        for offset in bytes.indices {
            let byte = text[index + offset]
            let isCapital = ignoresCase && byte &- 0x41 < 26
            if (isCapital ? byte | 0x20 : byte) != bytes[offset] { return false }
        }
        return true
    }

    /// Whether a text contains this one, as `occurs(in:)`.
    package func occurs(in text: String) -> Bool {
        var text = text
        return text.withUTF8 { occurs(in: UnsafeRawBufferPointer($0)) }
    }

    /// Whether bytes contain the text as it stands or with JSON escapes decoded; without regard to case, whether they may. The
    /// bytes need not be JSON.
    ///
    /// Decodes only what is near an escape: elsewhere the bytes are the text.
    package func occursUnescaped(in text: UnsafeRawBufferPointer) -> Bool {
        let reach = bytes.count - 1
        // Escapes are looked for in the same walk, as most payloads have neither.
        let backslash = ByteBlock.Bytes(repeating: UInt8(ascii: "\\"))
        var escapes = ByteBlock.Bytes() .== backslash
        if occurs(in: text, { escapes = escapes .| ($0 .== backslash) }) { return true }
        let (low, high) = ByteBlock.marks(escapes)
        let looked = text.count - reach >= ByteBlock.size && low | high == 0 ? text.count - reach : 0
        var index = text.backslash(from: looked)
        if index == text.count { return false }
        var (decoded, end) = ([UInt8](), 0)
        repeat {
            if index - end > 2 * reach {
                decoded.append(contentsOf: text[end..<end + reach])
                if decoded.withUnsafeBytes(occurs(in:)) { return true }
                decoded.removeAll(keepingCapacity: true)
                end = index - reach
            }
            decoded.append(contentsOf: text[end..<index])
            end = JSONEscape.appendDecoded(text, at: index, to: &decoded)
            index = text.backslash(from: end)
        } while index < text.count
        decoded.append(contentsOf: text[end..<min(text.count, end + reach)])
        return decoded.withUnsafeBytes(occurs(in:))
    }
}

extension JSONEscape {
    /// Appends what the escape at an index stands for, and returns the index behind it. Half a surrogate pair is U+FFFD; a
    /// backslash that begins no escape stands for itself.
    package static func appendDecoded(
        _ text: UnsafeRawBufferPointer,
        at index: Int,
        to decoded: inout [UInt8]
    ) -> Int {
        let bytes = text.assumingMemoryBound(to: UInt8.self)
        if let (scalar, length) = scalar(bytes, at: index) {
            decoded.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            return index + length
        }
        if codeUnit(bytes, at: index) != nil {
            decoded.append(contentsOf: UTF8.encodedReplacementCharacter)
            return index + 6
        }
        decoded.append(text[index])
        return index + 1
    }
}
