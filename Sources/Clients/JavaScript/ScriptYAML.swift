import Projections

/// Reads YAML exactly as js-yaml 3.14.2 does with its safe schema: YAML 1.1 scalars, its leniency about tabs, commas
/// and indentation, and its refusals.
///
/// A recursive descent over bytes: each `read…` takes one kind of node at `place`, or returns false and leaves `place`
/// alone. It bounds what js-yaml does not: nesting, merged keys, and the text of keys.
///
/// The functions follow those of js-yaml's `lib/js-yaml/loader.js`, odd corners included. YAML's specification decides
/// nothing here.
struct ScriptYAML {
    /// The context of a node, which decides which kinds of node it can be. In flow contexts there are no block
    /// collections and no block scalars.
    enum Surroundings {
        /// Within brackets; a key before its colon; a list's entry; a key's value.
        case flowIn, flowOut, blockIn, blockOut
    }

    enum Kind {
        case scalar, sequence, mapping
    }

    /// The deepest nesting of the text.
    static let depthMax = 100
    /// The deepest nesting of the value, which aliases can make deeper than the text. Walks over a value recurse, so it
    /// bounds the use of the stack. js-yaml has no such bound.
    static let valueDepthMax = 400
    /// The most keys that all merges together may copy.
    static let mergedKeysMax = 20_000

    /// The text, ending in a line break and a zero. No other byte is zero: the zero ends every loop.
    let bytes: [UInt8]
    /// The number of bytes before the zero. The last of them is a line break.
    let length: Int
    /// The index in `bytes` of the next byte.
    var place = 0
    /// The number of line breaks before `place`, the index of its line's first byte, and how many spaces that line
    /// begins with. Tabs do not indent.
    var line = 0
    var lineStart = 0
    var lineIndent = 0
    /// The values by their anchors' names; the last value of a name counts. A collection that is still being read is a
    /// `cycle`.
    var anchors: [ExactText: ScriptValue] = [:]
    var depth = 0
    /// The greatest depth within the current node so far, and within the values of its aliases.
    var deepest = 0
    /// How many levels the value of each anchor has below its own.
    var levels: [ExactText: Int] = [:]
    /// How many keys all merges have copied so far.
    var mergedKeys = 0
    /// The number of bytes in all keys so far.
    var keyBytes = 0

    // The current node: set by `readNode`, read by its caller, and overwritten by the next node. `tag` and `anchor` are
    // set before the content is read; `kind` is `nil` for a node without content.
    var tag: String?
    var anchor: ExactText?
    var kind: Kind?
    var result = ScriptValue.null

    /// The value of the only document; `null` for a document without content.
    static func value(of text: String) throws(ScriptFault) -> ScriptValue {
        if text.isEmpty { throw .invalid }
        var reader = try ScriptYAML(text)
        // `skipSpace` counts a line's indentation after its line break only; the first line has none before it.
        while reader.byte == 0x20 {
            reader.lineIndent += 1
            reader.place += 1
        }
        // The last byte is a line break. A text of blanks and nothing else has no document.
        guard reader.place < reader.length - 1 else { throw .invalid }
        try reader.readDocument()
        assert(reader.depth == 0, "every node that was entered was left")
        // Any text left is another document.
        guard reader.place >= reader.length - 1 else { throw .invalid }
        return reader.result
    }

    /// Prepares the bytes as js-yaml does: without a byte order mark, with a line break at the end. A NUL is invalid.
    private init(_ text: String) throws(ScriptFault) {
        var bytes = Array(text.utf8)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        if bytes.contains(0) { throw .invalid }
        if bytes.last != 0x0A && bytes.last != 0x0D { bytes.append(0x0A) }
        length = bytes.count
        self.bytes = bytes + [0]
    }

    /// Reads one document and, if they are there, its `---` and `...`.
    private mutating func readDocument() throws(ScriptFault) {
        try skipSpace(comments: true)
        // A directive needs a `---` after it, which would have ended the front matter.
        if lineIndent == 0, byte == UInt8(ascii: "%") { throw .invalid }
        if lineIndent == 0, byte == UInt8(ascii: "-"), byte(1) == byte, byte(2) == byte {
            place += 3
            try skipSpace(comments: true)
        }
        _ = try readNode(lineIndent - 1, .blockOut, seeks: false, isCompact: true)
        let value = result
        try skipSpace(comments: true)
        if place == lineStart, isDocumentBorder {
            if byte == UInt8(ascii: ".") {
                place += 3
                try skipSpace(comments: true)
            }
        } else if place < length - 1 {
            throw .invalid
        }
        result = value
    }
}

// MARK: - Bytes and lines

extension ScriptYAML {
    var byte: UInt8 { bytes[place] }

    /// A byte further on; 0 beyond the end.
    func byte(_ distance: Int) -> UInt8 { place + distance < bytes.count ? bytes[place + distance] : 0 }

    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    static func isBreak(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }

    static func isSpace(_ byte: UInt8) -> Bool { isBlank(byte) || isBreak(byte) }

    static func isBracketOrComma(_ byte: UInt8) -> Bool { ",[]{}".utf8.contains(byte) }

    /// Takes one line break: LF, CR or CR LF.
    mutating func readBreak() throws(ScriptFault) {
        guard Self.isBreak(byte) else { throw .invalid }
        place += byte == 0x0D && byte(1) == 0x0A ? 2 : 1
        line += 1
        lineStart = place
    }

    /// Skips blanks, line breaks and, if `comments` is true, comments; returns the number of line breaks. Sets
    /// `lineIndent` on each new line.
    @discardableResult
    mutating func skipSpace(comments: Bool) throws(ScriptFault) -> Int {
        var breaks = 0
        while byte != 0 {
            while Self.isBlank(byte) { place += 1 }
            if comments, byte == UInt8(ascii: "#") { skipLine() }
            guard Self.isBreak(byte) else { break }
            try readBreak()
            breaks += 1
            lineIndent = 0
            while byte == 0x20 {
                lineIndent += 1
                place += 1
            }
        }
        return breaks
    }

