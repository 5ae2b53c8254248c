import EventLog
import JSON

/// Rewrites JSON texts in canonical form (RFC 8785) without making values of them; see `JSONValue.canonicalBytes` for the
/// departure.
///
/// Members are written as they come. An object whose members were not in canonical order is put in order at its end, by
/// moving their written bytes. Cost: O(bytes) for objects in order, else O(bytes) for each level that is not. For one
/// thread; not copyable, as it owns buffers.
struct CanonicalText: ~Copyable {
    /// A member of an open object, as written into `writer`.
    private struct Member {
        let name: JSONText
        /// From the name's quote to the end of the value.
        let range: Range<Int>
    }

    private var writer: CanonicalWriter
    /// The members of all open objects, outermost first.
    private var members: [Member] = []

    /// The most members that are sorted by insertion.
    private static let insertedCountMax = 24

    /// - Parameter byteCount: the room at first, in bytes; it grows when it is full.
    init(byteCount: Int = 1024) {
        writer = CanonicalWriter(byteCount: byteCount)
    }

    /// The hash of what was written.
    var hash: Hash256 { writer.withBytes { Hasher256.hash($0) } }

    /// Forgets what was written and keeps the room.
    mutating func reset() { writer.reset() }

    /// Writes text verbatim.
    mutating func raw(_ text: StaticString) { writer.raw(text) }

    /// Writes a text with quotes.
    mutating func string(_ text: String) { writer.string(text) }

    /// Writes a text, given as well-formed UTF-8, with quotes.
    mutating func string(utf8 text: UnsafeRawBufferPointer) { writer.string(utf8: text) }

    /// Writes bytes verbatim.
    mutating func raw(_ bytes: UnsafeRawBufferPointer) { writer.raw(bytes) }

    /// Writes a value. The bytes must be a valid JSON text.
    mutating func value(_ bytes: UnsafeRawBufferPointer) {
        // A text without escapes is its own canonical form.
        if bytes.first == UInt8(ascii: "\""), bytes.backslash(from: 0) == bytes.count { return writer.raw(bytes) }
        var reader = JSONReader(bytes, allowsAnyBytes: true)
        try? value(&reader)
    }

    /// Writes a value.
    @inline(__always)
    mutating func value(_ text: ValueText) {
        if text.isCanonical { writer.raw(text.bytes) } else { value(text.bytes) }
    }

    /// Writes an array of texts.
    mutating func array(_ texts: [String]) {
        writer.raw("[")
        for (place, text) in texts.enumerated() {
            if place > 0 { writer.raw(",") }
            writer.string(text)
        }
        writer.raw("]")
    }

    /// Writes an object.
    ///
    /// - Parameter writeMembers: writes its members in canonical order, each behind a comma, also the first one.
    @inline(__always)
    mutating func object(_ writeMembers: (inout CanonicalText) -> Void) {
        let start = writer.byteCount
        writeMembers(&self)
        // The brace takes the place of the first comma.
        if writer.byteCount == start { writer.raw("{") } else { writer.replaceByte(at: start, by: UInt8(ascii: "{")) }
        writer.raw("}")
    }

    /// Writes a member of an object behind a comma.
    mutating func member(_ name: String, _ value: StoredJSON) {
        writer.raw(",")
        writer.string(name)
        writer.raw(":")
        value.withBytes { self.value($0) }
    }

    /// Writes an object without its members of one name. The bytes must be a valid JSON text.
    ///
    /// - Throws: `JSONError` for bytes that are no object.
    mutating func write(object bytes: UnsafeRawBufferPointer, without omitted: StaticString) throws(JSONError) {
        var reader = JSONReader(bytes, allowsAnyBytes: true)
        try object(&reader, without: omitted)
        try reader.finish()
    }

    /// Lends what was written, only during the call.
    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try writer.withBytes(body)
    }

    /// Writes the next value. Recursive: the reader limits the depth.
    private mutating func value(_ reader: inout JSONReader) throws(JSONError) {
        switch try reader.kind() {
        case .object: try object(&reader, without: nil)
        case .array: try array(&reader)
        case .string: writer.string(try reader.string())
        case .number: writer.number(try reader.number())
        case .bool: writer.raw(try reader.bool() ? "true" : "false")
        case .null:
            try reader.null()
            writer.raw("null")
        }
    }

    private mutating func array(_ reader: inout JSONReader) throws(JSONError) {
        writer.raw("[")
        var isFirst = true
        try reader.enterArray()
        while try reader.nextElement() {
            if !isFirst { writer.raw(",") }
            isFirst = false
            try value(&reader)
        }
        writer.raw("]")
    }

    private mutating func object(_ reader: inout JSONReader, without omitted: StaticString?) throws(JSONError) {
        writer.raw("{")
        let first = members.count
        if first == 0 { members.reserveCapacity(Self.insertedCountMax) }
        let start = writer.byteCount
        try reader.enterObject()
        while let name = try reader.nextMember() {
            if let omitted, name == omitted {
                try reader.skip()
                continue
            }
            // Every member ends with a comma, so that all can be moved alike; the last one is taken back.
            let begin = writer.byteCount
            writer.string(name)
            writer.raw(":")
            try value(&reader)
            writer.raw(",")
            members.append(Member(name: name, range: begin..<writer.byteCount))
        }
        if !isInOrder(from: first) { putInOrder(from: first, start: start) }
        if members.count > first { writer.dropLast() }
        members.removeLast(members.count - first)
        writer.raw("}")
    }

    /// Whether the members of the innermost object are in canonical order, each name once.
    private func isInOrder(from first: Int) -> Bool {
        members[first...].indices.dropFirst().allSatisfy { Self.order(members[$0 - 1].name, members[$0].name) < 0 }
    }

    /// Sorts the members of the innermost object. Of equal names, the last one counts.
    private mutating func putInOrder(from first: Int, start: Int) {
        sort(from: first)
        let members = members
        func isRepeated(_ place: Int) -> Bool {
            place + 1 < members.count && Self.order(members[place].name, members[place + 1].name) == 0
        }
        let places = members[first...].indices.lazy.filter { !isRepeated($0) }
        writer.replace(from: start, by: places.map { members[$0].range })
    }

    /// Sorts the members of the innermost object by name; equal names keep their order.
    private mutating func sort(from first: Int) {
        if members.count - first > Self.insertedCountMax {
            return members[first...].sort {
                let order = Self.order($0.name, $1.name)
                return order < 0 || order == 0 && $0.range.lowerBound < $1.range.lowerBound
            }
        }
        for place in members[first...].indices.dropFirst() {
            var other = place
            while other > first, Self.order(members[other - 1].name, members[other].name) > 0 {
                members.swapAt(other - 1, other)
                other -= 1
            }
        }
    }

    /// Less than, equal to or greater than 0 as the first name sorts before, like or after the second by UTF-16 code
    /// units.
    private static func order(_ left: JSONText, _ right: JSONText) -> Int {
        if !left.hasEscapes && !right.hasEscapes { return CanonicalWriter.order(left.bytes, right.bytes) }
        return left.withUTF8 { here in right.withUTF8 { CanonicalWriter.order(here, $0) } }
    }
}
