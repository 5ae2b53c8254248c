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
