/// Reads one JSON text from left to right without building values.
///
/// Accepts exactly RFC 8259: strict UTF-8 (RFC 3629), no byte order mark, one value, at most `depthMax` levels of
/// arrays and objects. Checks every byte that it passes, also in `skip`; once `finish` has returned, the whole text is
/// known to be valid. Allocates nothing but a word for every 64 levels of depth. Borrows the bytes: the reader and what
/// it returns are valid only as long as these.
///
/// ```swift
/// try reader.enterObject()
/// while let name = try reader.nextMember() {
///     if name == "op" { op = try reader.number().int64 } else { try reader.skip() }
/// }
/// try reader.finish()
/// ```
struct JSONReader {
    /// The most levels that arrays and objects may be nested.
    static let depthMax = 512

    /// What kind of value comes next.
    enum Kind {
        case object, array, string, number, bool, null
    }

    private let bytes: UnsafeRawBufferPointer
    private(set) var offset = 0
    private var depth = 0
    /// One bit per open level, the innermost lowest, set for an object. Holds up to 64 levels; outer ones are spilled.
    private var levels: UInt64 = 0
    private var spilledLevels: [UInt64] = []
    /// Whether nothing in the innermost level has been read yet.
    private var isAtStart = true

    /// - Parameter levels: How many levels of a larger text enclose the bytes; they count towards `depthMax`.
    init(_ bytes: UnsafeRawBufferPointer, within levels: Int = 0) {
        self.bytes = bytes
        depth = levels
    }

    /// What kind of value comes next; the value is not read.
    mutating func kind() throws(JSONError) -> Kind {
        skipSpace()
        switch current {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "-"), 0x30...0x39: return .number
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
        case UInt8(ascii: "n"): return .null
        default: throw fault(isAtEnd ? "the text ends too early" : "no value begins with this byte")
        }
    }

    /// Passes the opening brace of an object.
    mutating func enterObject() throws(JSONError) {
        try enter(UInt8(ascii: "{"), isObject: true)
    }

    /// Passes the opening bracket of an array.
    mutating func enterArray() throws(JSONError) {
        try enter(UInt8(ascii: "["), isObject: false)
    }

    /// Passes the next name and its colon; the value must be read or skipped next. At the end of the object, leaves it
    /// and returns `nil`.
    mutating func nextMember() throws(JSONError) -> JSONText? {
        guard try hasNext(before: UInt8(ascii: "}")) else { return nil }
        guard current == UInt8(ascii: "\"") else { throw fault("a member's name is missing") }
        let name = try string()
        skipSpace()
        guard current == UInt8(ascii: ":") else { throw fault("a colon is missing") }
        offset += 1
        return name
    }

    /// Whether another element follows, which must be read or skipped next. At the end of the array, leaves it and
    /// returns false.
    mutating func nextElement() throws(JSONError) -> Bool {
        try hasNext(before: UInt8(ascii: "]"))
    }

    /// Reads a text.
    mutating func string() throws(JSONError) -> JSONText {
        skipSpace()
        guard current == UInt8(ascii: "\"") else { throw fault("a text is expected") }
        offset += 1
        let start = offset
        var hasEscapes = false
        while true {
            skipPlain()
            let byte = current
            switch byte {
            case UInt8(ascii: "\""):
                let text = UnsafeRawBufferPointer(rebasing: bytes[start..<offset])
                offset += 1
                isAtStart = false
                return JSONText(bytes: text, hasEscapes: hasEscapes)
            case UInt8(ascii: "\\"):
                hasEscapes = true
                try skipEscape()
            case 0x80...:
                try skipScalar()
            default:
                throw fault(isAtEnd ? "a text has no end" : "a control character stands unescaped in a text")
            }
        }
    }

    /// Reads a number.
    mutating func number() throws(JSONError) -> JSONDigits {
        skipSpace()
        let start = offset
        if current == UInt8(ascii: "-") { offset += 1 }
        if current == UInt8(ascii: "0") { offset += 1 } else { try skipDigits() }
        let wholeEnd = offset
        if current == UInt8(ascii: ".") {
            offset += 1
            try skipDigits()
        }
        if current | 0x20 == UInt8(ascii: "e") {
            offset += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { offset += 1 }
            try skipDigits()
        }
        isAtStart = false
        return JSONDigits(bytes: UnsafeRawBufferPointer(rebasing: bytes[start..<offset]), isWhole: offset == wholeEnd)
    }

    /// Reads `true` or `false`.
    mutating func bool() throws(JSONError) -> Bool {
        skipSpace()
        let isTrue = current == UInt8(ascii: "t")
        try skipWord(isTrue ? "true" : "false")
        return isTrue
    }

    /// Reads `null`.
    mutating func null() throws(JSONError) {
        skipSpace()
        try skipWord("null")
    }

    /// Passes one value of any kind and checks it. A loop, so that no nesting can exhaust the thread's stack.
    mutating func skip() throws(JSONError) {
        let outside = depth
        try skipScalarOrEnter()
        while depth > outside {
            if levels & 1 == 1 {
                if try nextMember() != nil { try skipScalarOrEnter() }
            } else {
                if try nextElement() { try skipScalarOrEnter() }
            }
        }
    }

    /// Passes one value of any kind, checks it and returns its bytes, perhaps with white space before them.
    mutating func slice() throws(JSONError) -> UnsafeRawBufferPointer {
        let start = offset
        try skip()
        return UnsafeRawBufferPointer(rebasing: bytes[start..<offset])
    }

    /// Checks that nothing but white space follows the one value.
    mutating func finish() throws(JSONError) {
        skipSpace()
        if !isAtEnd { throw fault("something follows the text") }
    }

    /// An error at the current offset.
    func fault(_ reason: String) -> JSONError {
        JSONError(offset: offset, reason: reason)
    }
}

