import JSON

/// A JSON text as values, for the few texts that a recorder must understand. Numbers keep their text.
///
/// Not for payloads on their way into the log, which stay bytes (I2). The last of several members with one name counts.
indirect enum JSONTree: Equatable, Sendable {
    case object([String: JSONTree])
    case array([JSONTree])
    case string(String)
    case number(String)
    case bool(Bool)
    case null

    /// The deepest nesting that is read, so that the recursive reader cannot overflow the stack.
    static let depthMax = 64

    /// Reads a text; `nil` if it is not one RFC 8259 text or is nested too deeply. Accepts a byte order mark. Bytes of
    /// strings that are not UTF-8 become replacement characters.
    init?(parsing bytes: [UInt8]) {
        let tree = bytes.withUnsafeBufferPointer { buffer -> JSONTree? in
            // RFC 8259, section 8.1, lets a reader ignore a byte order mark.
            let start = buffer.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
            let text = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[start...])
            var reader = JSONReader(text, levelsMax: Self.depthMax, allowsAnyBytes: true)
            return try? reader.wholeTree()
        }
        guard let tree else { return nil }
        self = tree
    }

    /// A member of an object; `nil` for anything else.
    subscript(name: String) -> JSONTree? {
        guard case .object(let members) = self else { return nil }
        return members[name]
    }

    /// An element of an array; `nil` for anything else.
    subscript(index: Int) -> JSONTree? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// The text of a string.
    var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The text of an id: a string, or a number as it is written.
    var identifier: String? {
        switch self {
        case .string(let text), .number(let text): text
        default: nil
        }
    }

    /// A number that is written as a whole number and fits in 64 bits.
    var integer: Int64? {
        if case .number(let text) = self { Int64(text) } else { nil }
    }

    /// The elements of an array.
    var elements: [JSONTree]? {
        if case .array(let elements) = self { elements } else { nil }
    }
}

// Recursive: the reader's limit of levels bounds the use of the stack.
extension JSONReader {
    fileprivate mutating func wholeTree() throws(JSONError) -> JSONTree {
        let tree = try tree()
        try finish()
        return tree
    }

    private mutating func tree() throws(JSONError) -> JSONTree {
        switch try kind() {
        case .object: return try objectTree()
        case .array: return try arrayTree()
        case .string: return .string(String(decoding: try string().decoded(), as: UTF8.self))
        case .number: return .number(String(decoding: try number().bytes, as: UTF8.self))
        case .bool: return .bool(try bool())
        case .null:
            try null()
            return .null
        }
    }

    private mutating func objectTree() throws(JSONError) -> JSONTree {
        var members: [String: JSONTree] = [:]
        try enterObject()
        while let name = try nextMember() {
            members[String(decoding: try name.decoded(), as: UTF8.self)] = try tree()
        }
        return .object(members)
    }

    private mutating func arrayTree() throws(JSONError) -> JSONTree {
        var elements: [JSONTree] = []
        try enterArray()
        while try nextElement() { elements.append(try tree()) }
        return .array(elements)
    }
}
