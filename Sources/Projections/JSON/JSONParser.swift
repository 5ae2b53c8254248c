/// Why bytes are not one JSON text.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Where, in bytes from the start.
    public let offset: Int
    /// What is wrong there.
    public let reason: String

    /// The offset and the reason.
    public var description: String { "not JSON at byte \(offset): \(reason)" }
}

extension JSONValue {
    /// Reads one JSON text (RFC 8259): strict UTF-8 without byte order mark, at most 512 levels deep.
    ///
    /// A lone surrogate in an escape becomes U+FFFD, as it has no other text.
    public static func parse(_ bytes: UnsafeRawBufferPointer) throws(JSONError) -> JSONValue {
        var parser = JSONParser(bytes)
        return try parser.parseDocument()
    }

    /// Reads one JSON text.
    public static func parse(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
        let result = bytes.withUnsafeBytes { buffer in
            Result { () throws(JSONError) in try parse(buffer) }
        }
        return try result.get()
    }

    /// Reads one JSON text.
    public static func parse(_ text: String) throws(JSONError) -> JSONValue {
        try parse(Array(text.utf8))
    }
}

/// Builds a value by recursive descent; the depth limit keeps the stack small.
private struct JSONParser {
    private static let depthMax = 512

    private let bytes: UnsafeRawBufferPointer
    private var index = 0
    private var depth = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    mutating func parseDocument() throws(JSONError) -> JSONValue {
        skipSpace()
        let value = try parseValue()
        skipSpace()
        if index < bytes.count { throw fail("something follows the text") }
        return value
    }

    private func fail(_ reason: String) -> JSONError {
        JSONError(offset: index, reason: reason)
    }

    private var next: UInt8? {
        index < bytes.count ? bytes[index] : nil
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    private mutating func parseValue() throws(JSONError) -> JSONValue {
        switch next {
        case UInt8(ascii: "{"): return try parseObject()
        case UInt8(ascii: "["): return try parseArray()
        case UInt8(ascii: "\""): return .string(try parseString())
        case UInt8(ascii: "t"): return try parseLiteral("true", .bool(true))
        case UInt8(ascii: "f"): return try parseLiteral("false", .bool(false))
        case UInt8(ascii: "n"): return try parseLiteral("null", .null)
        case nil: throw fail("the text ends too early")
        case let byte? where byte == UInt8(ascii: "-") || (0x30...0x39).contains(byte):
            return .number(try parseNumber())
        default: throw fail("no value begins with this byte")
        }
    }

    private mutating func parseLiteral(_ literal: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
        let length = literal.utf8CodeUnitCount
        guard index + length <= bytes.count,
            (0..<length).allSatisfy({ bytes[index + $0] == literal.utf8Start[$0] })
        else { throw fail("no value begins like this") }
        index += length
        return value
    }

    private mutating func enter() throws(JSONError) {
        depth += 1
        if depth > Self.depthMax { throw fail("more than \(Self.depthMax) levels") }
        index += 1
        skipSpace()
    }

    private mutating func leave() {
        depth -= 1
        index += 1
    }

    private mutating func parseArray() throws(JSONError) -> JSONValue {
        try enter()
        var elements: [JSONValue] = []
        if next != UInt8(ascii: "]") {
            while true {
                elements.append(try parseValue())
                if try endsList(at: UInt8(ascii: "]")) { break }
            }
        }
        leave()
        return .array(elements)
    }

    private mutating func parseObject() throws(JSONError) -> JSONValue {
        try enter()
        var object = JSONObject()
        if next != UInt8(ascii: "}") {
            while true {
                guard next == UInt8(ascii: "\"") else { throw fail("a member's name is missing") }
                let name = try parseString()
                skipSpace()
                guard next == UInt8(ascii: ":") else { throw fail("a colon is missing") }
                index += 1
                skipSpace()
                object[name] = try parseValue()
                if try endsList(at: UInt8(ascii: "}")) { break }
            }
        }
        leave()
        return .object(object)
    }

    /// Passes the comma between two elements; true at the closing bracket, which stays.
    private mutating func endsList(at close: UInt8) throws(JSONError) -> Bool {
        skipSpace()
        if next == close { return true }
        guard next == UInt8(ascii: ",") else { throw fail("a comma or a closing bracket is missing") }
        index += 1
        skipSpace()
        return false
    }

    private mutating func parseNumber() throws(JSONError) -> JSONNumber {
        let start = index
        if next == UInt8(ascii: "-") { index += 1 }
        if next == UInt8(ascii: "0") { index += 1 } else { try skipDigits() }
        if next == UInt8(ascii: ".") {
            index += 1
            try skipDigits()
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            index += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { index += 1 }
            try skipDigits()
        }
        return JSONNumber(unchecked: String(decoding: bytes[start..<index], as: UTF8.self))
    }

    private mutating func skipDigits() throws(JSONError) {
        let start = index
        while let byte = next, (0x30...0x39).contains(byte) { index += 1 }
        if index == start { throw fail("a digit is missing") }
    }

    private mutating func parseString() throws(JSONError) -> String {
        index += 1
        var text: [UInt8] = []
        var runStart = index
        while let byte = next {
            if byte == UInt8(ascii: "\"") {
                text.append(contentsOf: bytes[runStart..<index])
                guard let string = String(validating: text, as: UTF8.self) else { throw fail("a text is not UTF-8") }
                index += 1
                return string
            }
            if byte < 0x20 { throw fail("a control character stands unescaped in a text") }
            if byte == UInt8(ascii: "\\") {
                text.append(contentsOf: bytes[runStart..<index])
                text.append(contentsOf: String(try parseEscape()).utf8)
                runStart = index
            } else {
                index += 1
            }
        }
        throw fail("a text has no end")
    }

    private mutating func parseEscape() throws(JSONError) -> Unicode.Scalar {
        index += 1
        guard let byte = next else { throw fail("an escape has no end") }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try parseUnicodeEscape()
        default: throw fail("no such escape")
        }
    }

    private mutating func parseUnicodeEscape() throws(JSONError) -> Unicode.Scalar {
        let high = try parseHex()
        guard (0xD800...0xDBFF).contains(high) else { return Unicode.Scalar(high) ?? "\u{FFFD}" }
        let mark = index
        guard index + 1 < bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u") else {
            return "\u{FFFD}"
        }
        index += 2
        let low = try parseHex()
        guard (0xDC00...0xDFFF).contains(low) else {
            index = mark
            return "\u{FFFD}"
        }
        return Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)) ?? "\u{FFFD}"
    }

    private mutating func parseHex() throws(JSONError) -> UInt32 {
        guard index + 4 <= bytes.count else { throw fail("a \\u escape has four hex digits") }
        var value: UInt32 = 0
        for offset in 0..<4 {
            guard let digit = Character(Unicode.Scalar(bytes[index + offset])).hexDigitValue,
                bytes[index + offset] < 0x80
            else { throw fail("a \\u escape has four hex digits") }
            value = value << 4 | UInt32(digit)
        }
        index += 4
        return value
    }
}
