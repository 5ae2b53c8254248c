import EventLog

/// Writes canonical JSON (RFC 8785) straight into bytes that are used again and again.
///
/// The caller keeps to the rule: members in the order of their names' UTF-16 code units.
struct CanonicalWriter {
    private(set) var bytes: [UInt8] = []

    init() {}

    /// Forgets what was written and keeps the room.
    mutating func reset() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// Text that is written as it is: braces, and names with their quotes and colons.
    @inline(__always)
    mutating func raw(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func raw(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    /// A number of 32 bits, big-endian.
    mutating func raw(_ number: UInt32) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// A whole number, without quotes.
    mutating func number(_ number: UInt64) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var start = 20
            var rest = number
            repeat {
                start -= 1
                digits[start] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            bytes.append(contentsOf: UnsafeMutableBufferPointer(rebasing: digits[start..<20]))
        }
    }

    /// A text that stood in a JSON text, with its quotes.
    mutating func string(_ text: JSONText) {
        bytes.append(UInt8(ascii: "\""))
        // Without escapes there is nothing in it that canonical JSON escapes.
        if text.hasEscapes { appendUnescaped(text) } else { bytes.append(contentsOf: text.bytes) }
        bytes.append(UInt8(ascii: "\""))
    }

    /// An instant as `Timestamp.description`, with its quotes.
    mutating func time(_ time: Timestamp) {
        let secondOfDay = (time.seconds % 86_400 + 86_400) % 86_400
        let date = CivilDate(daysSince1970: (time.seconds - secondOfDay) / 86_400)
        bytes.append(UInt8(ascii: "\""))
        padded(UInt64(clamping: date.year), 4)
        bytes.append(UInt8(ascii: "-"))
        padded(UInt64(clamping: date.month), 2)
        bytes.append(UInt8(ascii: "-"))
        padded(UInt64(clamping: date.day), 2)
        bytes.append(UInt8(ascii: "T"))
        padded(UInt64(clamping: secondOfDay / 3600), 2)
        bytes.append(UInt8(ascii: ":"))
        padded(UInt64(clamping: secondOfDay / 60 % 60), 2)
        bytes.append(UInt8(ascii: ":"))
        padded(UInt64(clamping: secondOfDay % 60), 2)
        bytes.append(UInt8(ascii: "."))
        padded(UInt64(time.nanoseconds / 1000), 6)
        raw("Z\"")
    }

    private mutating func padded(_ number: UInt64, _ width: Int) {
        var unit: UInt64 = 1
        for _ in 1..<width { unit *= 10 }
        while unit > 0 {
            bytes.append(0x30 + UInt8(truncatingIfNeeded: number / unit % 10))
            unit /= 10
        }
    }

    /// Escapes are rare, and short ones are the same in canonical JSON: runs between them are copied whole.
    private mutating func appendUnescaped(_ text: JSONText) {
        let source = text.bytes
        var start = 0
        var index = 0
        while index < source.count {
            guard source[index] == UInt8(ascii: "\\"), index + 1 < source.count else {
                index += 1
                continue
            }
            let letter = source[index + 1]
            if letter != UInt8(ascii: "u"), letter != UInt8(ascii: "/") {
                index += 2
                continue
            }
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: source[start..<index]))
            let end = JSONText.escapeEnd(in: source, at: index)
            append(JSONText(bytes: UnsafeRawBufferPointer(rebasing: source[index..<end]), hasEscapes: true))
            index = end
            start = end
        }
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: source[start...]))
    }

    private mutating func append(_ escape: JSONText) {
        let quoted = JSONValue.string(escape.string).canonicalBytes
        bytes.append(contentsOf: quoted[1..<quoted.count - 1])
    }
}

extension JSONText {
    /// Where the escape that begins at a backslash ends, both halves of a surrogate pair taken together.
    fileprivate static func escapeEnd(in bytes: UnsafeRawBufferPointer, at start: Int) -> Int {
        guard bytes[start + 1] == UInt8(ascii: "u") else { return start + 2 }
        let end = min(start + 6, bytes.count)
        let isHigh = bytes[start + 2] | 0x20 == UInt8(ascii: "d") && (hexDigit(bytes[start + 3]) ?? 0) / 4 == 2
        guard isHigh, bytes.count - end >= 6, bytes[end] == UInt8(ascii: "\\"), bytes[end + 1] == UInt8(ascii: "u"),
            bytes[end + 2] | 0x20 == UInt8(ascii: "d"), (hexDigit(bytes[end + 3]) ?? 0) / 4 == 3
        else { return end }
        return end + 6
    }
}