    /// Moves to the next line break, which stays.
    mutating func skipLine() {
        while !Self.isBreak(byte), byte != 0 { place += 1 }
    }

    /// Whether `---` or `...` is here, followed by a space or the end.
    var isDocumentBorder: Bool {
        guard byte == UInt8(ascii: "-") || byte == UInt8(ascii: "."), byte(1) == byte, byte(2) == byte else {
            return false
        }
        return byte(3) == 0 || Self.isSpace(byte(3))
    }

    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
}

// MARK: - Nodes

extension ScriptYAML {
    /// Reads the node at `place` into `tag`, `anchor`, `kind` and `result`; false if there is none. (js-yaml's
    /// `composeNode`.)
    ///
    /// - Parameters:
    ///   - parentIndent: the indentation of the collection around the node.
    ///   - seeks: whether the node may begin on a later line.
    ///   - isCompact: whether a block collection may begin on the parent's own line, as in `- a: 1`.
    mutating func readNode(
        _ parentIndent: Int,
        _ surroundings: Surroundings,
        seeks: Bool,
        isCompact: Bool
    ) throws(ScriptFault) -> Bool {
        depth += 1
        guard depth <= Self.depthMax else { throw .tooDeep }
        let outerDeepest = deepest
        deepest = depth
        defer {
            deepest = max(deepest, outerDeepest)
            depth -= 1
        }
        (tag, anchor, kind, result) = (nil, nil, nil, .null)
        let isBlock = surroundings == .blockIn || surroundings == .blockOut
        var position = Position(allowsCollections: isBlock)
        if seeks, try skipSpace(comments: true) > 0 {
            position.isOnNewLine = true
            position.indent = compared(to: parentIndent)
        }
        try readProperties(parentIndent, isBlock: isBlock, &position)
        let allowsCollections = position.allowsCollections && (position.isOnNewLine || isCompact)
        var hasContent = false
        if position.indent > 0 {
            // A scalar's further lines must be indented deeper than a block collection around it; within brackets they
            // need not.
            let flowIndent = isBlock ? parentIndent + 1 : parentIndent
            hasContent = try readContent(flowIndent, surroundings, isBlock: isBlock, allowsCollections)
        } else if position.indent == 0, surroundings == .blockOut, allowsCollections {
            // A list may be indented no further than the key that it belongs to.
            hasContent = try readBlockSequence(place - lineStart)
        }
        try resolve()
        if let anchor { levels[anchor] = deepest - depth }
        return tag != nil || anchor != nil || hasContent
    }

    /// The position of a node relative to its parent.
    private struct Position {
        var allowsCollections: Bool
        var isOnNewLine = false
        /// Positive: indented further than the parent; 0: equally; negative: less.
        var indent = 1
    }

    private func compared(to parentIndent: Int) -> Int { lineIndent - parentIndent }

    /// Reads a tag and an anchor, in either order, each perhaps on a line of its own.
    private mutating func readProperties(
        _ parentIndent: Int,
        isBlock: Bool,
        _ position: inout Position
    ) throws(ScriptFault) {
        guard position.indent > 0 else { return }
        while try readProperty() {
            if try skipSpace(comments: true) > 0 {
                position.isOnNewLine = true
                position.allowsCollections = isBlock
                position.indent = compared(to: parentIndent)
            } else {
                // Behind a property on the same line only a scalar or a flow collection can follow.
                position.allowsCollections = false
            }
        }
    }

    private mutating func readProperty() throws(ScriptFault) -> Bool {
        if try readTag() { return true }
        return try readAnchor()
    }

    /// Reads the node's content; false if there is none, so that the node is null or an empty value of its tag. The
    /// order of the attempts is js-yaml's.
    private mutating func readContent(
        _ flowIndent: Int,
        _ surroundings: Surroundings,
        isBlock: Bool,
        _ allowsCollections: Bool
    ) throws(ScriptFault) -> Bool {
        let blockIndent = place - lineStart
        if allowsCollections {
            if try readBlockSequence(blockIndent) { return true }
            if try readBlockMapping(blockIndent, flowIndent) { return true }
        }
        if try readFlowCollection(flowIndent) { return true }
        var isRead = false
        if isBlock { isRead = try readBlockScalar(flowIndent) }
        if !isRead { isRead = try readSingleQuoted() }
        if !isRead { isRead = try readDoubleQuoted() }
        if !isRead, try readAlias() {
            // An alias is a whole node; it can have no properties of its own.
            if tag != nil || anchor != nil { throw .invalid }
            return true
        }
        if !isRead, try readPlain(flowIndent, isInFlow: surroundings == .flowIn) {
            isRead = true
            if tag == nil { tag = ScriptYAMLTypes.implicitTag }
        }
        // The unresolved text; `resolve` replaces it by the typed value.
        if let anchor { anchors[anchor] = result }
        return isRead
    }

    /// Converts the node to the type of its tag. The tag `!` keeps the text, which is what quotes do.
    private mutating func resolve() throws(ScriptFault) {
        guard let tag, tag != "!" else { return }
        if tag == ScriptYAMLTypes.implicitTag {
            guard case .string(let text) = result, kind == .scalar else {
                if kind != nil { throw .unknownTag }
                return
            }
            guard let found = ScriptYAMLTypes.implicit(text) else { return }
            (self.tag, result) = (found.tag, found.value)
        } else {
            result = try ScriptYAMLTypes.explicit(tag, kind, result)
        }
        if let anchor { anchors[anchor] = result }
    }
}
