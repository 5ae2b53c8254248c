import Yams

/// Front matter as a YAML reader reads it, with every scalar as the text that was written: no Booleans, no numbers.
///
/// Limits keep hostile text from costing more than it is worth: nesting is bounded before the parser sees the text
/// (it recurses), and so is what aliases unfold to.
enum YAMLFrontMatter {
    /// The deepest nesting that is read.
    static let depthMax = 64
    /// The most aliases: what they unfold to can grow with three to the power of a third of their number.
    static let aliasesMax = 16
    /// The most values, aliases unfolded.
    static let valuesMax = 4_000
    /// The most text in all values, aliases unfolded, in bytes.
    static let textBytesMax = 1 << 20

    /// The members of the top-level map, merge keys resolved. Absent ones (empty, `~`, `null`) are left out.
    ///
    /// Where `isTyped`, plain scalars are truth values and numbers where YAML 1.1 takes them for such.
    static func members(of text: String, isTyped: Bool = false) throws(FrontMatter.Fault) -> JSONObject {
        guard isShallow(text) else { throw FrontMatter.Fault(reason: "its front matter is nested too deeply") }
        let root: Node?
        do {
            // The encoding is given, because the parser's default looks at the environment.
            root = try Parser(yaml: text, resolver: .basic, encoding: .utf8).singleRoot()
        } catch {
            throw FrontMatter.Fault(reason: "its front matter is no valid YAML")
        }
        guard case .mapping(let mapping) = root else {
            throw FrontMatter.Fault(reason: "its front matter is no list of keys and values")
        }
        var reader = Reader(isTyped: isTyped)
        let members = try reader.members(of: mapping)
        var present = JSONObject()
        for member in members.members where !member.value.isNull { present[member.name] = member.value }
        return present
    }
}

extension YAMLFrontMatter {
    /// Whether a text cannot be nested deeply, nor unfold to much, whatever it means.
    ///
    /// Never more than the truth is required: each level of a block costs a column or an indicator in its line, each
    /// level of a flow an opening bracket.
    private static func isShallow(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard blockDepth(bytes) <= depthMax, flowDepth(bytes) <= depthMax else { return false }
        return count(of: 0x26, startingWordsIn: bytes) == 0
            || count(of: 0x2A, startingWordsIn: bytes) <= aliasesMax
    }

    /// The most levels of blocks that any line can open, by its indentation and its indicators `-`, `?` and `:`.
    private static func blockDepth(_ bytes: [UInt8]) -> Int {
        var deepest = 0
        for line in bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            var depth = 0
            var isLeading = true
            for (byte, next) in zip(line, line.dropFirst() + [0x20]) {
                if byte != 0x20 { isLeading = false }
                let isIndicator = byte == 0x2D || byte == 0x3F || byte == 0x3A
                if isLeading || (isIndicator && (next == 0x20 || next == 0x09)) { depth += 1 }
            }
            deepest = max(deepest, depth)
        }
        return deepest
    }

    /// The most brackets that can be open at a time. Closing ones count only where nothing could quote them.
    private static func flowDepth(_ bytes: [UInt8]) -> Int {
        let mayQuote = bytes.contains { [0x22, 0x27, 0x23, 0x7C, 0x3E].contains($0) }
        var depth = 0
        var deepest = 0
        for byte in bytes {
            switch byte {
            case 0x5B, 0x7B: depth += 1
            case 0x5D, 0x7D: if !mayQuote { depth = max(0, depth - 1) }
            default: break
            }
            deepest = max(deepest, depth)
        }
        return deepest
    }

    private static func count(of indicator: UInt8, startingWordsIn bytes: [UInt8]) -> Int {
        var previous: UInt8 = 0x0A
        var count = 0
        for byte in bytes {
            if byte == indicator, [0x0A, 0x0D, 0x09, 0x20, 0x5B, 0x7B, 0x2C, 0x3A, 0x2D].contains(previous) {
                count += 1
            }
            previous = byte
        }
        return count
    }
}

/// Turns nodes into values and counts what they unfold to.
private struct Reader {
    let isTyped: Bool
    private var values = 0
    private var textBytes = 0

    init(isTyped: Bool) {
        self.isTyped = isTyped
    }

    mutating func members(of mapping: Node.Mapping) throws(FrontMatter.Fault) -> JSONObject {
        var members = JSONObject()
        for (key, value) in mapping where !isMerge(key) {
            members[try name(of: key)] = try self.value(of: value)
        }
        for (key, value) in mapping where isMerge(key) {
            for source in try merged(value) {
                for member in source.members where members[member.name] == nil { members[member.name] = member.value }
            }
        }
        return members
    }

    /// A plain `<<` merges; a quoted one is a name.
    private func isMerge(_ key: Node) -> Bool {
        guard case .scalar(let scalar) = key else { return false }
        return scalar.style == .plain && scalar.string == "<<"
    }

    private mutating func merged(_ value: Node) throws(FrontMatter.Fault) -> [JSONObject] {
        switch value {
        case .mapping(let mapping): return [try members(of: mapping)]
        case .sequence(let sequence):
            var sources: [JSONObject] = []
            for element in sequence { sources += try merged(element) }
            return sources
        case .scalar, .alias: throw FrontMatter.Fault(reason: "its front matter merges something that is no map")
        }
    }

    private mutating func name(of key: Node) throws(FrontMatter.Fault) -> String {
        if case .scalar(let scalar) = key { return try counted(scalar.string) }
        return try value(of: key).canonicalText
    }

    private mutating func value(of node: Node) throws(FrontMatter.Fault) -> JSONValue {
        values += 1
        guard values <= YAMLFrontMatter.valuesMax else { throw tooLarge }
        switch node {
        case .scalar(let scalar):
            let isAbsent =
                scalar.string.isEmpty || (scalar.style == .plain && ["~", "null"].contains(scalar.string))
            if isAbsent { return .null }
            if isTyped, scalar.style == .plain, let value = TypedFrontMatter.value(ofPlain: scalar.string) {
                return value
            }
            return .string(try counted(scalar.string))
        case .sequence(let sequence):
            var elements: [JSONValue] = []
            for element in sequence { elements.append(try value(of: element)) }
            return .array(elements)
        case .mapping(let mapping): return .object(try members(of: mapping))
        case .alias: throw FrontMatter.Fault(reason: "its front matter has an alias that stands for nothing")
        }
    }

    private mutating func counted(_ text: String) throws(FrontMatter.Fault) -> String {
        textBytes += text.utf8.count
        guard textBytes <= YAMLFrontMatter.textBytesMax else { throw tooLarge }
        return text
    }

    private var tooLarge: FrontMatter.Fault {
        FrontMatter.Fault(reason: "its front matter unfolds to too much")
    }
}
