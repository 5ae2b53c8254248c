import JSON

/// The lines of one Server-Sent Event, read as the standard demands:
/// <https://html.spec.whatwg.org/multipage/server-sent-events.html>.
///
/// Lines end with CR LF, LF or CR. One space after the colon is no part of the value. A line that begins with a colon
/// is a comment, a line without a colon a field with an empty value. Unknown fields are ignored.
///
/// Never fails: any bytes are an event, perhaps without fields. Copies the values, so it outlives the payload. Cost:
/// O(bytes).
struct ServerSentEvent {
    /// Whether the event has an `id` field, even an empty one. An id with a NUL does not count, as the standard
    /// demands.
    private(set) var hasID = false
    /// The value of the last `event` field; `nil` without one.
    private(set) var name: [UInt8]?
    /// The values of the `data` fields, in order.
    private(set) var data: [[UInt8]] = []

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private static let colon = UInt8(ascii: ":")
    private static let space = UInt8(ascii: " ")

    init(_ bytes: UnsafeRawBufferPointer, rules: ReadingRules = .canonical) {
        var rest = bytes[...]
        // The standard skips one byte order mark at the start of the stream. The recorder cuts the stream into events,
        // so each event may be the first.
        if rest.starts(with: Self.byteOrderMark) { rest = rest.dropFirst(Self.byteOrderMark.count) }
        while let line = rules.contains(.linesEndInLFAlone) ? Self.nextLineOfLF(&rest) : Self.nextLine(&rest) {
            read(line, rules: rules)
        }
    }

    /// The event without its pieces of 1,024 bytes that are no valid UTF-8 by themselves. Pieces are counted from the
    /// event's first byte.
    static func wholePieces(of bytes: UnsafeRawBufferPointer) -> [UInt8] {
        stride(from: 0, to: bytes.count, by: pieceBytes).reduce(into: []) { kept, start in
            let piece = bytes[start..<min(start + pieceBytes, bytes.count)]
            if String(validating: piece, as: UTF8.self) != nil { kept += piece }
        }
    }

    private static let pieceBytes = 1024

    /// Reads one line without its end. A comment has an empty name and matches no field.
    private mutating func read(_ line: Slice<UnsafeRawBufferPointer>, rules: ReadingRules) {
        let name = line.prefix { $0 != Self.colon }
        var value = line.dropFirst(name.count).dropFirst()
        let hasSpace = value.first == Self.space
        if hasSpace { value = value.dropFirst() }
        if rules.contains(.dataNeedsASpace) && !hasSpace { return }
        if name.elementsEqual("data".utf8) {
            data.append(Array(value))
        } else if name.elementsEqual("event".utf8) {
            self.name = Array(value)
        } else if name.elementsEqual("id".utf8), !value.contains(0) {
            hasID = true
        }
    }

    /// Takes a line up to an LF that follows no CR; `nil` if there is no such LF.
    private static func nextLineOfLF(_ rest: inout Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer>? {
        guard
            let end = rest.indices.first(where: { rest[$0] == 0x0A && ($0 == rest.startIndex || rest[$0 - 1] != 0x0D) })
        else { return nil }
        defer { rest = rest[(end + 1)...] }
        return rest[..<end]
    }

    /// Takes a line up to CR LF, LF or CR, or up to the end; `nil` if nothing is left.
    private static func nextLine(_ rest: inout Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer>? {
        if rest.isEmpty { return nil }
        let end = rest.lineEnd
        let line = rest[..<end]
        rest = rest[end...]
        let endsWithReturn = rest.first == 0x0D
        rest = rest.dropFirst()
        if endsWithReturn, rest.first == 0x0A { rest = rest.dropFirst() }
        return line
    }
}

extension Slice<UnsafeRawBufferPointer> {
    /// The index of the first LF or CR, else the end. Tests eight bytes at a time, as `JSONReader` does.
    fileprivate var lineEnd: Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var index = startIndex
        assert(endIndex <= base.count, "words are read within the event only")
        while endIndex - index >= 8 {
            let word = base.word(index)
            // A byte that matches becomes zero; subtracting one from each byte sets the top bit of a zero byte.
            let (feeds, returns) = (word ^ ones &* 0x0A, word ^ ones &* 0x0D)
            let marks = ((feeds &- ones) & ~feeds | (returns &- ones) & ~returns) & ones << 7
            // The lowest mark is always right; borrows can only set false marks above it.
            if marks != 0 { return index + marks.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < endIndex, self[index] != 0x0A, self[index] != 0x0D { index += 1 }
        return index
    }
}
