/// One token of a JSON text. It has ranges, not texts, so that a caller can replace the bytes in place and leave all
/// others as they are (I14).
package struct JSONToken {
    /// A member's name is told from a string, because names decide what is a secret.
    package enum Kind: Equatable {
        case beginObject, endObject, beginArray, endArray, name, string, number, literal
    }

    package let kind: Kind
    /// Where the token is in the text; of a name or a string, the bytes between its quotes.
    package let range: Range<Int>
    /// Whether a name or a string contains a backslash.
    package var hasEscapes = false
}

/// All tokens of one JSON text in order, for walks that take nesting of any depth alike.
///
/// Reads as strictly as `JSONReader`, but without a limit of depth, and bytes in strings need not be UTF-8. Borrows the
/// bytes.
package struct JSONTokens {
    private let bytes: UnsafeRawBufferPointer
    private var reader: JSONReader
    /// True at the start and after a name.
    private var isValueDue = true

    /// - Parameter position: The index of the first byte that is read.
    package init(_ bytes: UnsafeBufferPointer<UInt8>, from position: Int = 0) {
        self.bytes = UnsafeRawBufferPointer(bytes)
        reader = JSONReader(self.bytes, levelsMax: .max, allowsAnyBytes: true)
        reader.scanner.pass(position)
    }

    /// The number of open objects and arrays.
    package var depth: Int { reader.depth }

    /// The next token; `nil` once the text is complete.
    package mutating func next() throws(JSONError) -> JSONToken? {
        if isValueDue {
            isValueDue = false
            return try value()
        }
        // After the outermost value only white space may follow.
        guard reader.depth > 0 else {
            try reader.finish()
            return nil
        }
        guard reader.isInObject else {
            return try reader.nextElement() ? try value() : last(.endArray)
        }
        guard let name = try reader.nextMember() else { return last(.endObject) }
        isValueDue = true
        return token(.name, name)
    }

    /// The token that begins a value; of an object or array its bracket.
    private mutating func value() throws(JSONError) -> JSONToken {
        switch try reader.kind() {
        case .object:
            try reader.enterObject()
            return last(.beginObject)
        case .array:
            try reader.enterArray()
            return last(.beginArray)
        case .string: return token(.string, try reader.string())
        case .number: return JSONToken(kind: .number, range: range(of: try reader.number().bytes))
        case .bool, .null:
            // `kind` has skipped the white space, so the literal begins here.
            let start = reader.offset
            try reader.skip()
            return JSONToken(kind: .literal, range: start..<reader.offset)
        }
    }

    /// The bracket that was read last.
    private func last(_ kind: JSONToken.Kind) -> JSONToken {
        JSONToken(kind: kind, range: reader.offset - 1..<reader.offset)
    }

    private func token(_ kind: JSONToken.Kind, _ text: JSONText) -> JSONToken {
        JSONToken(kind: kind, range: range(of: text.bytes), hasEscapes: text.hasEscapes)
    }

    /// The indexes of a part that the reader has lent.
    private func range(of part: UnsafeRawBufferPointer) -> Range<Int> {
        guard let base = bytes.baseAddress, let start = part.baseAddress else { return 0..<0 }
        let offset = start - base
        return offset..<offset + part.count
    }
}
