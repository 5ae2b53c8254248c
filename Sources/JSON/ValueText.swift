/// The text of a JSON value, without white space around it. Borrows its bytes.
@usableFromInline
package struct ValueText: BitwiseCopyable {
    @usableFromInline
    package let bytes: UnsafeRawBufferPointer
    /// Whether the text is known to be its own canonical form (RFC 8785, whole numbers in full): a string without escapes, a whole
    /// number, `true`, `false` or `null`. Two such values are the same only if their texts are.
    @usableFromInline
    package let isCanonical: Bool

    @inlinable
    package init(bytes: UnsafeRawBufferPointer, isCanonical: Bool) {
        self.bytes = bytes
        self.isCanonical = isCanonical
    }

    /// The string of a canonical value; `nil` for any other value.
    @inlinable
    package var plainString: JSONText? {
        guard isCanonical, bytes.first == UInt8(ascii: "\"") else { return nil }
        return JSONText(bytes: UnsafeRawBufferPointer(rebasing: bytes[1..<bytes.count - 1]), hasEscapes: false)
    }
}

extension JSONReader {
    /// Passes one value of any kind, checks it and returns its text.
    @inlinable
    package mutating func valueText() throws(JSONError) -> ValueText {
        scanner.skipSpace()
        let start = scanner
        var isCanonical = false
        switch scanner.current {
        case UInt8(ascii: "\""):
            guard let text = scanner.text(allowsAnyBytes: allowsAnyBytes) else { throw textFault() }
            isAtStart = false
            isCanonical = !text.hasEscapes
        case UInt8(ascii: "-"), 0x30...0x39: isCanonical = try number().isCanonical
        case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"):
            try skip()
            isCanonical = true
        default: try skip()
        }
        return ValueText(bytes: scanner.bytes(from: start), isCanonical: isCanonical)
    }
}

extension JSONDigits {
    /// Whether the number is known to be written as ECMAScript writes it, whole numbers in full: only negative zero has a whole
    /// form of its own.
    @inlinable
    package var isCanonical: Bool {
        isWhole && (bytes.count != 2 || bytes[0] != UInt8(ascii: "-") || bytes[1] != UInt8(ascii: "0"))
    }
}
