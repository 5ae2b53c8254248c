import Projections

extension ScriptYAML {
    /// Reads a tag: `!`, `!name`, `!!name`, `!<uri>`. No handle is ever declared, as directives are refused.
    mutating func readTag() throws(ScriptFault) -> Bool {
        guard byte == UInt8(ascii: "!") else { return false }
        guard tag == nil else { throw .invalid }
        place += 1
        if byte == UInt8(ascii: "<") {
            tag = try readVerbatimTag()
            return true
        }
        let isShort = byte == UInt8(ascii: "!")
        if isShort { place += 1 }
        let start = place
        while byte != 0, !Self.isSpace(byte) { place += 1 }
        let name = bytes[start..<place]
        // A second exclamation mark would end an undeclared handle.
        guard !name.contains(UInt8(ascii: "!")), !name.contains(where: Self.isBracketOrComma), Self.isURI(name) else {
            throw .unknownTag
        }
        tag = (isShort ? ScriptYAMLTypes.prefix : "!") + text(start..<place)
        return true
    }

    /// Reads `<uri>` behind the exclamation mark.
    private mutating func readVerbatimTag() throws(ScriptFault) -> String {
        place += 1
        let start = place
        // The first byte is taken whatever it is, as in js-yaml: `!<>` does not end here.
        repeat { place += 1 } while byte != 0 && byte != UInt8(ascii: ">") && place < length
        guard place < length, byte == UInt8(ascii: ">") else { throw .invalid }
        let name = start..<place
        place += 1
        guard Self.isURI(bytes[name]) else { throw .unknownTag }
        return text(name)
    }

    /// Whether a tag's name consists of the characters allowed in a URI (js-yaml's `PATTERN_TAG_URI`). The empty name
    /// does.
    private static func isURI(_ name: ArraySlice<UInt8>) -> Bool {
        var rest = name
        guard let first = rest.popFirst() else { return true }
        if first != UInt8(ascii: "!"), isBracketOrComma(first) { return false }
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard rest.count > 1, rest.prefix(2).allSatisfy({ hexadecimalValue($0) != nil }) else { return false }
                rest = rest.dropFirst(2)
            } else if !"-#;/?:@&=+$,_.!~*'()[]".utf8.contains(byte), !isLetterOrDigit(byte) {
                return false
            }
        }
        return true
    }

    static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) && byte >= 0x41 && byte < 0x80
    }

    /// The value of a hexadecimal digit in either case; `nil` for any other byte.
    static func hexadecimalValue(_ byte: UInt8) -> UInt32? {
        if (0x30...0x39).contains(byte) { return UInt32(byte - 0x30) }
        return byte < 0x80 && (0x61...0x66).contains(byte | 0x20) ? UInt32((byte | 0x20) - 0x61 + 10) : nil
    }

    /// Reads `&name`.
    mutating func readAnchor() throws(ScriptFault) -> Bool {
        guard byte == UInt8(ascii: "&") else { return false }
        guard anchor == nil else { throw .invalid }
        anchor = try readName()
        return true
    }

    /// Reads `*name`: the value of the anchor, or a cycle if the anchor's collection is unfinished. The value is
    /// shared, not copied: an alias costs O(1) here, however large its value is.
    mutating func readAlias() throws(ScriptFault) -> Bool {
        guard byte == UInt8(ascii: "*") else { return false }
        let name = try readName()
        guard let value = anchors[name] else { throw .invalid }
        deepest = max(deepest, depth + levels[name, default: 0])
        guard deepest <= Self.valueDepthMax else { throw .tooDeep }
        result = value
        try skipSpace(comments: true)
        return true
    }

    /// Reads the name of an anchor or alias behind its `&` or `*`.
    private mutating func readName() throws(ScriptFault) -> ExactText {
        place += 1
        let start = place
        while byte != 0, !Self.isSpace(byte), !Self.isBracketOrComma(byte) { place += 1 }
        guard place > start else { throw .invalid }
        return ExactText(text(start..<place))
    }
}
