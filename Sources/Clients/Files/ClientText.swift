/// Cutting and trimming of texts as clients do it.
extension StringProtocol {
    /// The pieces between the occurrences of an ASCII text, found from left to right; empty pieces are kept, so a text
    /// without the separator is one piece.
    ///
    /// Compares bytes, as clients in other languages do: `split` on characters would miss a separator that a combining
    /// mark follows. Cost: O(bytes).
    func cut(at separator: StaticString) -> [SubSequence] {
        let bytes = utf8
        let width = separator.utf8CodeUnitCount
        assert(width > 0, "an empty separator would be found at one place for ever")
        var pieces: [SubSequence] = []
        var start = bytes.startIndex
        var here = start
        while let end = bytes.index(here, offsetBy: width, limitedBy: bytes.endIndex) {
            if separator.isEqual(to: bytes[here..<end]) {
                pieces.append(self[start..<here])
                start = end
                here = end
            } else {
                here = bytes.index(after: here)
            }
        }
        return pieces + [self[start...]]
    }

    /// The text without the scalars at both ends that satisfy the test. Scalars and not characters, because CR LF is
    /// one character in Swift and two code units elsewhere.
    func trimmed(of isTrimmed: (Unicode.Scalar) -> Bool) -> SubSequence {
        let scalars = unicodeScalars
        guard let first = scalars.firstIndex(where: { !isTrimmed($0) }),
            let last = scalars.lastIndex(where: { !isTrimmed($0) })
        else { return self[endIndex...] }
        return self[first..<scalars.index(after: last)]
    }
}

extension StaticString {
    fileprivate func isEqual(to bytes: some Sequence<UInt8>) -> Bool {
        bytes.elementsEqual(UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount))
    }
}

extension Unicode.Scalar {
    /// Foundation's `CharacterSet.newlines`.
    var isSwiftNewline: Bool {
        (0x0A...0x0D).contains(value) || value == 0x85 || value == 0x2028 || value == 0x2029
    }

    /// Foundation's `CharacterSet.whitespacesAndNewlines`: tab, newlines, and Unicode's general category Z. Spelt out,
    /// because this module does not use Foundation.
    var isSwiftSpace: Bool { value == 0x09 || isSwiftNewline || isSpaceSeparator }

    /// The characters that JavaScript's `trim` removes: ECMA-262, 12.2 (white space) and 12.3 (line terminators).
    var isJavaScriptSpace: Bool {
        (0x09...0x0D).contains(value) || value == 0xFEFF || value == 0x2028 || value == 0x2029 || isSpaceSeparator
    }

    /// Unicode's general category Zs.
    private var isSpaceSeparator: Bool { properties.generalCategory == .spaceSeparator }
}
