import JSON

/// The texts behind the handles of one state. Only grows: a handle stays valid in every later state, and in copies.
///
/// The texts lie one behind another, so an id costs its bytes and some 12 more.
package struct Names: Sendable {
    /// The texts as UTF-8, in the order of their handles, with nothing in between: 128 of them in each block, so that a
    /// new text moves few. All blocks but the last are as large as their texts.
    private var blocks: [[UInt8]] = []
    /// Where each text ends in its block.
    private var ends = Pages<UInt32>()
    /// The index of each text in `ends`. Bytes decide, so that ids that look alike stay apart.
    private var places = PlaceTable()
    private static let blockShift = 7

    /// Makes an empty table.
    init() {}

    /// The handle of an id given as text, interned if it is new.
    mutating func id(_ text: String) -> EntityID {
        var text = text
        return text.withUTF8 { id(utf8: UnsafeRawBufferPointer($0)) }
    }

    /// The handle of an id given as a part of a text, interned if it is new.
    mutating func id(_ text: Substring) -> EntityID {
        var text = text
        return text.withUTF8 { id(utf8: UnsafeRawBufferPointer($0)) }
    }

    /// The handle of an id given as text in JSON, interned if it is new.
    mutating func id(_ text: JSONText) -> EntityID {
        // Half a surrogate pair becomes U+FFFD here as in `JSONText.string`.
        text.withUTF8 { id(utf8: $0) }
    }

    /// The handle of an id given as text in JSON; `nil` for a text with half a surrogate pair, of which many would be one
    /// id.
    mutating func wholeID(_ text: JSONText) -> EntityID? {
        if text.hasEscapes, (try? text.checkDecodes()) == nil { return nil }
        return id(text)
    }

    /// The handle of an id given as a number.
    mutating func id(_ number: UInt64) -> EntityID {
        EntityID(number: number) ?? id(String(number))
    }

    /// The handle of an id given as well-formed UTF-8, interned if it is new. Makes no `String`.
    private mutating func id(utf8 text: UnsafeRawBufferPointer) -> EntityID {
        if let number = Self.plainNumber(text), let id = EntityID(number: number) { return id }
        let hash = places.hash(0, text)
        if let place = place(of: text, hash) { return EntityID(nameIndex: place) }
        let place = ends.count
        if places.isFull(for: place) {
            let known = self
            places.grow(for: place) { known.hash(ofPlace: $0) }
        }
        places.add(hash, place: place)
        append(text)
        return EntityID(nameIndex: place)
    }

    /// Adds a text behind all others. A payload has less than 16 MiB, so the end of each of 128 texts fits 32 bits.
    private mutating func append(_ text: UnsafeRawBufferPointer) {
        if ends.count & (1 << Self.blockShift - 1) == 0 {
            // A copy of the full block has no room left over.
            if let full = blocks.popLast() { blocks.append(full.withUnsafeBytes { Array($0) }) }
            blocks.append([])
        }
        blocks[blocks.count - 1].append(contentsOf: text)
        ends.append(UInt32(truncatingIfNeeded: blocks[blocks.count - 1].count))
    }

    private func hash(ofPlace place: Int) -> UInt64 { withText(at: place) { places.hash(0, $0) } }

    /// The handle of a known text or of a number; `nil` for any other text.
    func find(_ text: String) -> EntityID? {
        var text = text
        return text.withUTF8 { utf8 in
            let utf8 = UnsafeRawBufferPointer(utf8)
            if let number = Self.plainNumber(utf8), let id = EntityID(number: number) { return id }
            return place(of: utf8, places.hash(0, utf8)).map { EntityID(nameIndex: $0) }
        }
    }

    private func place(of text: UnsafeRawBufferPointer, _ hash: UInt64) -> Int? {
        places.find(hash) { place in withText(at: place) { $0.isSame(text) } }
    }

    /// Lends the text at an index, only during the call.
    @inline(__always)
    private func withText<Result>(
        at place: Int,
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        let start = place & (1 << Self.blockShift - 1) == 0 ? 0 : Int(ends[place - 1])
        return try blocks[place >> Self.blockShift].withUnsafeBytes {
            try body(UnsafeRawBufferPointer(rebasing: $0[start..<Int(ends[place])]))
        }
    }

    /// Whether handles mean the same in another table.
    func isSame(as other: Names) -> Bool {
        ends.count == other.ends.count && blocks == other.blocks
            && (0..<ends.count).allSatisfy { ends[$0] == other.ends[$0] }
    }

    /// The id as the remote wrote it; the empty text for `EntityID.none`.
    func text(_ id: EntityID) -> String {
        if let number = id.number { return String(number) }
        return id.nameIndex.map { withText(at: $0) { String(decoding: $0, as: UTF8.self) } } ?? ""
    }

    /// Lends the bytes of an id that is no number, only during the call; none for `EntityID.none`.
    @inline(__always)
    func withName<Result>(_ id: EntityID, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        guard let place = id.nameIndex else { return try body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        return try withText(at: place, body)
    }

    /// Whether one id sorts before another by UTF-8 bytes: the only order of ids.
    func precedes(_ left: EntityID, _ right: EntityID) -> Bool {
        if let left = left.number, let right = right.number { return Self.precedes(left, right) }
        if left == right { return false }
        guard let here = left.nameIndex, let there = right.nameIndex else {
            return ExactText.precedes(text(left), text(right))
        }
        return withText(at: here) { here in withText(at: there) { there in here.order(there) < 0 } }
    }

    /// Whether the decimal digits of one number sort before those of another, as texts: 10 comes before 9. Both are
    /// below 2^63.
    private static func precedes(_ left: UInt64, _ right: UInt64) -> Bool {
        let counts = (left.digitCount, right.digitCount)
        if counts.0 == counts.1 { return left < right }
        // With zeros behind the shorter number, the greater one sorts last; of equal ones, the longer one does.
        // The product has as many digits as the longer number, at most 19, so it fits.
        let shorter = (0..<abs(counts.0 - counts.1)).reduce(min(left, right)) { number, _ in number * 10 }
        return counts.0 < counts.1 ? shorter <= right : left < shorter
    }

    /// The number that a text writes in its only form: 1 to 19 digits, no sign, no leading zero. Other spellings are
    /// texts, so that each handle gives back the text that the remote wrote.
    private static func plainNumber(_ text: UnsafeRawBufferPointer) -> UInt64? {
        guard (1...19).contains(text.count), text[0] != 0x30 || text.count == 1 else { return nil }
        var number: UInt64 = 0
        for byte in text {
            guard (0x30...0x39).contains(byte) else { return nil }
            // Nineteen digits are below 2^64.
            number = number &* 10 &+ UInt64(byte &- 0x30)
        }
        return number
    }
}

extension Names: Codable {
    private enum CodingKeys: CodingKey { case bytes, ends }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let bytes = try container.decode([UInt8].self, forKey: .bytes)
        let ends = try container.decode([Int].self, forKey: .ends)
        let isAscending = zip([0] + ends, ends).allSatisfy { $0 <= $1 }
        guard isAscending, ends.last ?? 0 == bytes.count else {
            throw DecodingError.dataCorruptedError(forKey: .ends, in: container, debugDescription: "an id has no place")
        }
        bytes.withUnsafeBytes { bytes in
            for (start, end) in zip([0] + ends, ends) { append(UnsafeRawBufferPointer(rebasing: bytes[start..<end])) }
        }
        places = PlaceTable(hashes: ends.indices.map { hash(ofPlace: $0) })
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Array(blocks.joined()), forKey: .bytes)
        var (ends, start) = ([Int](), 0)
        for place in 0..<self.ends.count {
            start += withText(at: place) { $0.count }
            ends.append(start)
        }
        try container.encode(ends, forKey: .ends)
    }
}

extension CanonicalText {
    /// Writes an id's text with quotes.
    mutating func string(_ id: EntityID, _ names: Names) {
        if id.number != nil { string(names.text(id)) } else { names.withName(id) { string(utf8: $0) } }
    }
}
