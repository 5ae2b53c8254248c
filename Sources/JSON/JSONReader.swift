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
@usableFromInline
package struct JSONReader {
    /// The most levels that arrays and objects may be nested. Far more than any remote sends; the limit keeps hostile
    /// input from costing memory by depth.
    @usableFromInline
    package static let depthMax = 512

    /// What kind of value comes next.
    @usableFromInline
    package enum Kind: BitwiseCopyable {
        case object, array, string, number, bool, null
    }

    /// Where the reader is in the bytes.
    @usableFromInline var scanner: JSONScanner
    /// The first byte, from which offsets count.
    @usableFromInline let start: UnsafePointer<UInt8>
    /// The most levels that may be open, those around the bytes included.
    @usableFromInline let levelsMax: Int
    /// Whether bytes above 0x7F in texts need not be UTF-8.
    @usableFromInline let allowsAnyBytes: Bool
    /// The number of open levels, those around the bytes included.
    @usableFromInline package private(set) var depth = 0
    /// One bit per open level, the innermost lowest, set for an object. Holds up to 64 levels; the outer
    /// ones are in `spilledLevels`, 64 to a word.
    @usableFromInline var levels: UInt64 = 0
    @usableFromInline var spilledLevels: [UInt64] = []
    /// Whether nothing in the innermost level has been read yet: then no comma comes before the next element.
    @usableFromInline var isAtStart = true

    /// - Parameters:
    ///   - levels: How many levels of a larger text enclose the bytes; they count towards `levelsMax`.
    ///   - levelsMax: The most levels that may be open.
    ///   - allowsAnyBytes: Whether bytes above 0x7F in texts need not be UTF-8.
    @inlinable
    package init(
        _ bytes: UnsafeRawBufferPointer,
        within levels: Int = 0,
        levelsMax: Int = depthMax,
        allowsAnyBytes: Bool = false
    ) {
        scanner = JSONScanner(bytes)
        start = scanner.place
        self.levelsMax = levelsMax
        self.allowsAnyBytes = allowsAnyBytes
        depth = levels
    }

    /// How many bytes have been read.
    @inlinable @inline(__always)
    package var offset: Int { scanner.place - start }

    /// Where a text begins that this reader has read, behind its opening quote.
    package func offset(of text: JSONText) -> Int {
        text.bytes.baseAddress.map { $0 - UnsafeRawPointer(start) } ?? offset
    }

    /// What kind of value comes next; the value is not read.
    ///
    /// - Throws: `JSONError` if the text ends here or no value begins here.
    @inlinable
    package mutating func kind() throws(JSONError) -> Kind {
        scanner.skipSpace()
        switch scanner.current {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "-"), 0x30...0x39: return .number
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
        case UInt8(ascii: "n"): return .null
        default: throw fault(scanner.isAtEnd ? "the text ends too early" : "no value begins with this byte")
        }
    }

    /// Whether the innermost open level is an object; false outside of all levels.
    @inlinable
    package var isInObject: Bool { levels & 1 == 1 }

    /// Passes the opening brace of an object.
    ///
    /// - Throws: `JSONError` if another value follows, or if `levelsMax` levels are open.
    @inlinable
    package mutating func enterObject() throws(JSONError) {
        try enter(UInt8(ascii: "{"), isObject: true)
    }

    /// Passes the opening bracket of an array.
    @inlinable
    package mutating func enterArray() throws(JSONError) {
        try enter(UInt8(ascii: "["), isObject: false)
    }

    /// Passes the next name and its colon; the value must be read or skipped next. At the end of the object, leaves it
    /// and returns `nil`. Names may repeat: which of them counts is for the caller to decide.
    @inlinable
    package mutating func nextMember() throws(JSONError) -> JSONText? {
        guard try hasNext(before: UInt8(ascii: "}")) else { return nil }
        guard scanner.current == UInt8(ascii: "\"") else { throw fault("a member's name is missing") }
        let name = try string()
        scanner.skipSpace()
        guard scanner.current == UInt8(ascii: ":") else { throw fault("a colon is missing") }
        scanner.pass()
        return name
    }

    /// Whether another element follows, which must be read or skipped next. At the end of the array, leaves it and
    /// returns false.
    @inlinable
    package mutating func nextElement() throws(JSONError) -> Bool {
        try hasNext(before: UInt8(ascii: "]"))
    }

    /// Reads a text. Unescapes nothing. Lone surrogates in escapes are allowed, as in RFC 8259.
    @inlinable
    package mutating func string() throws(JSONError) -> JSONText {
        scanner.skipSpace()
        guard scanner.current == UInt8(ascii: "\"") else { throw fault("a text is expected") }
        guard let text = scanner.text(allowsAnyBytes: allowsAnyBytes) else { throw textFault() }
        isAtStart = false
        return text
    }

    /// Reads a number of any size and precision; converts nothing. No digit may follow a leading zero; whatever is read
    /// next reports it there.
    @inlinable
    package mutating func number() throws(JSONError) -> JSONDigits {
        guard let number = scanner.number() else { throw fault("a digit is missing") }
        isAtStart = false
        return number
    }

    /// Reads `true` or `false`.
    ///
    /// - Throws: `JSONError` for any other value.
    @inlinable
    package mutating func bool() throws(JSONError) -> Bool {
        scanner.skipSpace()
        let isTrue = scanner.current == UInt8(ascii: "t")
        try skipWord(isTrue ? "true" : "false")
        return isTrue
    }

    /// Reads `null`.
    @inlinable
    package mutating func null() throws(JSONError) {
        scanner.skipSpace()
        try skipWord("null")
    }

    /// Passes one value of any kind and checks it. A loop instead of recursion, so that no nesting
    /// can exhaust the thread's stack.
    @inlinable
    package mutating func skip() throws(JSONError) {
        let outside = depth
        try skipScalarOrEnter()
        // `nextMember` and `nextElement` leave the level at its end, which ends this loop at last.
        while depth > outside {
            if levels & 1 == 1 {
                if try nextMember() != nil { try skipScalarOrEnter() }
            } else {
                if try nextElement() { try skipScalarOrEnter() }
            }
        }
    }

    /// Passes one value of any kind, checks it and returns its bytes, perhaps with white space before them.
    @inlinable
    package mutating func slice() throws(JSONError) -> UnsafeRawBufferPointer {
        let before = scanner
        try skip()
        return scanner.bytes(from: before)
    }

    /// Passes an array or object that comes next if its bytes are those of one that was read before at the same depth; false,
    /// without moving but over white space, if not. Cost: a comparison of bytes.
    @inlinable
    package mutating func take(known value: UnsafeRawBufferPointer) -> Bool {
        scanner.skipSpace()
        // The closing bracket ends the value, whatever follows.
        guard scanner.take(bytes: value) else { return false }
        isAtStart = false
        return true
    }

    /// Passes the next name of an object and its colon if the bytes are these; false, without moving but over white space, if not.
    /// The value must be read or skipped next.
    ///
    /// - Parameter member: a comma, a name of a JSON text with its quotes, and a colon.
    @inlinable
    package mutating func take(member: UnsafeRawBufferPointer) -> Bool {
        scanner.skipSpace()
        return scanner.take(bytes: isAtStart ? UnsafeRawBufferPointer(rebasing: member[1...]) : member)
    }

    /// Leaves an object at its end; false, without moving but over white space, if something else follows.
    @inlinable
    package mutating func takeObjectEnd() -> Bool {
        scanner.skipSpace()
        guard scanner.current == UInt8(ascii: "}") else { return false }
        leave()
        return true
    }

    /// A place that the reader has reached.
    @usableFromInline
    package struct Mark: BitwiseCopyable {
        @usableFromInline let scanner: JSONScanner

        @inlinable
        init(_ scanner: JSONScanner) { self.scanner = scanner }
    }

    /// The place that is reached now.
    @inlinable @inline(__always)
    package var mark: Mark { Mark(scanner) }

    /// The bytes between a mark that this reader gave and its place now.
    @inlinable @inline(__always)
    package func bytes(from start: Mark) -> UnsafeRawBufferPointer {
        scanner.bytes(from: start.scanner)
    }

    /// Checks that nothing but white space follows the one value.
    @inlinable
    package mutating func finish() throws(JSONError) {
        scanner.skipSpace()
        if !scanner.isAtEnd { throw fault("something follows the text") }
    }

    /// An error at the current offset. `reason` must not quote the text, which may contain a secret (I14).
    @usableFromInline
    package func fault(_ reason: String) -> JSONError {
        JSONError(offset: offset, reason: reason)
    }
}

