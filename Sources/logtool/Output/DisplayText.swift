/// Makes text from outside safe for a terminal and cuts it to fit. Everything that a log or a remote wrote goes through
/// `escaped` or `revealed` before it is printed as text; JSON output has escapes of its own.
enum DisplayText {
    /// Leaves out the middle of a line of more than 8,192 characters. The beginning and end stay, because an error
    /// begins with its cause and ends with its advice; a name from the command line, in the middle, can have any
    /// length.
    static func shortened(_ line: String) -> String {
        let count = line.unicodeScalars.count
        guard count > 8_192 else { return line }
        let (first, last) = (line.unicodeScalars.prefix(2_048), line.unicodeScalars.suffix(1_024))
        return "\(String(first)) … (\(count - first.count - last.count) characters) … \(String(last))"
    }

    /// Whether a text has printable ASCII alone, as most do. Looks at all bytes of a longer text, many at once.
    static func isPlain(_ text: String) -> Bool {
        // A short one is no memory that could be lent.
        if text.utf8.count < 16 { return text.utf8.allSatisfy { (0x20...0x7E).contains($0) } }
        var text = text
        return text.withUTF8 { bytes in
            var others: UInt8 = 0
            for byte in bytes { others |= byte &- 0x20 > 0x5E ? 1 : 0 }
            return others == 0
        }
    }

    /// Whether a text has the first byte of any of Unicode's line ends; other characters begin with these, too. Looks at
    /// all bytes, many at once.
    static func mayHaveLines(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var found: UInt8 = 0
            for byte in bytes { found |= byte &- 0x0A < 4 || byte == 0xC2 || byte == 0xE2 ? 1 : 0 }
            return found != 0
        }
    }

    /// The text with every control character written out: C0, DEL, C1, the bidirectional controls and the invisible
    /// line and paragraph separators become `\u{1b}` and the like. So no message can move the cursor, recolour the
    /// screen or turn a line round.
    static func escaped(_ text: String) -> String {
        if isPlain(text) { return text }
        // The first bytes of all unsafe characters.
        let mayBeUnsafe = text.utf8.contains { byte in
            byte < 0x20 || byte == 0x7F || byte == 0xC2 || byte == 0xD8 || byte == 0xE2 || byte == 0xEF
        }
        guard mayBeUnsafe, text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if isUnsafe(scalar) {
                result += written(scalar)
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Like `escaped`, and also writes out what is invisible: spaces other than U+0020, spaces at the end, characters
    /// of zero width. For changes, where an invisible character can be the whole difference.
    ///
    /// - Parameters:
    ///   - keepsEmoji: Whether the invisible joiners within emoji stay.
    ///   - isLineEnd: Whether the text ends its line.
    static func revealed(_ text: String, keepsEmoji: Bool = true, isLineEnd: Bool = true) -> String {
        let isSeen = isPlain(text) || text.unicodeScalars.allSatisfy(isVisible)
        if isSeen, text.utf8.last != UInt8(ascii: " ") { return text }
        let last = text.lastIndex { $0 != " " }.map { text.index(after: $0) } ?? text.startIndex
        let end = isLineEnd ? last : text.endIndex
        var result = ""
        for character in text[..<end] {
            let isEmoji = keepsEmoji && isEmoji(character)
            for scalar in character.unicodeScalars {
                let isHidden = !isEmoji && isInvisible(scalar)
                if isUnsafe(scalar) || isHidden {
                    result += written(scalar)
                } else {
                    result.unicodeScalars.append(scalar)
                }
            }
        }
        return result + text[end...].map { _ in written(" ") }.joined()
    }

    /// The text with everything beyond ASCII written out, for two texts that look the same.
    static func spelledOut(_ text: String) -> String {
        text.unicodeScalars.map { $0.isASCII && !isUnsafe($0) ? String($0) : written($0) }.joined()
    }

    /// A character as `\u{1b}`, in lower-case hex, as Swift writes it in source code.
    private static func written(_ scalar: Unicode.Scalar) -> String {
        "\\u{\(String(scalar.value, radix: 16))}"
    }

    /// True if a character contains an emoji, whose joiners and variation selectors are then part of what is seen.
    private static func isEmoji(_ character: Character) -> Bool {
        character.unicodeScalars.contains { !$0.isASCII && $0.properties.isEmoji }
    }

    /// True if a character is in a block that has visible characters alone. Unicode's tables, which decide about the
    /// others, take ten times as long.
    static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20...0x7E, 0xA1...0xAC, 0xAE...0x2FF, 0x400...0x52F, 0x3041...0x30FF, 0x3400...0x9FFF: true
        case 0xAC00...0xD7A3, 0x1F300...0x1FAFF: true
        default: false
        }
    }

    /// True for characters that take no visible space of their own, and for spaces other than U+0020.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        if scalar == " " { return false }
        return scalar.properties.isDefaultIgnorableCodePoint || scalar.properties.generalCategory == .format
            || scalar.properties.generalCategory == .spaceSeparator
    }

    /// The first line that is not blank, and whether another one follows.
    static func firstLine(of text: String) -> (line: String, isCut: Bool) {
        // A text of one line need not be taken apart.
        if !mayHaveLines(text), text.utf8.contains(where: { (0x21...0x7E).contains($0) }) { return (text, false) }
        let lines = text.split(whereSeparator: \.isNewline).filter { !$0.allSatisfy(\.isWhitespace) }
        return (lines.first.map(String.init) ?? "", lines.count > 1)
    }

    /// The text cut to a number of columns, ending in `…` where something was cut. Cuts between characters as people
    /// see them, never within one.
    static func cut(_ text: String, to columns: Int) -> String {
        guard width(of: text) > columns else { return text }
        var result = ""
        // For the `…`.
        var used = 1
        for character in text {
            used += width(of: character)
            if used > columns { break }
            result.append(character)
        }
        return result + "…"
    }

    /// The text with spaces up to a number of columns.
    static func padded(_ text: String, to columns: Int) -> String {
        text + String(repeating: " ", count: max(0, columns - width(of: text)))
    }

    /// How many columns a text takes. Approximate: terminals differ about emoji and ambiguous characters.
    static func width(of text: String) -> Int {
        if isPlain(text) { return text.utf8.count }
        return text.reduce(0) { $0 + width(of: $1) }
    }

    private static func width(of character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        if character.unicodeScalars.contains(where: { $0.value == 0xFE0F || $0.properties.isEmojiPresentation }) {
            return 2
        }
        return isWide(first) ? 2 : (isZeroWidth(first) ? 0 : 1)
    }

    /// The characters that `escaped` writes out. U+061C and U+200E to U+2069 include all bidirectional controls
    /// (Unicode UAX 9); U+FEFF is a byte order mark.
    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F: true
        case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
        default: false
        }
    }

    /// True if the character is in a block that Unicode's EastAsianWidth.txt calls wide or full-width.
    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF: true
        case 0xA000...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60: true
        case 0xFFE0...0xFFE6, 0x20000...0x3FFFD: true
        default: false
        }
    }

    /// True for marks that combine with the character before them, and for format characters.
    private static func isZeroWidth(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: true
        default: false
        }
    }
}
