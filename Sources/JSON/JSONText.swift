/// A string of a JSON text, as written between its quotes: well-formed UTF-8 with well-formed escapes. Borrows the
/// bytes: valid only as long as they are.
///
/// Methods rely on well-formed escapes and do not check for their end. So a text from a reader or a scanner is safe;
/// one from saved bytes needs `hasWholeEscapes` first. A lone surrogate in an escape is read as U+FFFD.
@usableFromInline
package struct JSONText: BitwiseCopyable {
    /// The bytes between the quotes.
    @usableFromInline
    package let bytes: UnsafeRawBufferPointer
    /// Whether the bytes contain a backslash. Without one they are the text itself.
    @usableFromInline
    package let hasEscapes: Bool

    @inlinable
    package init(bytes: UnsafeRawBufferPointer, hasEscapes: Bool) {
        self.bytes = bytes
        self.hasEscapes = hasEscapes
    }

    /// The text. With escapes, two copies are made.
    package var string: String {
        hasEscapes ? String(decoding: unescaped, as: UTF8.self) : String(decoding: bytes, as: UTF8.self)
    }

    /// Lends the text's UTF-8 bytes to a closure, only during the call; without escapes nothing is copied. The pointer
    /// must not leave the closure: it is to a temporary copy, or to the borrowed bytes.
    @inlinable
    package func withUTF8<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard hasEscapes else { return try body(bytes) }
        let copy = unescaped
        // `withUnsafeBytes` passes no typed errors, so the result carries them out.
        let result = copy.withUnsafeBytes { buffer in
            Swift.Result { () throws(Failure) in try body(buffer) }
        }
        return try result.get()
    }

    /// Whether the text, once unescaped, has the bytes of a literal. Allocates only if it has escapes. For names and
    /// words of protocols; an escaped spelling equals the plain one.
    @inlinable
    package static func == (text: JSONText, literal: StaticString) -> Bool {
        if text.hasEscapes { return text.unescaped.elementsEqual(literal.utf8) }
        return text.bytes.isSame(UnsafeRawBufferPointer(literal.utf8))
    }

    /// Whether two texts are equal once unescaped. Allocates for each text with escapes, unless the texts differ plainly.
    package func saysSame(as other: JSONText) -> Bool {
        if differsPlainly(from: other) { return false }
        return withUTF8 { here in other.withUTF8 { there in here.isSame(there) } }
    }

    /// True if the texts first differ outside of any escape, so that they are not the same; false proves nothing.
    /// Cheap, because most texts that differ do so early and have no escapes.
    private func differsPlainly(from other: JSONText) -> Bool {
        let count = min(bytes.count, other.bytes.count)
        var index = 0
        // Up to `index` both texts have the same bytes, so one look serves both.
        while count - index >= 8, bytes.word(index) == other.bytes.word(index) { index += 8 }
        while index < count, bytes[index] == other.bytes[index] { index += 1 }
        guard index < count else { return false }
        // An escape has at most twelve bytes (a surrogate pair), so the bytes before tell whether one reaches here.
        let before = bytes[max(0, index - 12)...index]
        return !before.contains(UInt8(ascii: "\\")) && other.bytes[index] != UInt8(ascii: "\\")
    }

    /// The text's UTF-8 bytes.
    ///
    /// - Throws: `JSONError` for half a surrogate pair, which has no UTF-8 form. Its offset counts from the first byte
    ///   between the quotes.
    package func decoded() throws(JSONError) -> [UInt8] {
        guard hasEscapes else { return Array(bytes) }
        let (decoded, fault) = JSONEscape.decode(bytes, replacingHalves: false)
        guard let fault else { return decoded }
        throw JSONError(offset: fault, reason: "an escape is half a surrogate pair, which stands for no bytes")
    }

    /// Checks what `decoded` does, without an array for a text that has no escape of a surrogate.
    ///
    /// - Throws: as `decoded`.
    package func checkDecodes() throws(JSONError) {
        if hasEscapes, mayHaveSurrogates { _ = try decoded() }
    }

    /// Whether `\ud` stands in the bytes, as in each escape of a surrogate, and behind an escaped backslash. Looks at all bytes
    /// without a branch, so that the compiler compares many at once.
    private var mayHaveSurrogates: Bool {
        var found: UInt8 = 0
        for index in bytes.indices.dropFirst(2) {
            let start = bytes[index - 2] ^ UInt8(ascii: "\\") | bytes[index - 1] ^ UInt8(ascii: "u")
            let digit = (bytes[index] | 0x20) ^ UInt8(ascii: "d")
            found |= start | digit == 0 ? 1 : 0
        }
        return found != 0
    }

    /// The text's UTF-8 bytes in a new array; half a surrogate pair becomes U+FFFD.
    @usableFromInline var unescaped: [UInt8] { JSONEscape.decode(bytes, replacingHalves: true).bytes }

    /// The value of a hex digit in either case; `nil` for other bytes.
    @inlinable
    package static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}

extension StaticString {
    /// The literal's bytes, which live as long as the program.
    @inlinable
    var utf8: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount)
    }
}
