extension ScriptYAML {
    /// Reads a scalar without quotes; it may go on over lines that are indented at least `nodeIndent`. (js-yaml's
    /// `readPlainScalar`.)
    mutating func readPlain(_ nodeIndent: Int, isInFlow: Bool) throws(ScriptFault) -> Bool {
        guard canBeginPlain(isInFlow: isInFlow) else { return false }
        var text: [UInt8] = []
        // The piece of the current line that belongs to the text; `end` is behind its last byte that is no blank.
        var (start, end) = (place, place)
        var breaks = 0
        while byte != 0 {
            if byte == UInt8(ascii: ":") {
                if endsPlain(byte(1), isInFlow: isInFlow) { break }
            } else if byte == UInt8(ascii: "#") {
                // A `#` begins a comment only behind a space; elsewhere it is text.
                if place > 0, Self.isSpace(bytes[place - 1]) { break }
            } else if place == lineStart && isDocumentBorder || isInFlow && Self.isBracketOrComma(byte) {
                break
            } else if Self.isBreak(byte) {
                // A break may be part of the scalar or its end, which the next line's indentation decides.
                let (line, lineStart, lineIndent) = (line, lineStart, lineIndent)
                try skipSpace(comments: false)
                guard self.lineIndent >= nodeIndent else {
                    // The next line belongs to the parent. The blanks and breaks before it are given back.
                    (self.line, self.lineStart, self.lineIndent) = (line, lineStart, lineIndent)
                    place = end
                    break
                }
                // Not written yet: if the scalar ends on the next line, its last breaks are no part of it.
                breaks = self.line - line
                continue
            }
            if breaks > 0 {
                try append(start..<end, to: &text)
                Self.fold(breaks, into: &text)
                (start, end, breaks) = (place, place, 0)
            }
            // Blanks at a line's end are dropped by not moving `end`.
            if !Self.isBlank(byte) { end = place + 1 }
            place += 1
        }
        try append(start..<end, to: &text)
        guard !text.isEmpty else { return false }
        setScalar(text)
        return true
    }

    /// Whether a plain scalar can begin here: no indicator, or a `?` or `-` with something directly behind it.
    private func canBeginPlain(isInFlow: Bool) -> Bool {
        if byte == 0 || Self.isSpace(byte) || ",[]{}#&*!|>'\"%@`".utf8.contains(byte) { return false }
        guard byte == UInt8(ascii: "?") || byte == UInt8(ascii: "-") else { return true }
        return !endsPlain(byte(1), isInFlow: isInFlow)
    }

    /// Whether a colon (or a leading `?` or `-`) before this byte is an indicator and not text.
    private func endsPlain(_ following: UInt8, isInFlow: Bool) -> Bool {
        Self.isSpace(following) || isInFlow && Self.isBracketOrComma(following)
    }

    /// Reads `'…'`; two quotes within are one.
    mutating func readSingleQuoted() throws(ScriptFault) -> Bool {
        guard byte == UInt8(ascii: "'") else { return false }
        place += 1
        var text: [UInt8] = []
        var (start, end) = (place, place)
        while byte != 0 {
            if byte == UInt8(ascii: "'") {
                try append(start..<place, to: &text, isQuoted: true)
                place += 1
                guard byte == UInt8(ascii: "'") else {
                    setScalar(text)
                    return true
                }
                // The second of two quotes is the text's next byte.
                start = place
                place += 1
                end = place
            } else {
                try readQuoted(&text, &start, &end)
            }
        }
        throw .invalid
    }

    /// Reads `"…"` with escapes.
    mutating func readDoubleQuoted() throws(ScriptFault) -> Bool {
        guard byte == UInt8(ascii: "\"") else { return false }
        place += 1
        var text: [UInt8] = []
        var (start, end) = (place, place)
        while byte != 0 {
            if byte == UInt8(ascii: "\"") {
                try append(start..<place, to: &text, isQuoted: true)
                place += 1
                setScalar(text)
                return true
            }
            if byte == UInt8(ascii: "\\") {
                try append(start..<place, to: &text, isQuoted: true)
                place += 1
                try readEscape(into: &text)
                (start, end) = (place, place)
            } else {
                try readQuoted(&text, &start, &end)
            }
        }
        throw .invalid
    }

    /// Takes one byte within quotes, or folds the line breaks there.
    private mutating func readQuoted(_ text: inout [UInt8], _ start: inout Int, _ end: inout Int) throws(ScriptFault) {
        if Self.isBreak(byte) {
            try append(start..<end, to: &text, isQuoted: true)
            Self.fold(try skipSpace(comments: false), into: &text)
            (start, end) = (place, place)
        } else if place == lineStart, isDocumentBorder {
            throw .invalid
        } else {
            place += 1
            end = place
        }
    }

