/// Writes JSON in the order of the calls, without white space. The same calls give the same bytes.
///
/// Strings are escaped by RFC 8785 (`\"`, `\\`, `\b`, `\t`, `\n`, `\f`, `\r`, else `\u00xx`), so that each string has
/// one form.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    /// True if a comma is due before the next member or element.
    private var needsComma = false

    mutating func begin(_ opening: Unicode.Scalar) {
        separate()
        bytes.append(UInt8(truncatingIfNeeded: opening.value))
        needsComma = false
    }

    mutating func end(_ closing: Unicode.Scalar) {
        assert(bytes.last != 0x3A, "a value follows each member's name")
        bytes.append(UInt8(truncatingIfNeeded: closing.value))
        needsComma = true
    }

    /// Writes a member's name. A value must follow, and the name must need no escape.
    mutating func name(_ name: StaticString) {
        separate()
        bytes.append(0x22)
        bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        bytes.append(contentsOf: [0x22, 0x3A])
        needsComma = false
    }

    /// Writes a string; its bytes must be UTF-8.
    mutating func string(_ text: UnsafeBufferPointer<UInt8>) {
        separate()
        bytes.append(0x22)
        var plainStart = 0
        var index = 0
        // A plain loop: in a build without optimisation, an iterator or closure for each byte costs ten times as much.
        while index < text.count {
            let byte = text[index]
            if !Self.isPlain(byte) {
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[plainStart..<index]))
                appendEscape(byte)
                plainStart = index + 1
            }
            index += 1
        }
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[plainStart...]))
        bytes.append(0x22)
        needsComma = true
    }

    mutating func string(_ text: [UInt8]) {
        text.withUnsafeBufferPointer { string($0) }
    }

    mutating func string(_ text: String) {
        string(Array(text.utf8))
    }

    mutating func number(_ value: some BinaryInteger) {
        separate()
        bytes.append(contentsOf: String(value).utf8)
        needsComma = true
    }

    mutating func literal(_ value: Bool) {
        separate()
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
        needsComma = true
    }

    mutating func null() {
        separate()
        bytes.append(contentsOf: "null".utf8)
        needsComma = true
    }

    /// The number of bytes that `string` would write for a text, quotes included.
    static func length(ofString text: UnsafeBufferPointer<UInt8>) -> Int {
        var length = text.count + 2
        var index = 0
        while index < text.count {
            let byte = text[index]
            if !isPlain(byte) { length += escapedLength(of: byte) - 1 }
            index += 1
        }
        return length
    }

    @inline(__always)
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != 0x22 && byte != 0x5C
    }

    private mutating func separate() {
        if needsComma { bytes.append(0x2C) }
    }

    private static func escapedLength(of byte: UInt8) -> Int {
        switch byte {
        case 0x22, 0x5C, 0x08, 0x09, 0x0A, 0x0C, 0x0D: return 2
        default: return 6
        }
    }

    private mutating func appendEscape(_ byte: UInt8) {
        let short: UInt8? =
            switch byte {
            case 0x22, 0x5C: byte
            case 0x08: 0x62
            case 0x09: 0x74
            case 0x0A: 0x6E
            case 0x0C: 0x66
            case 0x0D: 0x72
            default: nil
            }
        bytes.append(0x5C)
        if let short {
            bytes.append(short)
        } else {
            let digits: [UInt8] = [byte >> 4, byte & 15].map { $0 < 10 ? 0x30 + $0 : 0x61 + $0 - 10 }
            bytes.append(contentsOf: [0x75, 0x30, 0x30])
            bytes.append(contentsOf: digits)
        }
    }
}
