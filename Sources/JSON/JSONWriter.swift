/// Writes JSON in the order of the calls, without white space. The same calls give the same bytes.
///
/// Strings are escaped by RFC 8785 (`\"`, `\\`, `\b`, `\t`, `\n`, `\f`, `\r`, else `\u00xx`), so that each string has
/// one form. The caller keeps the structure right: the writer checks neither names nor nesting. Bytes that leave here
/// go into keys, payloads and bookmarks, so the form must never change (I4).
package struct JSONWriter {
    /// The text so far. It keeps its memory through `removeAll`.
    package private(set) var bytes: [UInt8] = []
    /// True if a comma is due before the next member or element.
    private var needsComma = false

    package init() {}

    /// Begins an object (`{`) or an array (`[`).
    package mutating func begin(_ opening: Unicode.Scalar) {
        separate()
        bytes.append(UInt8(truncatingIfNeeded: opening.value))
        needsComma = false
    }

    /// Ends the innermost object (`}`) or array (`]`).
    package mutating func end(_ closing: Unicode.Scalar) {
        assert(bytes.last != 0x3A, "a value follows each member's name")
        bytes.append(UInt8(truncatingIfNeeded: closing.value))
        needsComma = true
    }

    /// Writes a member's name. A value must follow, and the name must need no escape. A literal's bytes are copied
    /// unchecked, which saves the search for escapes.
    package mutating func name(_ name: StaticString) {
        separate()
        bytes.append(0x22)
        bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        bytes.append(contentsOf: [0x22, 0x3A])
        needsComma = false
    }

    /// Writes a member's name of any text. A value must follow.
    package mutating func name(of text: String) {
        string(text)
        bytes.append(0x3A)
        needsComma = false
    }

    /// Writes a string; its bytes must be UTF-8.
    package mutating func string(_ text: UnsafeBufferPointer<UInt8>) {
        let raw = UnsafeRawBufferPointer(text)
        separate()
        bytes.append(0x22)
        let first = raw.escaped(from: 0)
        if first == raw.count { bytes.append(contentsOf: text) } else { appendEscaped(raw, from: first) }
        bytes.append(0x22)
        needsComma = true
    }

    /// How many bytes of a text are escaped at once. Their room is below the 1 KiB that a temporary allocation always has on the
    /// stack.
    private static let pieceBytes = 160

    /// Appends a text whose first byte to escape is at `first`.
    private mutating func appendEscaped(_ text: UnsafeRawBufferPointer, from first: Int) {
        bytes.append(contentsOf: text[..<first])
        withUnsafeTemporaryAllocation(byteCount: JSONEscape.room(for: Self.pieceBytes), alignment: 8) { room in
            for start in stride(from: first, to: text.count, by: Self.pieceBytes) {
                let piece = text[start..<min(start + Self.pieceBytes, text.count)]
                let count = JSONEscape.write(UnsafeRawBufferPointer(rebasing: piece), into: room)
                bytes.append(contentsOf: room[..<count])
            }
        }
    }

    /// Writes a string; its bytes must be UTF-8.
    package mutating func string(_ text: [UInt8]) {
        text.withUnsafeBufferPointer { string($0) }
    }

    /// Writes a string.
    package mutating func string(_ text: String) {
        var text = text
        text.withUTF8 { string($0) }
    }

    /// Writes bytes as a string in base64, which needs no escapes.
    package mutating func base64(_ value: UnsafeRawBufferPointer) {
        separate()
        bytes.append(0x22)
        Base64.append(value, to: &bytes)
        bytes.append(0x22)
        needsComma = true
    }

    package mutating func base64(_ value: [UInt8]) {
        value.withUnsafeBytes { base64($0) }
    }

    /// Begins anew, with the room of the text before.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        needsComma = false
    }

    /// Ends a line, so that the next value begins another text.
    package mutating func endLine() {
        bytes.append(0x0A)
        needsComma = false
    }

    /// Writes a whole number. Readers in JavaScript keep it exactly only up to 2^53. Ids are written as strings for
    /// that reason.
    package mutating func number(_ value: some BinaryInteger) {
        separate()
        bytes.append(contentsOf: String(value).utf8)
        needsComma = true
    }

    package mutating func literal(_ value: Bool) {
        separate()
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
        needsComma = true
    }

    package mutating func null() {
        separate()
        bytes.append(contentsOf: "null".utf8)
        needsComma = true
    }

    /// Writes a value: numbers as they were written, members in their order. Recursive: a value that was parsed has at most
    /// `JSONReader.depthMax` levels.
    package mutating func value(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .bool(let truth): literal(truth)
        case .number(let number):
            separate()
            bytes.append(contentsOf: number.text.utf8)
            needsComma = true
        case .string(let text): string(text)
        case .array(let elements):
            begin("[")
            for element in elements { self.value(element) }
            end("]")
        case .object(let object):
            begin("{")
            for member in object.members {
                name(of: member.name)
                self.value(member.value)
            }
            end("}")
        }
    }

    /// The number of bytes that `string` would write for a text, quotes included. For limits that must be known before
    /// a text is written. Cost: one search for bytes to escape.
    package static func length(ofString text: UnsafeBufferPointer<UInt8>) -> Int {
        let raw = UnsafeRawBufferPointer(text)
        var length = raw.count + 2
        var index = raw.escaped(from: 0)
        while index < raw.count {
            length += JSONEscape.written(raw[index]).count - 1
            index = raw.escaped(from: index + 1)
        }
        return length
    }

    /// Writes the comma that is due before the next member or element.
    private mutating func separate() {
        if needsComma { bytes.append(0x2C) }
    }

}
