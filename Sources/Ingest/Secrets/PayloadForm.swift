/// How the bytes of a payload are read, and so how a secret in them is replaced.
enum PayloadForm {
    /// UTF-8, or bytes that nothing shows to be anything else.
    case text
    /// UTF-16, as JSON texts were once written; the text is the same in UTF-8.
    case utf16(UTF16Text)
    /// A binary form such as MessagePack, in which lengths come before texts. A substitute has the secret's length.
    case binary

    init(_ payload: [UInt8]) {
        if let text = UTF16Text(payload) {
            self = .utf16(text)
        } else {
            self = Self.isBinary(payload) ? .binary : .text
        }
    }

    /// True for bytes that begin no text, or that contain a control character which no text has.
    private static func isBinary(_ payload: [UInt8]) -> Bool {
        guard let first = payload.first else { return false }
        if first >= 0x80, String(validating: payload.prefix(4).prefix { $0 >= 0x80 }, as: UTF8.self) == nil {
            return true
        }
        return payload.contains { $0 < 0x20 && ![0x09, 0x0A, 0x0D].contains($0) }
    }

    /// The bytes that take the place of a secret.
    func substitute(for place: SecretRange) -> [UInt8] {
        switch self {
        case .binary: return Self.padded(place.range.count)
        case .text, .utf16:
            let quote = place.quoteDepth.map(Self.quote) ?? []
            let text = quote + Secrets.substitute + quote
            guard case .utf16(let form) = self else { return text }
            return text.flatMap { form.isBigEndian ? [0, $0] : [$0, 0] }
        }
    }

    /// True if bytes begin with a substitute, and the place of `count` bytes at their beginning is no longer than it.
    func isSubstitute(_ bytes: ArraySlice<UInt8>, count: Int) -> Bool {
        if case .binary = self { return bytes.prefix(count).elementsEqual(Self.padded(count)) }
        // In a plain text the substitute's closing bracket ends a value, so the found range may be shorter than it.
        return count <= Secrets.substitute.count && bytes.starts(with: Secrets.substitute)
    }

    /// A substitute of a given length: `[redacted]` and stars, or stars alone.
    private static func padded(_ count: Int) -> [UInt8] {
        let text = count < Secrets.substitute.count ? [] : Secrets.substitute
        return text + repeatElement(0x2A, count: count - text.count)
    }

    /// A quote in a text that lies in so many JSON strings: each string escapes the backslashes and the quote.
    private static func quote(depth: Int) -> [UInt8] {
        Array(repeating: 0x5C, count: 1 << depth - 1) + [0x22]
    }
}

/// A payload in UTF-16, as UTF-8, with the place of each byte.
struct UTF16Text {
    let isBigEndian: Bool
    /// The text in UTF-8. Half a surrogate pair is U+FFFD.
    private(set) var bytes: [UInt8] = []
    /// The place in the payload of each byte of `bytes`, and of its end.
    private var places: [Int] = []

    /// Reads a payload that begins with a byte order mark, or with two characters of ASCII; `nil` for any other.
    init?(_ payload: [UInt8]) {
        guard payload.count >= 4 else { return nil }
        let start: Int
        switch (payload[0], payload[1], payload[2], payload[3]) {
        case (0xFE, 0xFF, _, _): (isBigEndian, start) = (true, 2)
        case (0xFF, 0xFE, _, _): (isBigEndian, start) = (false, 2)
        case (0, 0x09..., 0, 0x09...): (isBigEndian, start) = (true, 0)
        case (0x09..., 0, 0x09..., 0): (isBigEndian, start) = (false, 0)
        default: return nil
        }
        var decoder = UTF16()
        var units = stride(from: start, to: payload.count - 1, by: 2).lazy.map { [isBigEndian] place in
            let (first, second) = (UInt16(payload[place]), UInt16(payload[place + 1]))
            return isBigEndian ? first << 8 | second : second << 8 | first
        }.makeIterator()
        var place = start
        while true {
            let scalar: Unicode.Scalar
            switch decoder.decode(&units) {
            case .scalarValue(let value): scalar = value
            case .error: scalar = "\u{FFFD}"
            case .emptyInput:
                places.append(place)
                return
            }
            for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
                bytes.append(byte)
                places.append(place)
            }
            place += scalar.value > 0xFFFF ? 4 : 2
        }
    }

    /// The place in the payload of a place in the text.
    func place(_ text: SecretRange) -> SecretRange {
        SecretRange(range: places[text.range.lowerBound]..<places[text.range.upperBound], quoteDepth: text.quoteDepth)
    }
}
