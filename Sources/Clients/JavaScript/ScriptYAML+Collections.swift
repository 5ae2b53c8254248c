import Projections

extension ScriptYAML {
    /// A map that is being read.
    struct Map {
        var members: [ExactText: ScriptValue] = [:]
        /// The keys that came from a merge; the map's own keys replace them.
        var merged: Set<ExactText> = []
    }

    /// The collection's own properties, to be restored: reading its parts overwrites the current node.
    private struct Outer {
        let tag: String?
        let anchor: ExactText?
    }

    private var outer: Outer { Outer(tag: tag, anchor: anchor) }

    /// Makes a collection the current node, with the properties that it had before its parts were read.
    private mutating func finish(_ outer: Outer, _ kind: Kind, _ value: ScriptValue) {
        (tag, anchor) = (outer.tag, outer.anchor)
        (self.kind, result) = (kind, value)
        if let anchor { anchors[anchor] = value }
    }

    /// Until the collection is finished, an alias of its anchor is a cycle.
    private mutating func open(isArray: Bool) {
        guard let anchor else { return }
        anchors[anchor] = .cycle(isArray: isArray)
        levels[anchor] = 0
    }

    /// Reads the entries `- …` in column `nodeIndent`; false if none is there. (js-yaml's `readBlockSequence`.)
    mutating func readBlockSequence(_ nodeIndent: Int) throws(ScriptFault) -> Bool {
        let outer = outer
        var elements: [ScriptValue] = []
        var isDetected = false
        open(isArray: true)
        while byte == UInt8(ascii: "-"), Self.isSpace(byte(1)) {
            isDetected = true
            place += 1
            // Nothing is indented below the dash: the entry is null.
            if try skipSpace(comments: true) > 0, lineIndent <= nodeIndent {
                elements.append(.null)
                continue
            }
            let line = line
            _ = try readNode(nodeIndent, .blockIn, seeks: false, isCompact: true)
            elements.append(result)
            try skipSpace(comments: true)
            // Something follows the entry on its line, or is indented deeper than the list.
            if self.line == line || lineIndent > nodeIndent, byte != 0 { throw .invalid }
            if lineIndent < nodeIndent { break }
        }
        guard isDetected else { return false }
        finish(outer, .sequence, .array(elements))
        return true
    }

    /// Reads a block map in column `nodeIndent`. If the first node is no key, that node is the result. (js-yaml's
    /// `readBlockMapping`.)
    mutating func readBlockMapping(_ nodeIndent: Int, _ flowIndent: Int) throws(ScriptFault) -> Bool {
        let outer = outer
        var map = Map()
        var key = Key()
        var isDetected = false
        open(isArray: false)
        while byte != 0 {
            let line = line
            var isCompact = true
            if byte == UInt8(ascii: "?") || byte == UInt8(ascii: ":"), Self.isSpace(byte(1)) {
                if byte == UInt8(ascii: "?") {
                    // Two `?` in a row: the first key has no value.
                    if key.isExplicit { try store(&key, .null, in: &map) }
                    isDetected = true
                    key.isExplicit = true
                } else {
                    guard key.isExplicit else { throw .invalid }
                    key.isExplicit = false
                }
                place += 1
            } else {
                guard try readNode(flowIndent, .flowOut, seeks: false, isCompact: true) else { break }
                guard try isKey(startedOn: line) else {
                    if isDetected { throw .invalid }
                    // The node itself stays the result, with the properties that were read before it.
                    (tag, anchor) = (outer.tag, outer.anchor)
                    return true
                }
                if key.isExplicit { try store(&key, .null, in: &map) }
                isDetected = true
                isCompact = false
                key = Key(tag: tag, value: result)
            }
            if self.line == line || lineIndent > nodeIndent {
                try readValue(&key, nodeIndent, isCompact: isCompact, in: &map)
            }
            if lineIndent > nodeIndent, byte != 0 { throw .invalid }
            if lineIndent < nodeIndent { break }
        }
        if key.isExplicit { try store(&key, .null, in: &map) }
        guard isDetected else { return false }
        finish(outer, .mapping, .object(map.members))
        return true
    }

    /// Takes the colon that makes a key of the node read on `line`; false if there is none.
    private mutating func isKey(startedOn line: Int) throws(ScriptFault) -> Bool {
        guard self.line == line else { return false }
        while Self.isBlank(byte) { place += 1 }
        guard byte == UInt8(ascii: ":") else { return false }
        place += 1
        guard Self.isSpace(byte) else { throw .invalid }
        return true
    }

    /// Reads what follows a `?` or a colon, and stores the pair once it has both halves.
    private mutating func readValue(
        _ key: inout Key,
        _ nodeIndent: Int,
        isCompact: Bool,
        in map: inout Map
    ) throws(ScriptFault) {
        if try readNode(nodeIndent, .blockOut, seeks: true, isCompact: isCompact) {
            if key.isExplicit { key.value = result } else { key.content = result }
        }
        if !key.isExplicit { try store(&key, key.content, in: &map) }
        try skipSpace(comments: true)
    }

