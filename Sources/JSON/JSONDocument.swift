/// One JSON text (RFC 8259) that was read whole, and what stands where in it. A value is made of a part when somebody asks for
/// it (`JSONView`).
///
/// For one thread. Cost of making one: O(bytes); it keeps 32 bytes for each value.
package final class JSONDocument {
    /// One value, in the order of the text. Offsets are from the text's first byte.
    struct Part: BitwiseCopyable {
        let kind: JSONReader.Kind
        let hasEscapes, nameHasEscapes: Bool
        /// The name of a member, without quotes; empty for any other value.
        let nameStart, nameCount: UInt32
        /// `JSONName.mark` of a name without escapes.
        let nameMark: UInt32
        /// The value; of a text what is between the quotes.
        let start: UInt32
        var count: UInt32
        /// The part behind the last one of this value. While a value is open, the one around it.
        var end: UInt32
        /// How many members or elements it has.
        var size: UInt32 = 0
    }

    /// The members or elements of a value that has many.
    private enum Index {
        /// The last part of each name.
        case members([ExactText: UInt32])
        case elements([UInt32])
    }

    /// The most members or elements that are found one after another.
    static let smallCountMax = 16
    private static let none = UInt32.max

    let bytes: UnsafeRawBufferPointer
    /// The text, if it is the document's own.
    private let own: UnsafeMutableRawBufferPointer?
    private(set) var parts: UnsafeMutablePointer<Part>
    private(set) var count = 0
    private var capacity: Int
    /// By part, for values with many members that somebody has asked for.
    private var indexes: [Int: Index] = [:]

    /// Reads a text as `JSONValue.parse(_:)` does.
    ///
    /// - Parameter bytes: Borrowed: the document and its views are valid only as long as they are.
    package convenience init(_ bytes: UnsafeRawBufferPointer) throws(JSONError) {
        try self.init(bytes, own: nil)
    }

    /// Reads a copy of a text.
    package convenience init(copying text: some Sequence<UInt8>) throws(JSONError) {
        let text = Array(text)
        let own = UnsafeMutableRawBufferPointer.allocate(byteCount: text.count, alignment: 1)
        own.copyBytes(from: text)
        try self.init(UnsafeRawBufferPointer(own), own: own)
    }

    private init(_ bytes: UnsafeRawBufferPointer, own: UnsafeMutableRawBufferPointer?) throws(JSONError) {
        Steps.count(bytes.count)
        (self.bytes, self.own) = (bytes, own)
        capacity = 32
        parts = .allocate(capacity: capacity)
        guard bytes.count < Int(UInt32.max) else { throw JSONError(offset: 0, reason: "the text is too long") }
        try read()
    }

    deinit {
        parts.deallocate()
        own?.deallocate()
    }

    /// The whole value.
    package var root: JSONView { JSONView(self) }

    // MARK: - Reading

    private func read() throws(JSONError) {
        var reader = JSONReader(bytes)
        var open = try add(&reader, name: nil, around: Self.none)
        while open != Self.none {
            let place = Int(open)
            let isObject = parts[place].kind == .object
            let name = isObject ? try reader.nextMember() : nil
            let goesOn = isObject ? name != nil : try reader.nextElement()
            guard goesOn else {
                open = close(place, reader.offset)
                continue
            }
            parts[place].size += 1
            open = try add(&reader, name: name, around: open)
        }
        try reader.finish()
    }

    /// Adds the next value.
    ///
    /// - Returns: the value that is open behind it: itself if it is an object or an array.
    private func add(_ reader: inout JSONReader, name: JSONText?, around: UInt32) throws(JSONError) -> UInt32 {
        let kind = try reader.kind()
        var (start, length, hasEscapes) = (reader.offset, 0, false)
        switch kind {
        case .object: try reader.enterObject()
        case .array: try reader.enterArray()
        case .string:
            let text = try reader.string()
            (start, length, hasEscapes) = (reader.offset(of: text), text.bytes.count, text.hasEscapes)
        case .number: length = try reader.number().bytes.count
        case .bool: length = try reader.bool() ? 4 : 5
        case .null:
            try reader.null()
            length = 4
        }
        if count == capacity { grow() }
        let isOpen = kind == .object || kind == .array
        (parts + count).initialize(
            to: Part(
                kind: kind,
                hasEscapes: hasEscapes,
                nameHasEscapes: name?.hasEscapes ?? false,
                nameStart: UInt32(truncatingIfNeeded: name.map { reader.offset(of: $0) } ?? 0),
                nameCount: UInt32(truncatingIfNeeded: name?.bytes.count ?? 0),
                nameMark: name.map { $0.hasEscapes ? 0 : JSONName.mark(of: $0.bytes) } ?? 0,
                start: UInt32(truncatingIfNeeded: start),
                count: UInt32(truncatingIfNeeded: length),
                end: isOpen ? around : UInt32(truncatingIfNeeded: count + 1)
            )
        )
        count += 1
        return isOpen ? UInt32(truncatingIfNeeded: count - 1) : around
    }

    /// Ends an object or array, which the reader has left.
    ///
    /// - Returns: the value around it.
    private func close(_ place: Int, _ offset: Int) -> UInt32 {
        let around = parts[place].end
        parts[place].count = UInt32(truncatingIfNeeded: offset) - parts[place].start
        parts[place].end = UInt32(truncatingIfNeeded: count)
        return around
    }

    private func grow() {
        let larger = UnsafeMutablePointer<Part>.allocate(capacity: 2 * capacity)
        larger.moveInitialize(from: parts, count: count)
        parts.deallocate()
        (parts, capacity) = (larger, 2 * capacity)
    }

    // MARK: - Parts

    func bytes(_ start: UInt32, _ count: UInt32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[Int(start)..<Int(start) + Int(count)])
    }

    func name(at place: Int) -> JSONText {
        let part = parts[place]
        return JSONText(bytes: bytes(part.nameStart, part.nameCount), hasEscapes: part.nameHasEscapes)
    }

    /// The last member of a name; `nil` if an object has none. Cost: O(1), but O(members) for the first of a large object.
    func member(of place: Int, named name: JSONName) -> Int? {
        if parts[place].size > Self.smallCountMax {
            guard case .members(let index) = index(of: place) else { return nil }
            return index[ExactText(name.text)].map { Int($0) }
        }
        Steps.count(Int(parts[place].size))
        let end = Int(parts[place].end)
        var next = place + 1
        var found: Int?
        while next < end {
            if isName(at: next, name) { found = next }
            next = Int(parts[next].end)
        }
        return found
    }

    @inline(__always)
    private func isName(at place: Int, _ wanted: JSONName) -> Bool {
        if parts[place].nameHasEscapes { return isEscapedName(at: place, wanted) }
        guard parts[place].nameMark == wanted.mark else { return false }
        let name = bytes(parts[place].nameStart, parts[place].nameCount)
        return wanted.bytes.withUnsafeBytes { $0.isSame(name) }
    }

    private func isEscapedName(at place: Int, _ wanted: JSONName) -> Bool {
        let name = name(at: place)
        guard name.bytes.count > wanted.bytes.count else { return false }
        // Most names differ in front of the first escape.
        if let first = name.bytes.first, first != UInt8(ascii: "\\"), first != wanted.bytes.first { return false }
        return name.withUTF8 { name in wanted.bytes.withUnsafeBytes { $0.isSame(name) } }
    }

    /// The element of a number; `nil` if an array has fewer. Cost: as of `member(of:named:)`.
    func element(of place: Int, at number: Int) -> Int? {
        guard number >= 0, number < Int(parts[place].size) else { return nil }
        if parts[place].size > Self.smallCountMax {
            guard case .elements(let index) = index(of: place) else { return nil }
            return Int(index[number])
        }
        Steps.count(number)
        var next = place + 1
        for _ in 0..<number { next = Int(parts[next].end) }
        return next
    }

    /// The members of an object, each name once: where it stands first, with its last value.
    func members(of place: Int) -> [(name: String, place: Int)] {
        let all = children(of: place).map { (name: name(at: $0).string, place: $0) }
        Steps.count(all.count)
        guard all.count > Self.smallCountMax else {
            return all.indices.filter { index in
                !all[..<index].contains { ExactText.areSame($0.name, all[index].name) }
            }.map { (all[$0].name, member(of: place, named: JSONName(all[$0].name)) ?? all[$0].place) }
        }
        guard case .members(let index) = index(of: place) else { return [] }
        var seen: Set<ExactText> = []
        return all.compactMap { name, place in
            guard index.count < all.count else { return (name, place) }
            let name = ExactText(name)
            return seen.insert(name).inserted ? (name.string, index[name].map { Int($0) } ?? place) : nil
        }
    }

    /// The parts of the members or elements, in the order of the text.
    func children(of place: Int) -> [Int] {
        let end = Int(parts[place].end)
        var next = place + 1
        var children: [Int] = []
        children.reserveCapacity(Int(parts[place].size))
        while next < end {
            children.append(next)
            next = Int(parts[next].end)
        }
        return children
    }

    private func index(of place: Int) -> Index {
        if let index = indexes[place] { return index }
        Steps.count(Int(parts[place].size))
        let children = children(of: place)
        let index: Index
        if parts[place].kind == .object {
            var members: [ExactText: UInt32] = [:]
            members.reserveCapacity(children.count)
            for child in children { members[ExactText(name(at: child).string)] = UInt32(truncatingIfNeeded: child) }
            index = .members(members)
        } else {
            index = .elements(children.map { UInt32(truncatingIfNeeded: $0) })
        }
        indexes[place] = index
        return index
    }
}
