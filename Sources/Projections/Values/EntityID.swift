import JSON

/// A handle for an id that a remote gave to a thing: a channel, a message, a user, an item, a row.
///
/// A handle has eight bytes, so tables stay small and fast. A decimal number below 2^63 without leading zeros is its
/// own handle (snowflakes need no table). Any other text is interned in a `Names`; its handle has a meaning only with
/// that `Names`. So two handles of one state are equal exactly if their texts are. Handles are never compared for order
/// (see `Names.precedes`), and never leave a state.
package struct EntityID: Codable, Hashable, Sendable, BitwiseCopyable {
    /// Top bit clear: the number itself. Top bit set: the index in the table of names.
    let rawValue: UInt64

    private static let nameBit: UInt64 = 1 << 63

    /// The handle of the text at an index of a `Names`.
    init(nameIndex: Int) {
        rawValue = Self.nameBit | UInt64(nameIndex)
    }

    /// The handle of a number; `nil` from 2^63 on, because larger numbers are interned as text.
    init?(number: UInt64) {
        guard number < Self.nameBit else { return nil }
        rawValue = number
    }

    /// No id: the second half of a key that has one part only.
    static let none = EntityID(rawValue: .max)

    private init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// A handle read from a saved state, valid with the `Names` saved beside it. Not checked: `Names.text` traps for an
    /// index that it lacks.
    init(saved rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The id as a number; `nil` for an interned text and for `none`.
    var number: UInt64? { rawValue & Self.nameBit == 0 ? rawValue : nil }

    /// The index in the table of names; `nil` for a number and for `none`.
    var nameIndex: Int? {
        rawValue & Self.nameBit == 0 || self == .none ? nil : Int(rawValue & ~Self.nameBit)
    }
}

/// The texts behind the handles of one state. Only grows: a handle stays valid in every later state, and in copies.
package struct Names: Codable, Sendable {
    private var texts: [String] = []
    /// The index of each text in `texts`. Bytes decide, so that ids that look alike stay apart.
    private var indexes: [ExactText: Int] = [:]

    /// Makes an empty table.
    init() {}

    /// The handle of an id given as text, interned if it is new.
    mutating func id(_ text: String) -> EntityID {
        if let known = find(text) { return known }
        indexes[ExactText(text)] = texts.count
        texts.append(text)
        return EntityID(nameIndex: texts.count - 1)
    }

    /// The handle of an id given as text in JSON, interned if it is new. Makes no `String` of a number.
    mutating func id(_ text: JSONText) -> EntityID {
        var scanner = JSONScanner(text.bytes)
        // The scanner would pass white space before a number, which belongs to the text.
        if (0x30...0x39).contains(text.bytes.first ?? 0), let number = scanner.id(), scanner.isAtEnd,
            let id = EntityID(number: number)
        {
            return id
        }
        return id(text.string)
    }

    /// Whether handles mean the same in another table.
    func isSame(as other: Names) -> Bool {
        texts.count == other.texts.count && zip(texts, other.texts).allSatisfy { ExactText($0) == ExactText($1) }
    }

    /// The handle of an id given as a number.
    mutating func id(_ number: UInt64) -> EntityID {
        EntityID(number: number) ?? id(String(number))
    }

    /// The handle of a known text or of a number; `nil` for any other text.
    func find(_ text: String) -> EntityID? {
        if let number = Self.plainNumber(text), let id = EntityID(number: number) { return id }
        return indexes[ExactText(text)].map { EntityID(nameIndex: $0) }
    }

    /// The id as the remote wrote it; the empty text for `EntityID.none`.
    func text(_ id: EntityID) -> String {
        if let number = id.number { return String(number) }
        return id.nameIndex.map { texts[$0] } ?? ""
    }

    /// Whether one id sorts before another by UTF-8 bytes: the only order of ids.
    func precedes(_ left: EntityID, _ right: EntityID) -> Bool {
        if let left = left.number, let right = right.number { return Self.precedes(left, right) }
        return left != right && ExactText.precedes(text(left), text(right))
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
    private static func plainNumber(_ text: String) -> UInt64? {
        let bytes = text.utf8
        guard (1...19).contains(bytes.count), bytes.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        if bytes.first == 0x30 && bytes.count > 1 { return nil }
        return UInt64(text)
    }
}