// MARK: - Structure

extension JSONReader {
    /// Passes a scalar whole, and of an object or array the opening bracket only.
    @inlinable
    mutating func skipScalarOrEnter() throws(JSONError) {
        switch try kind() {
        case .object: try enterObject()
        case .array: try enterArray()
        case .string: _ = try string()
        case .number: _ = try number()
        case .bool: _ = try bool()
        case .null: try null()
        }
    }

    /// Opens a level. Every 64 levels the word of their kinds is put aside, and a new one begins.
    @inlinable
    mutating func enter(_ bracket: UInt8, isObject: Bool) throws(JSONError) {
        scanner.skipSpace()
        guard scanner.current == bracket else {
            throw fault(isObject ? "an object is expected" : "an array is expected")
        }
        guard depth < levelsMax else { throw fault("more than \(levelsMax) levels") }
        if depth > 0 && depth.isMultiple(of: 64) { spilledLevels.append(levels) }
        levels = levels << 1 | (isObject ? 1 : 0)
        depth += 1
        scanner.pass()
        isAtStart = true
    }

    /// Closes the innermost level, whose bracket is the current byte.
    @inlinable
    mutating func leave() {
        assert(depth > 0, "only a level that was entered is left")
        scanner.pass()
        depth -= 1
        levels >>= 1
        // The mirror image of `enter`: the word put aside has the 64 levels around.
        if depth > 0 && depth.isMultiple(of: 64), let above = spilledLevels.popLast() { levels = above }
        isAtStart = false
    }