    /// Reads `[…]` or `{…}`. An entry without content is null. In a list, `a: b` is a map of one member. (js-yaml's
    /// `readFlowCollection`.)
    mutating func readFlowCollection(_ nodeIndent: Int) throws(ScriptFault) -> Bool {
        guard byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") else { return false }
        let outer = outer
        let isMap = byte == UInt8(ascii: "{")
        let terminator = isMap ? UInt8(ascii: "}") : UInt8(ascii: "]")
        var map = Map()
        var elements: [ScriptValue] = []
        var isSeparated = true
        open(isArray: !isMap)
        place += 1
        while byte != 0 {
            try skipSpace(comments: true)
            if byte == terminator {
                place += 1
                finish(outer, isMap ? .mapping : .sequence, isMap ? .object(map.members) : .array(elements))
                return true
            }
            guard isSeparated else { throw .invalid }
            var (key, content) = try readFlowPair(nodeIndent)
            if isMap {
                try store(&key, content ?? .null, in: &map)
            } else if let content {
                var pair = Map()
                try store(&key, content, in: &pair)
                elements.append(.object(pair.members))
            } else {
                elements.append(key.value)
            }
            try skipSpace(comments: true)
            isSeparated = byte == UInt8(ascii: ",")
            if isSeparated { place += 1 }
        }
        throw .invalid
    }

    /// Reads an entry: a key, and the value after its colon, `nil` without a colon. A `?` without a colon has the value
    /// null.
    private mutating func readFlowPair(_ nodeIndent: Int) throws(ScriptFault) -> (Key, ScriptValue?) {
        var content: ScriptValue?
        var isExplicit = false
        if byte == UInt8(ascii: "?"), Self.isSpace(byte(1)) {
            isExplicit = true
            content = .null
            place += 1
            try skipSpace(comments: true)
        }
        let line = line
        _ = try readNode(nodeIndent, .flowIn, seeks: false, isCompact: true)
        let key = Key(tag: tag, value: result)
        try skipSpace(comments: true)
        if isExplicit || self.line == line, byte == UInt8(ascii: ":") {
            place += 1
            try skipSpace(comments: true)
            _ = try readNode(nodeIndent, .flowIn, seeks: false, isCompact: true)
            content = result
        }
        return (key, content)
    }
}

// MARK: - Pairs

extension ScriptYAML {
    /// A key whose value may still come.
    struct Key {
        var tag: String?
        var value = ScriptValue.null
        var content = ScriptValue.null
        /// Whether a `?` began it and no `:` followed yet.
        var isExplicit = false
    }

    /// Stores a pair, or merges the value of `<<`, and clears the key except for `isExplicit`. (js-yaml's
    /// `storeMappingPair`.)
    ///
    /// - Throws: `ScriptFault.invalid` for a key that the map has already, unless a merge brought it.
    private mutating func store(_ key: inout Key, _ content: ScriptValue, in map: inout Map) throws(ScriptFault) {
        defer { key = Key(isExplicit: key.isExplicit) }
        if key.tag == ScriptYAMLTypes.mergeTag {
            if case .array(let sources) = content {
                for source in sources { try merge(source, into: &map) }
            } else {
                try merge(content, into: &map)
            }
            return
        }
        let text = try Self.name(key.value)
        keyBytes += text.utf8.count
        // Keys written in the text are no longer than the text; keys made of aliases can be.
        guard keyBytes <= bytes.count + ScriptValue.textBytesMax else { throw .tooLarge }
        let name = ExactText(text)
        if !map.merged.contains(name), map.members[name] != nil { throw .invalid }
        map.members[name] = content
        map.merged.remove(name)
    }

    /// Copies the members that the map does not have yet. (js-yaml's `mergeMappings`.)
    ///
    /// Bounded over the whole text: a chain of maps that each merge the one before copies quadratically many keys.
    private mutating func merge(_ source: ScriptValue, into map: inout Map) throws(ScriptFault) {
        switch source {
        case .object(let members):
            mergedKeys += members.count
            guard mergedKeys <= Self.mergedKeysMax else { throw .tooLarge }
            // In no order: each name is set once, so the order does not matter.
            for (name, value) in members where map.members[name] == nil {
                map.members[name] = value
                map.merged.insert(name)
            }
        case .array(let elements): try mergeElements(elements, into: &map)
        // Objects to JavaScript, so merging them is no fault. None of their keys is copied.
        case .cycle, .date, .buffer: break
        case .null, .bool, .number, .string: throw .invalid
        }
    }

    /// Merges a list as JavaScript's object: its keys are the indexes of its elements.
    private mutating func mergeElements(_ elements: [ScriptValue], into map: inout Map) throws(ScriptFault) {
        let pairs = elements.enumerated().map { (ExactText(String($0.offset)), $0.element) }
        try merge(.object(Dictionary(uniqueKeysWithValues: pairs)), into: &map)
    }

    /// The text of a key. A list that contains a list is no key.
    private static func name(_ key: ScriptValue) throws(ScriptFault) -> String {
        if case .array(let elements) = key {
            for case .array in elements { throw .invalid }
        }
        return try key.text()
    }
}
