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
            let start = buffer.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
            var reader = JSONTreeReader(bytes: buffer, scanner: JSONScanner(buffer, from: start))
            return try? reader.readAll()
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

/// Builds the tree of one text.
private struct JSONTreeReader {
    let bytes: UnsafeBufferPointer<UInt8>
    var scanner: JSONScanner

    mutating func readAll() throws(JSONFault) -> JSONTree? {
        guard let token = try scanner.next(), let tree = try value(token, depth: 0) else { return nil }
        return try scanner.next() == nil ? tree : nil
    }

    private mutating func value(_ token: JSONScanner.Token, depth: Int) throws(JSONFault) -> JSONTree? {
        guard depth < JSONTree.depthMax else { return nil }
        switch token.kind {
        case .beginObject: return try object(depth: depth)
        case .beginArray: return try array(depth: depth)
        case .string: return .string(try text(token))
        case .number: return .number(String(decoding: bytes[token.range], as: UTF8.self))
        case .literal: return literal(token)
        case .name, .endObject, .endArray: return nil
        }
    }

    private mutating func object(depth: Int) throws(JSONFault) -> JSONTree? {
        var members: [String: JSONTree] = [:]
        while let token = try scanner.next(), token.kind == .name {
            let name = try text(token)
            guard let next = try scanner.next(), let value = try value(next, depth: depth + 1) else { return nil }
            members[name] = value
        }
        return .object(members)
    }

    private mutating func array(depth: Int) throws(JSONFault) -> JSONTree? {
        var elements: [JSONTree] = []
        while let token = try scanner.next(), token.kind != .endArray {
            guard let value = try value(token, depth: depth + 1) else { return nil }
            elements.append(value)
        }
        return .array(elements)
    }

    private func text(_ token: JSONScanner.Token) throws(JSONFault) -> String {
        String(decoding: try JSONEscape.decode(bytes, token), as: UTF8.self)
    }

    private func literal(_ token: JSONScanner.Token) -> JSONTree {
        switch bytes[token.range.lowerBound] {
        case 0x74: .bool(true)
        case 0x66: .bool(false)
        default: .null
        }
    }
}