    /// Passes the comma before the next member or element, or leaves the level at its end. A closing bracket right
    /// behind a comma is found by the caller, who must read a member or an element next.
    @inlinable
    mutating func hasNext(before bracket: UInt8) throws(JSONError) -> Bool {
        scanner.skipSpace()
        if scanner.current == bracket {
            leave()
            return false
        }
        if isAtStart {
            if scanner.isAtEnd { throw fault("the text ends too early") }
            return true
        }
        guard scanner.current == UInt8(ascii: ",") else { throw fault("a comma or a closing bracket is missing") }
        scanner.pass()
        scanner.skipSpace()
        return true
    }
}

// MARK: - Faults

extension JSONReader {
    /// Passes a literal; the scanner stays before it if another word follows.
    @inlinable
    mutating func skipWord(_ word: StaticString) throws(JSONError) {
        guard scanner.takeLiteral(word) else { throw fault("no value begins like this") }
        isAtStart = false
    }

    /// Why the scanner could not read a text, from the byte at which it stopped.
    @usableFromInline
    mutating func textFault() -> JSONError {
        switch scanner.current {
        case UInt8(ascii: "\\"): return escapeFault()
        case 0x80...: return fault("a text is not UTF-8")
        default:
            return fault(
                scanner.isAtEnd ? "a text has no end" : "a control character stands unescaped in a text"
            )
        }
    }

    /// The fault of a malformed escape: an unknown letter, or fewer than four hex digits.
    private mutating func escapeFault() -> JSONError {
        scanner.pass()
        guard scanner.current == UInt8(ascii: "u") else {
            return fault(scanner.isAtEnd ? "an escape has no end" : "no such escape")
        }
        scanner.pass()
        while JSONText.hexDigit(scanner.current) != nil { scanner.pass() }
        return fault("a \\u escape has four hex digits")
    }
}