// MARK: - Structure

extension JSONReader {
    private mutating func skipScalarOrEnter() throws(JSONError) {
        switch try kind() {
        case .object: try enterObject()
        case .array: try enterArray()
        case .string: _ = try string()
        case .number: _ = try number()
        case .bool: _ = try bool()
        case .null: try null()
        }
    }

    private mutating func enter(_ bracket: UInt8, isObject: Bool) throws(JSONError) {
        skipSpace()
        guard current == bracket else { throw fault(isObject ? "an object is expected" : "an array is expected") }
        guard depth < Self.depthMax else { throw fault("more than \(Self.depthMax) levels") }
        if depth > 0 && depth.isMultiple(of: 64) { spilledLevels.append(levels) }
        levels = levels << 1 | (isObject ? 1 : 0)
        depth += 1
        offset += 1
        isAtStart = true
    }

    private mutating func leave() {
        assert(depth > 0, "only a level that was entered is left")
        offset += 1
        depth -= 1
        levels >>= 1
        if depth > 0 && depth.isMultiple(of: 64), let above = spilledLevels.popLast() { levels = above }
        isAtStart = false
    }

    /// Passes the comma before the next member or element, or leaves the level at its end.
    private mutating func hasNext(before bracket: UInt8) throws(JSONError) -> Bool {
        skipSpace()
        if current == bracket {
            leave()
            return false
        }
        if isAtStart {
            if isAtEnd { throw fault("the text ends too early") }
            return true
        }
        guard current == UInt8(ascii: ",") else { throw fault("a comma or a closing bracket is missing") }
        offset += 1
        skipSpace()
        return true
    }
}

// MARK: - Bytes

extension JSONReader {
    private var isAtEnd: Bool { offset == bytes.count }

    /// The byte at the current offset; at the end 0, which no JSON text contains.
    private var current: UInt8 {
        offset < bytes.count ? bytes[offset] : 0
    }

    @inline(__always)
    private mutating func skipSpace() {
        if current > 0x20 { return }
        while current == 0x20 || current == 0x0A || current == 0x0D || current == 0x09 { offset += 1 }
    }

    private mutating func skipDigits() throws(JSONError) {
        let start = offset
        while (0x30...0x39).contains(current) { offset += 1 }
        if offset == start { throw fault("a digit is missing") }
    }

    private mutating func skipWord(_ word: StaticString) throws(JSONError) {
        let length = word.utf8CodeUnitCount
        guard bytes.count - offset >= length else { throw fault("no value begins like this") }
        for index in 0..<length where bytes[offset + index] != word.utf8Start[index] {
            throw fault("no value begins like this")
        }
        offset += length
        isAtStart = false
    }

    /// Passes ASCII characters of a string, eight at a time, up to the next quote, backslash, control character or byte
    /// above 0x7F. (Source of the word tricks: Sean Eron Anderson, "Bit Twiddling Hacks", "Determine if a word has a
    /// byte less than n".)
    private mutating func skipPlain() {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let tops: UInt64 = 0x8080_8080_8080_8080
        while bytes.count - offset >= 8 {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            let quotes = word ^ ones &* UInt64(UInt8(ascii: "\""))
            let slashes = word ^ ones &* UInt64(UInt8(ascii: "\\"))
            // A borrow can set wrong marks only above the first right one, and only the lowest mark is used.
            let special = (word &- ones &* 0x20) | (quotes &- ones) | (slashes &- ones) | word
            let marks = special & tops
            if marks != 0 {
                offset += marks.trailingZeroBitCount / 8
                return
            }
            offset += 8
        }
        while isPlain(current) { offset += 1 }
    }

    private func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x80 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private mutating func skipEscape() throws(JSONError) {
        offset += 1
        switch current {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            offset += 1
        case UInt8(ascii: "u"):
            offset += 1
            for _ in 0..<4 {
                guard JSONText.hexDigit(current) != nil else { throw fault("a \\u escape has four hex digits") }
                offset += 1
            }
        default: throw fault(isAtEnd ? "an escape has no end" : "no such escape")
        }
    }

    /// Passes one scalar of two to four bytes, which must be well-formed by table 3-7 of the Unicode standard.
    private mutating func skipScalar() throws(JSONError) {
        let second: ClosedRange<UInt8>
        let length: Int
        switch current {
        case 0xC2...0xDF: (second, length) = (0x80...0xBF, 2)
        case 0xE0: (second, length) = (0xA0...0xBF, 3)
        case 0xED: (second, length) = (0x80...0x9F, 3)
        case 0xE1...0xEF: (second, length) = (0x80...0xBF, 3)
        case 0xF0: (second, length) = (0x90...0xBF, 4)
        case 0xF1...0xF3: (second, length) = (0x80...0xBF, 4)
        case 0xF4: (second, length) = (0x80...0x8F, 4)
        default: throw fault("a text is not UTF-8")
        }
        guard bytes.count - offset >= length, second.contains(bytes[offset + 1]) else {
            throw fault("a text is not UTF-8")
        }
        for index in 2..<max(length, 2) where !(0x80...0xBF).contains(bytes[offset + index]) {
            throw fault("a text is not UTF-8")
        }
        offset += length
    }
}
