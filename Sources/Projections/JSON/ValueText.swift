import JSON

/// The text of a JSON value, without white space around it. Borrows its bytes.
struct ValueText: BitwiseCopyable {
    let bytes: UnsafeRawBufferPointer
    /// Whether the text is known to be its own canonical form: a string without escapes, a whole number, `true`, `false` or `null`.
    /// Two such values are the same only if their texts are.
    let isCanonical: Bool

    /// Whether both values are the same, as `StoredJSON.isSame` decides.
    @inline(__always)
    func isSame(as other: ValueText) -> Bool {
        if isCanonical, other.isCanonical { return bytes.isSame(other.bytes) }
        return StoredJSON.areSame(bytes, other.bytes)
    }
}

extension JSONReader {
    /// Passes one value of any kind, checks it and returns its text.
    @inline(__always)
    mutating func valueText() throws(JSONError) -> ValueText {
        let kind = try kind()
        let start = mark
        let isCanonical =
            switch kind {
            case .string: !(try string().hasEscapes)
            case .number: try number().isCanonical
            default: try isCanonicalWord(kind)
            }
        return ValueText(bytes: bytes(from: start), isCanonical: isCanonical)
    }

    /// Passes a value that is no string and no number; whether it is one of the three words.
    private mutating func isCanonicalWord(_ kind: Kind) throws(JSONError) -> Bool {
        try skip()
        return kind == .null || kind == .bool
    }
}
