/// The fast path for the front matter of most messages: lines `key: value` whose values YAML takes verbatim.
///
/// Refuses all text that a YAML reader could read otherwise: quotes, lists, indentation, comments, anchors, bytes other
/// than printable ASCII. A property test checks that both readers agree.
enum PlainFrontMatter {
    /// The members, without those that are empty or `null`; `nil` if only a YAML reader can decide.
    static func members(of text: Substring) -> JSONObject? {
        var members = JSONObject()
        var names: Set<String> = []
        for line in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: true) {
            let line = line.last == 0x0D ? line.dropLast() : line
            if line.isEmpty { continue }
            guard let colon = line.firstIndex(of: 0x3A), isKey(line[..<colon]) else { return nil }
            let name = String(Substring(line[..<colon]))
            // YAML refuses repeated keys; its reader reports them.
            guard names.insert(name).inserted else { return nil }
            let rest = line[line.index(after: colon)...]
            if rest.isEmpty { continue }
            guard rest.first == 0x20, let value = value(rest.dropFirst()) else { return nil }
            if value != "null" { members[name] = .string(value) }
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
    private static func value(_ text: Substring.UTF8View) -> String? {
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
        return String(Substring(text))
    }

    /// The bit 0x20 makes an ASCII letter lower case.
    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte | 0x20) && byte >= 0x41
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte)
    }
}
