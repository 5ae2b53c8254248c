import EventLog
import JSON

/// A decoded text with the place of each byte in the frame; finds the secrets within it.
struct SecretText {
    /// The decoded bytes, in which names are searched.
    private(set) var text: [UInt8] = []
    /// The place in the frame of each byte of `text`, and of its end; `nil` if the frame contains `text` undecoded from
    /// `start` on.
    private var places: [Int]?
    /// The index in the frame of the text's first byte.
    private var start = 0

    /// A string of a JSON text.
    init(string token: JSONToken, in bytes: UnsafeBufferPointer<UInt8>) {
        start = token.range.lowerBound
        let raw = UnsafeBufferPointer(rebasing: bytes[token.range])
        if token.hasEscapes {
            decode(raw) { JSONEscape.scalar(raw, at: $0) }
        } else {
            text = Array(raw)
        }
    }

    /// Bytes that are not a JSON text. Decodes only escapes that could hide a name, because an escaped quote must not
    /// end a value.
    init(tolerating bytes: UnsafeBufferPointer<UInt8>) {
        decode(bytes) { index in
            guard let escape = JSONEscape.scalar(bytes, at: index), escape.scalar.isASCII,
                escape.scalar != "\"", escape.scalar != "\\", escape.scalar.value >= 0x20
            else { return nil }
            return escape
        }
    }

    /// True for the bytes of names in JSON, URLs and headers, and of base64url: letters, digits, `_` and `-`.
    static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x2D: true
        default: false
        }
    }

    private mutating func decode(
        _ raw: UnsafeBufferPointer<UInt8>,
        escape: (Int) -> (scalar: Unicode.Scalar, length: Int)?
    ) {
        var places: [Int] = []
        var index = 0
        while index < raw.count {
            if raw[index] == 0x5C, let escape = escape(index) {
                for byte in UTF8.encode(escape.scalar) ?? UTF8.encodedReplacementCharacter {
                    text.append(byte)
                    // Every byte of one character has the place of the whole escape, so a found range covers escapes
                    // whole.
                    places.append(start + index)
                }
                index += escape.length
            } else {
                text.append(raw[index])
                places.append(start + index)
                index += 1
            }
        }
        places.append(start + raw.count)
        assert(places.count == text.count + 1, "each byte of the text has a place, and so has its end")
        self.places = places
    }

    /// The place in the frame of a range of the text.
    private func place(_ range: Range<Int>) -> SecretRange {
        guard let places else { return SecretRange(range: start + range.lowerBound..<start + range.upperBound) }
        return SecretRange(range: places[range.lowerBound]..<places[range.upperBound])
    }

    /// The place in the frame of a place in the text, if the text is a string.
    func inText(_ inner: SecretRange) -> SecretRange {
        SecretRange(range: place(inner.range).range, quoteDepth: inner.quoteDepth.map { $0 + 1 })
    }

    /// True if the text may be a JSON object, array or string.
    var mayBeJSON: Bool {
        text.first { $0 > 0x20 }.map { $0 == 0x7B || $0 == 0x5B || $0 == 0x22 } ?? false
    }
}

extension SecretText {
    /// The parts of a text that are certainly secrets: parameters and users of URLs, headers, JSON Web Tokens.
    func secrets(_ rules: SecretRules) -> [SecretRange] {
        let parameters = parameters(rules)
        return rules.hasCommon ? parameters + credentials() + headerLines() + users() + webTokens() : parameters
    }

    /// The values of secret parameters of URLs: after `?`, `&`, `#` or `;`, a name, `=`.
    private func parameters(_ rules: SecretRules) -> [SecretRange] {
        var found: [SecretRange] = []
        var index = 0
        while let equals = text[index...].firstIndex(of: 0x3D) {
            index = equals + 1
            guard let name = parameterName(before: equals) else { continue }
            let judged = rules.judge(parameter: name)
            guard judged != .plain else { continue }
            let end = text[index...].firstIndex { Self.endsParameter($0) } ?? text.count
            if end > index, judged == .secret || SecretName.looksLikeWebToken(text[index..<end]) {
                found.append(place(index..<end))
            }
            // Behind the value, so that a value is not searched for parameters of its own.
            index = end
        }
        return found
    }

    /// The credentials of Authorization headers: the name, a colon, a scheme, and what follows it.
    private func credentials() -> [SecretRange] {
        var found: [SecretRange] = []
        var word = Word()
        var index = 0
        while let end = wordEnd("authorization", from: index) {
            index = end
            // Quotes, backslashes and spaces may come between, because the text may be JSON or code within a string.
            let colon = skip(from: end) { $0 == 0x22 || $0 == 0x27 || $0 == 0x20 || $0 == 0x5C }
            guard colon < text.count, text[colon] == 0x3A || text[colon] == 0x3D else { continue }
            let wordStart = skip(from: colon + 1) { $0 == 0x22 || $0 == 0x27 || $0 == 0x20 || $0 == 0x5C }
            let first = wordStart..<self.end(of: &word, from: wordStart)
            // `first` is the scheme if it has the name of one, and the next word then the credential; otherwise `first`
            // may be one itself.
            if first.count <= Self.schemeBytesMax, Self.schemes.contains(SecretName.normalized(text[first])) {
                let next = skip(from: first.upperBound) { $0 <= 0x20 }
                let second = next..<self.end(of: &word, from: next)
                if !second.isEmpty { found.append(place(second)) }
            } else if first.count >= Self.credentialBytesMin {
                found.append(place(first))
            }
        }
        return found
    }

