/// The fast path for the front matter of most messages: lines `key: value` whose values YAML takes verbatim, and lines
/// `key: [value, value]` with lists of short words.
///
/// Refuses all text that a YAML reader could read otherwise: quotes, other lists, indentation, comments, anchors, bytes
/// other than printable ASCII; and more keys or elements than messages have. A property test checks that both readers
/// agree.
enum PlainFrontMatter {
    private static let keyCountMax = 16
    private static let elementCountMax = 32

    /// The members, without those that are empty or `null`; `nil` if only a YAML reader can decide.
    static func members(of text: Substring) -> JSONObject? {
        var members = JSONObject()
        var names: [String] = []
        for line in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: true) {
            let line = line.last == 0x0D ? line.dropLast() : line
            if line.isEmpty { continue }
            guard let colon = line.firstIndex(of: 0x3A), isKey(line[..<colon]) else { return nil }
            let name = String(Substring(line[..<colon]))
            // YAML refuses repeated keys; its reader reports them.
            guard names.count < keyCountMax, !names.contains(name) else { return nil }
            names.append(name)
            let rest = line[line.index(after: colon)...]
            if rest.isEmpty { continue }
            guard rest.first == 0x20, let value = list(rest.dropFirst()) ?? value(rest.dropFirst()) else { return nil }
            if value != .string("null") { members[name] = value }
        }
        return names.isEmpty ? nil : members
    }

    /// Letters, digits and `_`, starting with a letter, and short enough to be a simple key of YAML.
    private static func isKey(_ key: Substring.UTF8View) -> Bool {
        guard let first = key.first, isLetter(first), key.count <= 64 else { return false }
        return key.allSatisfy { isLetter($0) || isDigit($0) || $0 == 0x5F }
    }

    /// A plain scalar that YAML takes verbatim; `nil` if a YAML reader must decide. Other first characters may begin a
    /// quoted text, a list, an anchor or a comment; a last colon would make a key.
    private static func value(_ text: Substring.UTF8View) -> JSONValue? {
        guard let first = text.first, let last = text.last,
            isLetter(first) || isDigit(first) || first == 0x2E || first == 0x2F,
            last != 0x20, last != 0x3A
        else { return nil }
        var previous: UInt8 = 0x20
        for byte in text {
            guard (0x20...0x7E).contains(byte) else { return nil }
            // In YAML `: ` starts a value and ` #` a comment.
            if byte == 0x20, previous == 0x3A { return nil }
            if byte == 0x23, previous == 0x20 { return nil }
            previous = byte
        }
        return .string(String(Substring(text)))
    }

    /// A list in brackets of words that are no `null`; `nil` for anything else.
    private static func list(_ text: Substring.UTF8View) -> JSONValue? {
        guard text.first == 0x5B, text.last == 0x5D else { return nil }
        var elements: [JSONValue] = []
        for part in text.dropFirst().dropLast().split(separator: 0x2C, omittingEmptySubsequences: false) {
            let word = part.first == 0x20 ? part.dropFirst() : part
            guard elements.count < elementCountMax, !word.isEmpty, word.allSatisfy({ isLetter($0) || isDigit($0) })
            else { return nil }
            let element = JSONValue.string(String(Substring(word)))
            if element == .string("null") { return nil }
            elements.append(element)
        }
        return .array(elements)
    }

    /// The bit 0x20 makes an ASCII letter lower case.
    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte | 0x20) && byte >= 0x41
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte)
    }
}
