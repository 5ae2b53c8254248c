/// A string of a JSON text, as written between its quotes: well-formed UTF-8 with well-formed escapes. Borrows the
/// bytes.
///
/// Methods rely on well-formed escapes and do not check for their end. A lone surrogate in an escape is read as U+FFFD.
struct JSONText: BitwiseCopyable {
    /// The bytes between the quotes.
    let bytes: UnsafeRawBufferPointer
    /// Whether they contain a backslash. Without one they are the text itself.
    let hasEscapes: Bool

    /// The text.
    var string: String {
        hasEscapes ? String(decoding: unescaped, as: UTF8.self) : String(decoding: bytes, as: UTF8.self)
    }

    /// Lends the text's UTF-8 bytes to a closure, only during the call; without escapes nothing is copied.
    func withUTF8<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard hasEscapes else { return try body(bytes) }
        let copy = unescaped
        let result = copy.withUnsafeBytes { buffer in
            Swift.Result { () throws(Failure) in try body(buffer) }
        }
        return try result.get()
    }

    /// Whether the text has the bytes of a literal. Allocates only if it has escapes.
    static func == (text: JSONText, literal: StaticString) -> Bool {
        if text.hasEscapes { return text.unescaped.elementsEqual(literal.utf8) }
        return text.bytes.count == literal.utf8CodeUnitCount && text.bytes.elementsEqual(literal.utf8)
    }

    /// Whether two texts have the same bytes, however each is escaped.
    func saysSame(as other: JSONText) -> Bool {
        if differsPlainly(from: other) { return false }
        return withUTF8 { here in other.withUTF8 { there in here.isSame(there) } }
    }

    /// True if the texts first differ outside of any escape, so that they are not the same; false proves nothing.
    private func differsPlainly(from other: JSONText) -> Bool {
        let count = min(bytes.count, other.bytes.count)
        var index = 0
        while count - index >= 8, bytes.word(index) == other.bytes.word(index) { index += 8 }
        while index < count, bytes[index] == other.bytes[index] { index += 1 }
        guard index < count else { return false }
        // An escape has at most twelve bytes (a surrogate pair), so the bytes before tell whether one reaches here.
        let before = bytes[max(0, index - 12)...index]
        return !before.contains(UInt8(ascii: "\\")) && other.bytes[index] != UInt8(ascii: "\\")
    }

    private var unescaped: [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let run = bytes[index...].prefix { $0 != UInt8(ascii: "\\") }
            result.append(contentsOf: run)
            index = run.endIndex
            if index < bytes.count { appendEscape(at: &index, to: &result) }
        }
        return result
    }

    private func appendEscape(at index: inout Int, to result: inout [UInt8]) {
        let letter = bytes[index + 1]
        index += 2
        switch letter {
        case UInt8(ascii: "b"): result.append(0x08)
        case UInt8(ascii: "f"): result.append(0x0C)
        case UInt8(ascii: "n"): result.append(0x0A)
        case UInt8(ascii: "r"): result.append(0x0D)
        case UInt8(ascii: "t"): result.append(0x09)
        case UInt8(ascii: "u"): result.append(contentsOf: String(scalar(at: &index)).utf8)
        default: result.append(letter)
        }
    }

    /// The scalar whose four hex digits begin at `index`; of a surrogate pair, both halves are read.
    private func scalar(at index: inout Int) -> Unicode.Scalar {
        let high = codeUnit(at: index)
        index += 4
        guard (0xD800...0xDBFF).contains(high) else { return Unicode.Scalar(high) ?? "\u{FFFD}" }
        guard index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u") else {
            return "\u{FFFD}"
        }
        let low = codeUnit(at: index + 2)
        guard (0xDC00...0xDFFF).contains(low) else { return "\u{FFFD}" }
        index += 6
        return Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)) ?? "\u{FFFD}"
    }

    private func codeUnit(at index: Int) -> UInt32 {
        bytes[index..<index + 4].reduce(0) { $0 << 4 | UInt32(Self.hexDigit($1) ?? 0) }
    }

    /// The value of a hex digit in either case; `nil` for other bytes.
    static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The offset of the next backslash at or after `start`; `count` if there is none.
    @inline(__always)
    func backslash(from start: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var index = start
        while count - index >= 8 {
            let differences = word(index) ^ ones &* UInt64(UInt8(ascii: "\\"))
            let marks = (differences &- ones) & ~differences & ones << 7
            // A borrow can set wrong marks, but only above the lowest one.
            if marks != 0 { return index + marks.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < count, self[index] != UInt8(ascii: "\\") { index += 1 }
        return index
    }
}

extension StaticString {
    fileprivate var utf8: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount)
    }
}