    /// The values of other headers: a line that begins with `X-Api-Key:`, or with `Cookie:` or `Set-Cookie:` and a pair
    /// `name=value`. Without such a value the line is a sentence.
    private func headerLines() -> [SecretRange] {
        var found: [SecretRange] = []
        var start = 0
        while start < text.count {
            let end = skip(from: start) { $0 != 0x0A && $0 != 0x0D }
            defer { start = end + 1 }
            let colon = skip(from: start, while: Self.isNameByte)
            guard colon < end, text[colon] == 0x3A, colon - start <= Self.schemeBytesMax else { continue }
            let value = min(end, skip(from: colon + 1) { $0 == 0x20 })..<end
            let isSecret =
                switch SecretName.normalized(text[start..<colon]) {
                case "xapikey", "apikey": !value.isEmpty && !text[value].contains(0x20)
                case "cookie", "setcookie": text[value].prefix { $0 > 0x20 }.dropFirst().contains(0x3D)
                default: false
                }
            if isSecret { found.append(place(value)) }
        }
        return found
    }

    /// The users and passwords of URLs: between `://` and an at sign.
    private func users() -> [SecretRange] {
        var found: [SecretRange] = []
        var index = 0
        while let colon = text[index...].firstIndex(of: 0x3A) {
            index = colon + 1
            let start = colon + 3
            guard start < text.count, text[colon + 1] == 0x2F, text[colon + 2] == 0x2F else { continue }
            let end = skip(from: start, while: Self.isUserByte)
            if end < text.count, text[end] == 0x40, end > start { found.append(place(start..<end)) }
            index = end
        }
        return found
    }

    /// The JSON Web Tokens that stand as words of their own.
    private func webTokens() -> [SecretRange] {
        var found: [SecretRange] = []
        var index = 0
        while index < text.count {
            let start = skip(from: index) { !Self.isNameByte($0) }
            let end = skip(from: start) { Self.isNameByte($0) || $0 == 0x2E }
            index = end
            if let token = webToken(in: start..<end) { found.append(place(token)) }
        }
        return found
    }

    /// The JSON Web Token at the end of a word, signed (three parts) or encrypted (five); a full stop may follow.
    private func webToken(in word: Range<Int>) -> Range<Int>? {
        var end = word.upperBound
        while end > word.lowerBound, text[end - 1] == 0x2E { end -= 1 }
        guard text[word.lowerBound..<end].contains(0x2E) else { return nil }
        var parts = text[word.lowerBound..<end].split(separator: 0x2E, omittingEmptySubsequences: false)[...]
        while parts.count > 2, let first = parts.popFirst() {
            if SecretName.isWebTokenHeader(first) { return first.startIndex..<end }
        }
        return nil
    }

    /// The values of secret members in a text that is not JSON, and the secrets in its URLs and headers.
    func members(isGateway: Bool, _ rules: SecretRules) -> [SecretRange] {
        secrets(rules) + members(tokenIsSecret: isGateway, needsQuote: false, rules)
    }

    /// The same for a text that is a string: only names in quotes count, because people write the others in sentences.
    func quotedMembers(_ rules: SecretRules) -> [SecretRange] {
        secrets(rules) + members(tokenIsSecret: false, needsQuote: true, rules)
    }

    private func members(tokenIsSecret: Bool, needsQuote: Bool, _ rules: SecretRules) -> [SecretRange] {
        var found: [SecretRange] = []
        var word = Word()
        var index = 0
        while index < text.count {
            let start = skip(from: index) { !Self.isNameByte($0) }
            let end = skip(from: start) { Self.isNameByte($0) }
            index = end
            let normal = SecretName.normalized(text[start..<end])
            let judged = rules.judge(normal: normal, tokenIsSecret: tokenIsSecret)
            guard judged != .plain else { continue }
            // An everyday word before a colon may belong to a sentence.
            if needsQuote || SecretName.isWord(normal) && !rules.owns(normal), !isQuoted(at: end) { continue }
            guard let value = memberValue(after: end, &word), !value.isEmpty else { continue }
            if judged == .secret || looksLikeWebToken(value, word) { found.append(place(value)) }
        }
        return found
    }

    /// True if a quote, maybe escaped, or an equals sign follows a name.
    private func isQuoted(at end: Int) -> Bool {
        let next = skip(from: end) { $0 == 0x5C }
        return next < text.count && (text[next] == 0x22 || text[next] == 0x27 || next == end && text[next] == 0x3D)
    }
}