    /// Reads an escape behind its backslash (YAML 1.1, 5.6). A backslash at a line's end joins the lines without a
    /// space.
    private mutating func readEscape(into text: inout [UInt8]) throws(ScriptFault) {
        if Self.isBreak(byte) {
            try skipSpace(comments: false)
            return
        }
        if let escaped = Self.escapes[byte] {
            text += escaped.utf8
            place += 1
            return
        }
        guard let count = Self.hexadecimalLengths[byte] else { throw .invalid }
        var value: UInt32 = 0
        for _ in 0..<count {
            place += 1
            guard let digit = Self.hexadecimalValue(byte) else { throw .invalid }
            value = value << 4 | digit
        }
        place += 1
        appendUnit(value, to: &text)
    }

    /// Appends a code point. Two escapes that form a surrogate pair are one scalar; an unpaired one becomes U+FFFD.
    private func appendUnit(_ value: UInt32, to text: inout [UInt8]) {
        if (0xDC00...0xDFFF).contains(value), let high = Self.highSurrogate(at: text) {
            assert((0xD800...0xDBFF).contains(high), "the first half of a pair is a high surrogate")
            text.removeLast(3)
            let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (value - 0xDC00))
            text += String(Character(scalar ?? "\u{FFFD}")).utf8
        } else if (0xD800...0xDFFF).contains(value) {
            // Kept as three bytes of invalid UTF-8 until the other half follows; else decoding makes it U+FFFD.
            text += [0xED, UInt8(0x80 | value >> 6 & 0x3F), UInt8(0x80 | value & 0x3F)]
        } else {
            text += String(Character(Unicode.Scalar(value) ?? "\u{FFFD}")).utf8
        }
    }

    /// The high surrogate whose three bytes end the text; `nil` if it ends otherwise. Only `appendUnit` writes such
    /// bytes: the source is valid UTF-8, which contains no surrogates.
    private static func highSurrogate(at text: [UInt8]) -> UInt32? {
        guard text.count > 2, text[text.count - 3] == 0xED, (0xA0...0xAF).contains(text[text.count - 2]) else {
            return nil
        }
        return 0xD000 | UInt32(text[text.count - 2] & 0x3F) << 6 | UInt32(text[text.count - 1] & 0x3F)
    }

    /// How many digits follow `\x`, `\u` and `\U`.
    private static let hexadecimalLengths: [UInt8: Int] = [
        UInt8(ascii: "x"): 2, UInt8(ascii: "u"): 4, UInt8(ascii: "U"): 8,
    ]

    private static let escapes: [UInt8: String] = [
        UInt8(ascii: "0"): "\0", UInt8(ascii: "a"): "\u{7}", UInt8(ascii: "b"): "\u{8}", UInt8(ascii: "t"): "\t",
        0x09: "\t", UInt8(ascii: "n"): "\n", UInt8(ascii: "v"): "\u{B}", UInt8(ascii: "f"): "\u{C}",
        UInt8(ascii: "r"): "\r", UInt8(ascii: "e"): "\u{1B}", UInt8(ascii: " "): " ", UInt8(ascii: "\""): "\"",
        UInt8(ascii: "/"): "/", UInt8(ascii: "\\"): "\\", UInt8(ascii: "N"): "\u{85}", UInt8(ascii: "_"): "\u{A0}",
        UInt8(ascii: "L"): "\u{2028}", UInt8(ascii: "P"): "\u{2029}",
    ]

    /// Makes the current node a text.
    mutating func setScalar(_ text: [UInt8]) {
        kind = .scalar
        result = .string(String(decoding: text, as: UTF8.self))
    }

    /// Appends bytes of the source. Throws on a non-printable character; within quotes only on one below U+0020 except
    /// tab.
    func append(_ range: Range<Int>, to text: inout [UInt8], isQuoted: Bool = false) throws(ScriptFault) {
        assert(range.upperBound <= length, "the closing zero is no part of a text")
        let piece = bytes[range]
        if isQuoted {
            if piece.contains(where: { $0 < 0x20 && $0 != 0x09 }) { throw .invalid }
        } else if Self.holdsNonPrintable(piece) {
            throw .invalid
        }
        text += piece
    }

    /// Whether UTF-8 contains U+0000 … U+001F (except tab and line breaks), U+007F … U+009F (except U+0085), U+FFFE or
    /// U+FFFF.
    private static func holdsNonPrintable(_ piece: ArraySlice<UInt8>) -> Bool {
        var before: (UInt8, UInt8) = (0, 0)
        for byte in piece {
            if byte < 0x20 && byte != 0x09 && !isBreak(byte) || byte == 0x7F { return true }
            if before.1 == 0xC2, byte != 0x85, (0x80...0x9F).contains(byte) { return true }
            if before == (0xEF, 0xBF), byte >= 0xBE { return true }
            before = (before.1, byte)
        }
        return false
    }

    /// Folds line breaks: one is a space, and of several all but the first stay.
    static func fold(_ breaks: Int, into text: inout [UInt8]) {
        if breaks == 1 { text.append(0x20) }
        if breaks > 1 { text += repeatElement(0x0A, count: breaks - 1) }
    }
}
