/// Finds the members of one JSON object, or the elements of one array, without reading their values.
///
/// For frames of which a recorder needs a few outer members only. The outermost container is read strictly, but in a
/// value only its end is searched, so faults within it are not found. Names are compared as they
/// are written: a name with escapes matches nothing. `JSONReader` reads a value whole. The bytes must
/// outlive this value.
///
/// Cost: one look at each byte, in strings eight bytes at a time. It allocates nothing and uses no recursion, so deep
/// nesting costs no stack. The recorder of a frame stores its bytes all the same, so a missed fault loses nothing: the
/// decoder makes it an issue (I11).
package struct JSONMembers {
    /// One member or element. `name` is the range between the quotes, `value` that of the whole value.
    package struct Member {
        /// Empty in an array.
        package let name: Range<Int>
        /// Never empty, and without the white space around the value.
        package let value: Range<Int>
    }

    private var scanner: JSONScanner
    /// The first byte, from which offsets count.
    private let start: UnsafePointer<UInt8>
    /// True for an object, false for an array, `nil` if the text is neither.
    package let isObject: Bool?
    /// Whether no member was read yet: then no comma precedes the next one.
    private var isFirst = true
    /// Whether bytes may follow the container, as a value within a longer text has them.
    private let isPart: Bool

    /// Begins to read a text.
    ///
    /// - Parameter isPart: true if the text may go on behind the container.
    package init(_ bytes: UnsafeBufferPointer<UInt8>, isPart: Bool = false) {
        self.isPart = isPart
        scanner = JSONScanner(UnsafeRawBufferPointer(bytes))
        start = scanner.place
        scanner.skipSpace()
        isObject = scanner.current == UInt8(ascii: "{") ? true : scanner.current == UInt8(ascii: "[") ? false : nil
        if !scanner.isAtEnd { scanner.pass() }
    }

    /// The next member or element; `nil` at the container's end.
    ///
    /// - Throws: `JSONError` if the container is malformed, or something follows it and `isPart` is false.
    package mutating func next() throws(JSONError) -> Member? {
        guard let isObject else { throw fault("it is no object and no array") }
        // Found before the comma, so a comma right before the bracket makes the next name or value missing.
        if scanner.take(UInt8(ascii: isObject ? "}" : "]")) { return try end() }
        if !isFirst {
            guard scanner.take(UInt8(ascii: ",")) else { throw fault("a comma is missing") }
            scanner.skipSpace()
        }
        isFirst = false
        let name = isObject ? try self.name() : offset..<offset
        let before = offset
        try passValue()
        assert(before < offset, "a value has bytes")
        return Member(name: name, value: before..<offset)
    }
}

extension JSONMembers {
    private var offset: Int { scanner.place - start }

    /// An error at the current place. The reasons quote no byte of the text (I14).
    private func fault(_ reason: String) -> JSONError { JSONError(offset: offset, reason: reason) }

    /// Checks that nothing follows the container.
    private mutating func end() throws(JSONError) -> Member? {
        scanner.skipSpace()
        guard isPart || scanner.isAtEnd else { throw fault("something follows the value") }
        return nil
    }

    /// The range of the next name between its quotes. Also passes the colon and the white space around it.
    private mutating func name() throws(JSONError) -> Range<Int> {
        guard scanner.take(UInt8(ascii: "\"")) else { throw fault("the name of a member is missing") }
        let start = offset
        guard scanner.passRestOfText() else { throw fault("it ends within a string") }
        let end = offset - 1
        guard scanner.take(UInt8(ascii: ":")) else { throw fault("a colon is missing") }
        scanner.skipSpace()
        return start..<end
    }

    /// Moves behind a value of any kind. Only its end is searched: brackets of both kinds are counted alike, so a wrong
    /// kind of bracket is not found, and any word of the bytes of numbers and literals passes.
    private mutating func passValue() throws(JSONError) {
        if scanner.isAtEnd { throw fault("it ends too early") }
        switch scanner.current {
        case UInt8(ascii: "\""), UInt8(ascii: "{"), UInt8(ascii: "["):
            switch scanner.passUnread() {
            case .value: return
            case .text: throw fault("it ends within a string")
            case .container: throw fault("it ends too early")
            }
        default: if !scanner.passWord() { throw fault("a value is missing") }
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// True if the bytes of a range, which must lie within the buffer, are those of `text`.
    package func holds(_ text: StaticString, at range: Range<Int>) -> Bool {
        guard range.count == text.utf8CodeUnitCount else { return false }
        for offset in 0..<range.count where self[range.lowerBound + offset] != text.utf8Start[offset] { return false }
        return true
    }
}