extension SecretText {
    /// A word without quotes that was read. A hostile word may contain a name at every few bytes, whose values all reach to
    /// its end: read for each of them, a text of n bytes would take n² steps.
    private struct Word {
        static let dotCountMax = 3
        /// Empty before the first word.
        var range = 0..<0
        /// The index of the last byte that no token has, if the last dots are behind it; -1 if none is.
        var lastFault = -1
        /// The indexes of the last dots, the last one first.
        var lastDots: [Int] = []
    }

    /// The schemes of Authorization headers that services use (RFC 9110, section 11.6.2), in the form of `normalized`.
    private static let schemes: Set<String> = ["bearer", "basic", "token", "digest", "negotiate", "bot", "apikey"]
    /// The longest text that is compared with them, in bytes.
    private static let schemeBytesMax = 64
    /// The least bytes of a credential without a scheme; a shorter word is more likely part of a sentence.
    private static let credentialBytesMin = 16

    /// The name before an equals sign, with its percent escapes decoded; `nil` if no `?`, `&`, `#` or `;` comes before
    /// it.
    private func parameterName(before equals: Int) -> [UInt8]? {
        var start = equals
        while start > 0, Self.isNameByte(text[start - 1]) || [0x25, 0x2B, 0x2E].contains(text[start - 1]) { start -= 1 }
        guard start > 0, start < equals, [0x3F, 0x26, 0x23, 0x3B].contains(text[start - 1]) else { return nil }
        // A plus sign stands for a space.
        return PercentEncoding.decoded(text[start..<equals].map { $0 == 0x2B ? 0x20 : $0 })
    }

    /// The value after a member's name: from behind the colon or equals sign up to the closing quote, or without an
    /// opening quote up to the word's end.
    private func memberValue(after end: Int, _ word: inout Word) -> Range<Int>? {
        let isFiller: (UInt8) -> Bool = { $0 == 0x22 || $0 == 0x27 || $0 == 0x5C || $0 <= 0x20 }
        let colon = skip(from: end, while: isFiller)
        guard colon < text.count, text[colon] == 0x3A || text[colon] == 0x3D else { return nil }
        let start = skip(from: colon + 1, while: isFiller)
        let quote = text[(colon + 1)..<start].last { $0 == 0x22 || $0 == 0x27 }
        guard let quote else { return start..<self.end(of: &word, from: start) }
        return start..<skip(from: start) { $0 != quote }
    }

    /// The end of the word that contains `start`, which is read at most once.
    private func end(of word: inout Word, from start: Int) -> Int {
        if !word.range.contains(start) {
            word = Word(range: start..<skip(from: start) { !Self.endsWord($0) })
            for index in word.range.reversed() {
                if text[index] == 0x2E {
                    word.lastDots.append(index)
                    if word.lastDots.count == Word.dotCountMax { break }
                } else if !SecretName.isWebTokenByte(text[index]) {
                    word.lastFault = index
                    break
                }
            }
        }
        return word.range.upperBound
    }

    /// `SecretName.looksLikeWebToken` of a value. For the rest of a word the answer is known without reading it.
    private func looksLikeWebToken(_ value: Range<Int>, _ word: Word) -> Bool {
        guard word.range.contains(value.lowerBound), value.upperBound == word.range.upperBound else {
            return SecretName.looksLikeWebToken(text[value])
        }
        return text[value].starts(with: "eyJ".utf8) && word.lastFault < value.lowerBound
            && word.lastDots.count { $0 >= value.lowerBound } == 2
    }

    /// The index behind the next occurrence of a word, in any case, at or after `start`; `nil` if there is none. `word`
    /// must consist of lower-case letters.
    private func wordEnd(_ word: String, from start: Int) -> Int? {
        let letters = Array(word.utf8)
        guard text.count - start >= letters.count else { return nil }
        for index in start...(text.count - letters.count) {
            if zip(letters, text[index...]).allSatisfy({ $0 == $1 | 0x20 }) { return index + letters.count }
        }
        return nil
    }

    /// The index of the first byte at or after `start` that does not meet the condition; `text.count` if all do.
    private func skip(from start: Int, while condition: (UInt8) -> Bool) -> Int {
        var index = start
        while index < text.count, condition(text[index]) { index += 1 }
        return index
    }

    /// True for bytes that end a parameter's value: white space, `&`, `#`, `;`, and the quotes, brackets and signs that
    /// may follow a URL in a text.
    private static func endsParameter(_ byte: UInt8) -> Bool {
        byte <= 0x20 || [0x26, 0x23, 0x3B, 0x22, 0x27, 0x3C, 0x3E, 0x60, 0x29, 0x5D, 0x7D, 0x7C, 0x5C].contains(byte)
    }

    /// True for the bytes of a URL's user and password (RFC 3986, section 3.2.1).
    private static func isUserByte(_ byte: UInt8) -> Bool {
        isNameByte(byte) || byte == 0x25 || ".~!$&'()*+,;=:".utf8.contains(byte)
    }

    /// True for bytes that end a word without quotes: white space, quotes, a comma, closing brackets, a backslash.
    private static func endsWord(_ byte: UInt8) -> Bool {
        byte <= 0x20 || [0x22, 0x27, 0x2C, 0x7D, 0x5D, 0x5C].contains(byte)
    }
}
