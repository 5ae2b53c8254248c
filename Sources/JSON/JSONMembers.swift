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

    private let bytes: UnsafeBufferPointer<UInt8>
    /// True for an object, false for an array, `nil` if the text is neither.
    package let isObject: Bool?
    /// The index of the next byte; the buffer's count or more only before a fault.
    private var position: Int
    /// Whether no member was read yet: then no comma precedes the next one.
    private var isFirst = true
    /// Whether bytes may follow the container, as a value within a longer text has them.
    private let isPart: Bool

    /// Begins to read a text.
    ///
    /// - Parameter isPart: true if the text may go on behind the container.
    package init(_ bytes: UnsafeBufferPointer<UInt8>, isPart: Bool = false) {
        self.bytes = bytes
        self.isPart = isPart
        position = 0
        let start = bytes.firstIndex { !Self.isSpace($0) } ?? bytes.count
        let opening = start < bytes.count ? bytes[start] : 0
        isObject = opening == 0x7B ? true : opening == 0x5B ? false : nil
        // One behind the count if the text is empty; `next` then throws before it reads.
        position = start + 1
    }

    /// The next member or element; `nil` at the container's end.
    ///
    /// - Throws: `JSONError` if the container is malformed, or something follows it and `isPart` is false.
    package mutating func next() throws(JSONError) -> Member? {
        guard let isObject else { throw fault("it is no object and no array") }
        skipSpace()
        // Found before the comma, so a comma right before the bracket makes the next name or value missing.
        if take(isObject ? 0x7D : 0x5D) { return try end() }
        if !isFirst {
            guard take(0x2C) else { throw fault("a comma is missing") }
            skipSpace()
        }
        isFirst = false
        let name = isObject ? try self.name() : position..<position
        let start = position
        try passValue()
        assert(start < position && position <= bytes.count, "a value has bytes, and all of them lie in the text")
        return Member(name: name, value: start..<position)
    }
}

extension JSONMembers {
    /// An error at the current position. The reasons quote no byte of the text (I14).
    private func fault(_ reason: String) -> JSONError {
        JSONError(offset: min(position, bytes.count), reason: reason)
    }

    /// The four bytes of white space of RFC 8259, section 2; others that Unicode calls spaces are none.
    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    private mutating func skipSpace() {
        while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
    }

    /// Passes a byte; false, without moving, if another one comes or the text has ended.
    private mutating func take(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    /// Checks that nothing follows the container.
    private mutating func end() throws(JSONError) -> Member? {
        skipSpace()
        guard isPart || position == bytes.count else { throw fault("something follows the value") }
        return nil
    }

    /// The range of the next name between its quotes. Also passes the colon and the white space around it.
    private mutating func name() throws(JSONError) -> Range<Int> {
        guard take(0x22) else { throw fault("the name of a member is missing") }
        let start = position
        try passString()
        let end = position - 1
        skipSpace()
        guard take(0x3A) else { throw fault("a colon is missing") }
        skipSpace()
        return start..<end
    }

    /// Moves behind a value of any kind. Only its end is searched.
    private mutating func passValue() throws(JSONError) {
        guard position < bytes.count else { throw fault("it ends too early") }
        switch bytes[position] {
        case 0x22:
            position += 1
            try passString()
        case 0x7B, 0x5B: try passContainer()
        default: try passScalar()
        }
    }

    /// Moves from behind a string's opening quote to behind its closing one.
    private mutating func passString() throws(JSONError) {
        position = bytes.endOfString(from: position)
        guard position <= bytes.count else { throw fault("it ends within a string") }
    }

    /// Moves behind an object or array. Counts brackets of both kinds alike, so a wrong kind of bracket is not found;
    /// brackets in strings do not count.
    private mutating func passContainer() throws(JSONError) {
        var depth = 0
        // A local copy stays in a register; most bytes of most frames are skipped in this loop.
        var place = position
        repeat {
            guard place < bytes.count else {
                position = place
                throw fault("it ends too early")
            }
            let byte = bytes[place]
            place += 1
            switch byte {
            case 0x22:
                place = bytes.endOfString(from: place)
                guard place <= bytes.count else {
                    position = place
                    throw fault("it ends within a string")
                }
            case 0x7B, 0x5B: depth += 1
            case 0x7D, 0x5D: depth -= 1
            default: break
            }
        } while depth > 0
        position = place
    }

    /// Moves behind a number or literal. Any word of their bytes passes.
    private mutating func passScalar() throws(JSONError) {
        let start = position
        while position < bytes.count, Self.isScalarByte(bytes[position]) { position += 1 }
        guard position > start else { throw fault("a value is missing") }
    }

    /// True for the bytes of numbers, `true`, `false` and `null`: lower-case letters, digits, `E`, signs and the point.
    private static func isScalarByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x61...0x7A, 0x45, 0x2B, 0x2D, 0x2E: true
        default: false
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

    /// The index behind the quote that ends a string; `start` is the index behind the opening quote. `count + 1` if no
    /// quote ends it.
    @inline(__always)
    func endOfString(from start: Int) -> Int {
        var index = start
        while true {
            index = firstQuoteOrBackslash(from: index)
            guard index < count else { return count + 1 }
            if self[index] == 0x22 { return index + 1 }
            // The escaped byte cannot end the string. It may lie behind the end, which the next look finds.
            index += 2
        }
    }

    /// The index of the first quote or backslash at or after `start`; `count` or more if there is none.
    @inline(__always)
    func firstQuoteOrBackslash(from start: Int) -> Int {
        var index = start
        while index + ByteWord.size <= count {
            let word = UnsafeRawBufferPointer(self).word(index)
            let marks = ByteWord.zeros(word ^ ByteWord.all(0x22)) | ByteWord.zeros(word ^ ByteWord.all(0x5C))
            if marks != 0 { return index + marks.trailingZeroBitCount / 8 }
            index += ByteWord.size
        }
        while index < count, self[index] != 0x22, self[index] != 0x5C { index += 1 }
        return index
    }
}
