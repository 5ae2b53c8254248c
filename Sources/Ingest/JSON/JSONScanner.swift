/// Why a text is not JSON; `offset` is where, in bytes.
struct JSONFault: Error, Hashable {
    let offset: Int
    let reason: String
}

/// Reads the tokens of one RFC 8259 text, strictly, without recursion and without copying.
///
/// Strings are ranges of raw bytes; the caller checks whether they are UTF-8. The bytes must outlive the scanner.
struct JSONScanner {
    enum Kind: Equatable {
        case beginObject, endObject, beginArray, endArray, name, string, number, literal
    }

    /// One token; the range of a name or string lies between its quotes.
    struct Token {
        let kind: Kind
        let range: Range<Int>
        var hasEscapes = false
    }

    private enum Expectation {
        case value, valueOrEnd, name, nameOrEnd, commaOrEnd, nothing
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    private(set) var position: Int
    /// The open containers, outermost first: true for an object, false for an array.
    private var containers: [Bool] = []
    private var expecting = Expectation.value

    init(_ bytes: UnsafeBufferPointer<UInt8>, from position: Int = 0) {
        self.bytes = bytes
        self.position = position
    }

    /// The number of open containers.
    var depth: Int { containers.count }

    /// The next token; `nil` once the text is complete.
    mutating func next() throws(JSONFault) -> Token? {
        skipSpace()
        if expecting == .nothing {
            if position < bytes.count { throw fault("something follows the value") }
            return nil
        }
        guard position < bytes.count else { throw fault("it ends too early") }
        let byte = bytes[position]
        switch expecting {
        case .commaOrEnd: return try separatorOrEnd(byte)
        case .name, .nameOrEnd: return try nameOrEnd(byte)
        case .valueOrEnd where byte == 0x5D: return close(.endArray)
        default: return try value(byte)
        }
    }
}

extension JSONScanner {
    private func fault(_ reason: String) -> JSONFault {
        JSONFault(offset: position, reason: reason)
    }

    private mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    private mutating func separatorOrEnd(_ byte: UInt8) throws(JSONFault) -> Token? {
        guard let isObject = containers.last else { throw fault("something follows the value") }
        switch (byte, isObject) {
        case (0x7D, true): return close(.endObject)
        case (0x5D, false): return close(.endArray)
        case (0x2C, _):
            position += 1
            expecting = isObject ? .name : .value
            return try next()
        default: throw fault("a comma or the end of the \(isObject ? "object" : "array") is missing")
        }
    }

    private mutating func nameOrEnd(_ byte: UInt8) throws(JSONFault) -> Token {
        if byte == 0x7D, expecting == .nameOrEnd { return close(.endObject) }
        guard byte == 0x22 else { throw fault("the name of a member is missing") }
        let name = try string(.name)
        skipSpace()
        guard position < bytes.count, bytes[position] == 0x3A else { throw fault("a colon is missing") }
        position += 1
        expecting = .value
        return name
    }

    private mutating func value(_ byte: UInt8) throws(JSONFault) -> Token {
        switch byte {
        case 0x7B: return open(.beginObject)
        case 0x5B: return open(.beginArray)
        case 0x22:
            let token = try string(.string)
            expecting = containers.isEmpty ? .nothing : .commaOrEnd
            return token
        case 0x2D, 0x30...0x39: return try number()
        case 0x74: return try literal("true")
        case 0x66: return try literal("false")
        case 0x6E: return try literal("null")
        default: throw fault("a value is missing")
        }
    }

    private mutating func open(_ kind: Kind) -> Token {
        containers.append(kind == .beginObject)
        expecting = kind == .beginObject ? .nameOrEnd : .valueOrEnd
        position += 1
        return Token(kind: kind, range: position - 1..<position)
    }

    private mutating func close(_ kind: Kind) -> Token {
        assert(containers.last == (kind == .endObject), "the innermost container is the one that ends")
        containers.removeLast()
        expecting = containers.isEmpty ? .nothing : .commaOrEnd
        position += 1
        return Token(kind: kind, range: position - 1..<position)
    }

    private mutating func string(_ kind: Kind) throws(JSONFault) -> Token {
        let start = position + 1
        var index = start
        var hasEscapes = false
        while index < bytes.count {
            if isPlain(eightFrom: index) {
                index += 8
                continue
            }
            let byte = bytes[index]
            if byte == 0x22 {
                position = index + 1
                return Token(kind: kind, range: start..<index, hasEscapes: hasEscapes)
            }
            if byte == 0x5C {
                hasEscapes = true
                index += try escapeLength(at: index)
            } else if byte < 0x20 {
                position = index
                throw fault("a control character stands in a string")
            } else {
                index += 1
            }
        }
        position = bytes.count
        throw fault("it ends within a string")
    }

    /// Whether eight bytes follow that are neither quotes nor backslashes nor control characters.
    @inline(__always)
    private func isPlain(eightFrom index: Int) -> Bool {
        guard bytes.count - index >= 8, let base = bytes.baseAddress else { return false }
        let eight = UnsafeRawPointer(base + index).loadUnaligned(as: UInt64.self)
        // A byte's highest bit is set in `low &- ones & ~low` if the byte is zero, and perhaps in bytes above such a one.
        let (ones, highest): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        let (quotes, backslashes) = (eight ^ ones &* 0x22, eight ^ ones &* 0x5C)
        let special =
            (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes | (eight &- ones &* 0x20) & ~eight
        return special & highest == 0
    }

    private mutating func escapeLength(at index: Int) throws(JSONFault) -> Int {
        guard index + 1 < bytes.count else {
            position = bytes.count
            throw fault("it ends within a string")
        }
        switch bytes[index + 1] {
        case 0x22, 0x5C, 0x2F, 0x62, 0x66, 0x6E, 0x72, 0x74: return 2
        case 0x75 where JSONEscape.codeUnit(bytes, at: index) != nil: return 6
        default:
            position = index
            throw fault("an escape is not one of JSON's")
        }
    }

    private mutating func number() throws(JSONFault) -> Token {
        let start = position
        skip(0x2D)
        if !skip(0x30) {
            guard skipDigits() else { throw fault("a number is malformed") }
        }
        if skip(0x2E), !skipDigits() { throw fault("a number is malformed") }
        if skip(0x65) || skip(0x45) {
            if !skip(0x2B) { skip(0x2D) }
            guard skipDigits() else { throw fault("a number is malformed") }
        }
        expecting = containers.isEmpty ? .nothing : .commaOrEnd
        return Token(kind: .number, range: start..<position)
    }

    @discardableResult
    private mutating func skip(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipDigits() -> Bool {
        let start = position
        while position < bytes.count, (0x30...0x39).contains(bytes[position]) { position += 1 }
        return position > start
    }

    private mutating func literal(_ text: StaticString) throws(JSONFault) -> Token {
        let count = text.utf8CodeUnitCount
        guard bytes.count - position >= count else { throw fault("it ends too early") }
        for offset in 0..<count where bytes[position + offset] != text.utf8Start[offset] {
            throw fault("a value is missing")
        }
        position += count
        expecting = containers.isEmpty ? .nothing : .commaOrEnd
        return Token(kind: .literal, range: position - count..<position)
    }
}
